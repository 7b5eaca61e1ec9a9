import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DECISIONS_OUTPUT, readDecisions } from '../../../lib/router/assess/decisions.ts';
import { systemPrompt } from '../../../lib/router/assess/prompt.ts';
import { NEW_POLICY } from '../../../lib/router/policy/policy.ts';
import { framed } from '../../../lib/router/untrusted/frame.ts';
import { type RehearsalModel, startRehearsalModel } from '../../../local/rehearsal/rehearsal.ts';
import { ask } from './small-engine.ts';

let model: RehearsalModel;
beforeAll(async () => {
  model = await startRehearsalModel({ latencyMs: 0 });
});
afterAll(() => model.close());

interface Message {
  readonly content: string;
  readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: string } }[];
}

const say = async (body: object): Promise<Message> => {
  const { status, body: answer } = await ask(model.url, { model: 'm', ...body });
  expect(status).toBe(200);
  const [first] = (answer as { readonly choices: readonly { readonly message: Message }[] }).choices;
  if (first === undefined) throw new Error('There is no reply.');
  return first.message;
};

const rules = [
  { id: 'broken-build', text: 'A broken build is looked into.' },
  { id: 'typos', text: 'Typos are mended.' },
];

const decide = async (...asked: readonly { readonly id: string; readonly kind: string; readonly text: string }[]) => {
  const page = asked.map(
    ({ id, kind, text }) => `DECIDE ${id} · message by user x\nIt is ${kind}: why\n${framed('ab12', text)}\n`,
  );
  const { content } = await say({
    messages: [
      { role: 'system', content: systemPrompt({ version: 1, policy: { ...NEW_POLICY, rules } }) },
      { role: 'user', content: ['Discussion thr_1. Its title:', framed('ab12', 'title'), ...page].join('\n') },
    ],
    tools: [{ type: 'function', function: { name: 'read', parameters: {} } }],
    response_format: { type: 'json_schema', json_schema: DECISIONS_OUTPUT },
  });
  const read = readDecisions(content, false);
  if (!read.ok) throw new Error(read.problem);
  return read.proposals;
};

describe('as Router it', () => {
  it('accepts what is explicit, and by a rule that shares a word what is inferred', async () => {
    expect(
      await decide(
        { id: 'trg_1', kind: 'explicit', text: 'Which version?\nPlease.' },
        { id: 'trg_2', kind: 'inferred', text: 'BROKEN again' },
        { id: 'trg_3', kind: 'inferred', text: 'nice weather' },
      ),
    ).toMatchObject([
      { triggerId: 'trg_1', decision: 'accept', title: 'Which version?' },
      { triggerId: 'trg_2', decision: 'accept', ruleId: 'broken-build' },
      { triggerId: 'trg_3', decision: 'ignore' },
    ]);
  });
});

describe('as Worker it', () => {
  const tools = ['think', 'finish', 'report', 'reply', 'read'].map((name) => ({
    type: 'function',
    function: { name },
  }));
  const turn = async (...said: readonly string[]) => {
    const messages = said.map((content) => ({ role: 'user', content }));
    const { tool_calls: calls = [] } = await say({ messages: [{ role: 'system', content: 'x' }, ...messages], tools });
    return calls.map(({ function: { name, arguments: args } }) => [name, JSON.parse(args) as unknown]);
  };

  it('answers what it was asked and wants it looked at', async () => {
    expect(await turn('Begin to work on your goals.', 'This is what you are asked (ada):\nWhich version?')).toEqual([
      ['reply', { content: expect.stringContaining('You asked: Which version?') }],
      ['report', { state: 'ready', text: expect.stringMatching(/^\(rehearsal\)/) }],
    ]);
  });

  it('has nothing left to do once that is approved', async () => {
    expect(await turn('x:\nWhich version?', 'Reviewed and approved: finish it.')).toMatchObject([
      ['report', { state: 'dropped' }],
    ]);
  });
});
