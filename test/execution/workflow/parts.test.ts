import { describe, expect, it } from 'vitest';
import type { FeedRow, ReplyRow } from '../../../lib/execution/feed.ts';
import type { Pinned } from '../../../lib/execution/rows.ts';
import { lastResult, replyBefore } from '../../../lib/execution/step/workflow/frame.ts';
import { pinWorkflow } from '../../../lib/execution/step/workflow/pin.ts';
import { systemWords } from '../../../lib/execution/step/workflow/words.ts';
import { nameItem, versionItem } from '../../../lib/workflow/rows.ts';
import { checkDefinition } from '../../../lib/workflow/validate.ts';
import { makeMemoryTable } from '../../support/memory-table.ts';

const ORG = 'org_00000000000000000000000000';

const purchase = {
  buyer: 'o', model: 'm', tokensIn: 1, tokensOut: 1, tokensCached: 0, cost: 0, finish: 'stop', attempt: 1, sentFrom: 0,
  promptHash: 'h', claimedAt: 1, askedAt: 1, inputs: 0, waking: 0,
}; // biome-ignore format: figures that do not matter
const reply = (seq: number, content: string, more: Partial<ReplyRow> = {}): ReplyRow => ({
  ...purchase, v: 1, kind: 'reply', seq, n: 100, at: 1, content, calls: [], ...more,
}); // biome-ignore format: as above
const outcome = (seq: number, n: number, content: string): FeedRow => ({
  v: 1, kind: 'tool', seq, n, at: 1, callId: 'c', name: 'look', outcome: 'ok', content, startedAt: 1,
}); // biome-ignore format: as above
const windowOf = (rows: readonly FeedRow[], summary?: string) => ({
  window: {
    pinned: {} as Pinned,
    rows,
    summary: summary === undefined ? undefined : ({ content: summary } as never),
    inputs: [],
  },
});

describe('the last result', () => {
  it('is what the calls of the newest reply came to, in their order', () => {
    const rows = [reply(1, 'old'), reply(2, 'I look'), outcome(2, 102, 'second'), outcome(2, 101, 'first')];
    expect(lastResult(windowOf(rows))).toBe('first\nsecond');
  });

  it('is never what the model answered to the workflow itself', () => {
    const rows = [reply(1, 'the result'), reply(2, '{"label":"YES"}', { aside: true })];
    expect(lastResult(windowOf(rows))).toBe('the result');
    expect(replyBefore(windowOf(rows))?.seq).toBe(2);
  });

  it('is the summary where nothing else is left', () => {
    expect(lastResult(windowOf([], 'what was done'))).toBe('what was done');
    expect(lastResult(windowOf([]))).toBe('');
  });
});

describe('the system prompt of a step', () => {
  const values = {
    goals: ['g'], instructions: ['i'], constraints: [], task: 'the task with {goals}', pending: [], completed: [], last: 'l',
  }; // biome-ignore format: short
  const words = (text: string): string => systemWords(text, values, {} as Pinned, 0);

  it('adds what the words leave out', () => {
    expect(words('Do it.')).toContain('Goals:\n1. g');
    expect(words('Do it.')).toContain('Task in hand:\nthe task with {goals}');
    expect(words('Do it.')).not.toContain('Constraints');
  });

  it('says nothing twice, and fills in nothing that a value holds', () => {
    const text = words('Goals are {goals}, the task is {task}.');
    expect(text).toContain('the task is the task with {goals}.');
    expect(text).not.toContain('Goals:\n');
    expect(text).not.toContain('Task in hand');
  });
});

describe('pinning', () => {
  const table = makeMemoryTable(() => 0);

  it('keeps nothing for a plain run', async () => {
    expect(await pinWorkflow({ table }, ORG, 'goal', undefined)).toBeUndefined();
  });

  it('keeps the definition and where it begins', async () => {
    expect(await pinWorkflow({ table }, ORG, 'fixed-task', undefined)).toMatchObject({
      definition: { name: 'fixed-task' },
      position: 'fixed-task/plan.plan',
    });
  });

  it('refuses a workflow that is gone, and one of another organisation', async () => {
    const definition = checkDefinition({ name: 'mine', start: 'end', steps: { end: { kind: 'END' } } });
    const id = 'wfl_00000000000000000000000000';
    const at = '2026-01-01T00:00:00.000Z';
    await table.put(nameItem(ORG, 'mine', { id, version: 1 }));
    await table.put(versionItem(ORG, { id, version: 1, definition, createdBy: 'key_1', createdAt: at }));
    expect(await pinWorkflow({ table }, ORG, 'mine', undefined)).toMatchObject({ position: 'mine/end' });
    const gone = { status: 409, code: 'workflow_gone' };
    await expect(pinWorkflow({ table }, ORG, 'gone', undefined)).rejects.toMatchObject(gone);
    const other = 'org_00000000000000000000000001';
    await expect(pinWorkflow({ table }, other, 'mine', undefined)).rejects.toMatchObject(gone);
  });

  it('refuses an agent that may not use what a step needs', async () => {
    await expect(pinWorkflow({ table }, ORG, 'recruitment', ['list_files'])).rejects.toMatchObject({
      status: 409,
      code: 'workflow_needs_tools',
      message: expect.stringContaining('read_file'),
    });
  });
});
