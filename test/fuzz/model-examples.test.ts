/** Answers of models that once broke a run, each with what must come of it. */
import { describe, expect, it } from 'vitest';
import type { ChatMessage, ModelClient, ModelOutcome } from '../../lib/model/model.ts';
import { toReply } from '../../lib/openai/reply.ts';
import { AGENT, makeTenantEngine, ORG } from './support/engine.ts';

const completion = (message: object, more: object = {}) => ({ choices: [{ message, ...more }] });
const call = (name: string, args: unknown, id: string = name) => ({
  id,
  function: { name, arguments: JSON.stringify(args) },
});
const FINISH = completion({ tool_calls: [call('finish', { result: 'done' })] });

/** Runs to rest; answers the execution, how often the model was asked, and the last prompt. */
const run = async (bodies: readonly object[], config: { readonly [key: string]: unknown } = {}) => {
  const engine = await makeTenantEngine();
  const prompts: (readonly ChatMessage[])[] = [];
  const models: ModelClient = {
    async complete(request): Promise<ModelOutcome> {
      prompts.push(request.messages);
      const reply = toReply(bodies[prompts.length - 1] ?? FINISH, request);
      if (reply === undefined) throw new Error('No completion.');
      return reply;
    },
  };
  const executionId = await engine.start(ORG, AGENT, config);
  const errors = await engine.drain(models);
  return { engine, errors, prompts, execution: await engine.execution(ORG, executionId) };
};

describe('a reply that is larger than a row', () => {
  it('with a finish reason of half a megabyte is stored and used', async () => {
    const { errors, execution } = await run([
      completion({ content: 'the result' }, { finish_reason: 'f'.repeat(500_000) }),
    ]);
    expect(errors).toEqual([]);
    expect([execution.status, execution.result, execution.calls]).toEqual(['COMPLETED', 'the result', 1]);
  });

  it('with five thousand calls is stored once; the model is told what was not carried out', async () => {
    const calls = Array.from({ length: 5_000 }, (_, n) =>
      call('think', { thought: `thought ${n} ${'t'.repeat(60)}` }, `c${n}`),
    );
    const { errors, prompts, execution } = await run([completion({ tool_calls: calls })], { contextTokens: 2_000_000 });
    expect(errors).toEqual([]);
    expect([execution.status, prompts.length]).toEqual(['COMPLETED', 2]);
    const answers = prompts[1]?.filter((message) => message.role === 'tool') ?? [];
    expect(answers).toHaveLength(256);
    expect(answers[64]?.content).toBe('Not carried out: a reply may hold at most 64 tool calls.');
  });

  it('with many long arguments keeps them whole for the tools and cut for the conversation', async () => {
    const content = '漢'.repeat(7_000);
    const calls = Array.from({ length: 60 }, (_, n) => call('write_file', { path: `f${n}.txt`, content }, `c${n}`));
    const { engine, errors, execution, prompts } = await run([completion({ tool_calls: calls })]);
    expect(errors).toEqual([]);
    expect([execution.status, execution.calls]).toEqual(['COMPLETED', 2]);
    const file = await engine.filesOf(ORG, execution.executionId).read('f59.txt');
    expect(new TextDecoder().decode(file)).toBe(content);
    const shown = prompts.at(-1)?.find((message) => message.role === 'assistant');
    expect(JSON.stringify(shown).length).toBeLessThan(200_000);
  });

  it('with a name or an id of 100,000 characters is answered like any other', async () => {
    const long = 'x'.repeat(100_000);
    const { errors, execution, prompts } = await run([
      completion({ tool_calls: [call(long, {}, long), call('think', { thought: 't' }, long)] }),
    ]);
    expect([errors, execution.status]).toEqual([[], 'COMPLETED']);
    const answers = prompts[1]?.filter((message) => message.role === 'tool') ?? [];
    expect(answers[0]?.content).toMatch(/^There is no tool "x{64}"/);
    expect(answers).toHaveLength(2);
  });

  it('as a summary is cut, not bought again', async () => {
    const long = completion({ content: 's'.repeat(900_000) });
    const busy = (n: number) =>
      completion({ tool_calls: [call('think', { thought: `${n} ${'t'.repeat(2_000)}` }, `c${n}`)] });
    const { errors, execution, prompts } = await run([busy(1), busy(2), long], { contextTokens: 500 });
    expect(errors).toEqual([]);
    expect(execution.status).toBe('COMPLETED');
    expect(execution.summarySeq).toBeDefined();
    expect(prompts.length).toBe(execution.seq - 1);
  });
});

describe('a call that needs a person', () => {
  const content = '漢'.repeat(200_000);
  const large = completion({ tool_calls: [call('write_file', { path: 'a.txt', content })] });

  it('and is too long to be shown to one is given back to the model', async () => {
    const { errors, execution, prompts } = await run([large], {
      permissionType: 'RESTRICTED',
      permissionTools: ['write_file'],
    });
    expect([errors, execution.status]).toEqual([[], 'COMPLETED']);
    expect(prompts[1]?.at(-1)?.content).toMatch(/needs a person's leave.*Split it/);
  });

  it('runs as it is where nobody has to be asked', async () => {
    const { engine, execution } = await run([large]);
    expect(execution.status).toBe('COMPLETED');
    expect(await engine.filesOf(ORG, execution.executionId).read('a.txt')).toHaveLength(600_000);
  });
});

it('a token count that no call can have is estimated instead', async () => {
  const usage = { prompt_tokens: 1e300, completion_tokens: 2 ** 60 };
  const { errors, execution } = await run([{ ...completion({ content: 'the result' }), usage }]);
  expect([errors, execution.status]).toEqual([[], 'COMPLETED']);
  expect(execution.tokensIn).toBeGreaterThan(0);
  expect(execution.tokensIn).toBeLessThan(10_000);
});

it('ids that the table would make equal are told apart', async () => {
  const ids = ['\ud800', '\ud801', 'ü', ''];
  const { errors, execution, prompts } = await run([
    completion({ tool_calls: ids.map((id) => call('think', { thought: 't' }, id)) }),
  ]);
  expect([errors, execution.status]).toEqual([[], 'COMPLETED']);
  const reply = prompts[1]?.find((message) => message.role === 'assistant');
  expect(new Set(reply?.role === 'assistant' ? reply.toolCalls?.map(({ id }) => id) : []).size).toBe(4);
});
