import { describe, expect, test } from 'vitest';
import { attentionFloor } from '../../lib/attention/floor.ts';
import type { Execution } from '../../lib/execution/execution.ts';
import { STATUSES, type Status } from '../../lib/execution/status.ts';
import type { AskChange } from '../../lib/execution/step/deps.ts';
import type { Write } from '../../lib/kernel/table.ts';
import { executionIdOf, NOW, ORG } from '../execution/support.ts';
import { executionWith } from './support.ts';

const PATH = `/v1/executions/${executionIdOf(0)}`;
const at = NOW + 5_000;
const change = (execution: Execution, from: Status, to: Status, reason?: string) => ({
  execution,
  from,
  to,
  reason,
  message: 'Because.',
  at,
});
const putOf = (writes: readonly Write[]) => writes.flatMap((write) => ('put' in write ? [write.put] : []));
const deletedOf = (writes: readonly Write[]) => writes.flatMap((write) => ('delete' in write ? [write.delete] : []));

describe('a run that stops', () => {
  test.each([
    ['ERROR_PAUSED', 'error'],
    ['ITERATION_LIMIT_EXCEEDED', 'iteration_limit'],
    ['BUDGET_EXCEEDED', 'budget'],
  ] as const)('%s opens an item, and what leaves that status closes the same one', async (status, kind) => {
    const running = await executionWith({ status: 'RUNNING' });
    const [item, ...more] = putOf(attentionFloor.writes(change(running, 'RUNNING', status, 'why')));
    expect(more).toEqual([]);
    expect(item).toMatchObject({
      kind,
      subjectType: 'execution',
      subjectId: executionIdOf(0),
      url: PATH,
      since: at,
      question: 'run: Because.',
    });
    const stopped = await executionWith({ status, since: at });
    for (const to of ['RUNNING', 'TERMINATED'] as const) {
      const closing = attentionFloor.writes({ ...change(stopped, status, to), at: at + 1 });
      expect(closing).toHaveLength(1);
      expect(deletedOf(closing)).toEqual([{ pk: item?.pk, sk: item?.sk }]);
    }
  });

  test('for the budget of its whole organisation has no item of its own', async () => {
    const running = await executionWith({});
    expect(attentionFloor.writes(change(running, 'RUNNING', 'BUDGET_EXCEEDED', 'organisation_daily_budget'))).toEqual(
      [],
    );
  });

  test('is the only kind of move that writes anything', async () => {
    const execution = await executionWith({});
    const quiet = STATUSES.filter((status) => !/EXCEEDED|ERROR/.test(status));
    for (const from of quiet) {
      for (const to of quiet) expect(attentionFloor.writes(change(execution, from, to))).toEqual([]);
    }
  });
});

describe('the actions of a stop', () => {
  const actions = async (attributes: Parameters<typeof executionWith>[0], to: Status, reason: string) => {
    const execution = await executionWith(attributes);
    return putOf(attentionFloor.writes(change(execution, 'RUNNING', to, reason)))[0]?.actions;
  };
  const raise = (body: { readonly [limit: string]: number }) => [
    expect.objectContaining({ method: 'PATCH', path: PATH, body }),
    expect.objectContaining({ method: 'POST', path: `${PATH}/resume` }),
    expect.objectContaining({ method: 'POST', path: `${PATH}/terminate` }),
  ];

  test.each([
    ['ITERATION_LIMIT_EXCEEDED', 'max_iterations', { maxIterations: 10, calls: 10 }, { maxIterations: 20 }],
    ['BUDGET_EXCEEDED', 'max_tokens', { maxTokens: 100, tokensIn: 400, tokensOut: 50 }, { maxTokens: 550 }],
    ['BUDGET_EXCEEDED', 'max_cost', { maxCost: 2_000_000, cost: 1_990_000, worst: 50_000 }, { maxCostUsd: 4.04 }],
    ['BUDGET_EXCEEDED', 'max_cost', { maxCost: 0, worst: 1_000 }, { maxCostUsd: 0.02 }],
    ['BUDGET_EXCEEDED', 'max_seconds', { maxSeconds: 60, runningMs: 61_000, runningSince: NOW }, { maxSeconds: 126 }],
  ] as const)('%s %s: the limit goes above what is used', async (to, reason, attributes, body) => {
    expect(await actions(attributes, to, reason)).toEqual(raise(body));
  });

  test('offer no limit above the highest there is, nor one that is pinned', async () => {
    const end = [expect.objectContaining({ path: `${PATH}/terminate` })];
    expect(
      await actions({ maxIterations: 900_000, calls: 900_000 }, 'ITERATION_LIMIT_EXCEEDED', 'max_iterations'),
    ).toEqual(end);
    expect(await actions({}, 'ITERATION_LIMIT_EXCEEDED', 'max_steps')).toEqual(end);
  });

  test('of an error are to resume or to end it', async () => {
    expect(await actions({}, 'ERROR_PAUSED', 'step_failed')).toEqual(raise({ any: 1 }).slice(1));
  });
});

describe('what people are asked', () => {
  const ask = (kind: 'permission' | 'question', more: Partial<AskChange['ask']> = {}): AskChange => ({
    at,
    ask: {
      askId: 'ask_1',
      kind,
      orgId: ORG,
      executionId: executionIdOf(0),
      seq: 1,
      n: 101,
      state: 'pending',
      tool: 'http_request',
      arguments: '{"url":"https://example.org"}',
      argumentsHash: 'f'.repeat(64),
      why: 'To look.',
      at,
      ...more,
    },
  });
  const asked = (given: AskChange) => attentionFloor.asks?.(given) ?? [];

  test('a permission shows the call, and its actions are bound to it', () => {
    const [item] = putOf(asked(ask('permission')));
    expect(item).toMatchObject({
      kind: 'permission',
      subjectType: 'permission',
      subjectId: 'ask_1',
      executionId: executionIdOf(0),
      url: '/v1/permissions/ask_1',
      question: 'May it call http_request with {"url":"https://example.org"}? Why: To look.',
      actions: ['approve', 'reject'].map((decision) => ({
        label: expect.any(String),
        method: 'POST',
        path: '/v1/permissions/ask_1/decision',
        body: { decision, argumentsHash: 'f'.repeat(64) },
      })),
    });
  });

  test('what a workflow asks is shown as it is asked', () => {
    const given = { tool: 'workflow_step', arguments: '{"step":"ask","question":"May the work begin?"}' };
    const [item] = putOf(asked(ask('permission', { ...given, why: 'May the work begin?' })));
    expect(item).toMatchObject({ kind: 'permission', subjectId: 'ask_1', question: 'May the work begin?' });
  });

  test('a question is answered by an input', () => {
    const [item] = putOf(asked(ask('question')));
    expect(item).toMatchObject({
      kind: 'question',
      subjectType: 'execution',
      subjectId: executionIdOf(0),
      question: 'To look.',
    });
    expect(item?.actions).toMatchObject([
      { method: 'POST', path: `${PATH}/input`, body: { content: expect.any(String) } },
      { method: 'POST', path: `${PATH}/terminate` },
    ]);
  });

  test.each(['approved', 'rejected', 'expired', 'answered', 'cancelled'] as const)('%s closes the item', (state) => {
    for (const kind of ['permission', 'question'] as const) {
      const [item] = putOf(asked(ask(kind)));
      expect(asked(ask(kind, { state }))).toEqual([{ delete: { pk: item?.pk, sk: item?.sk } }]);
    }
  });

  test('long arguments are shown in part', () => {
    const [item] = putOf(asked(ask('permission', { arguments: 'x'.repeat(100_000), why: 'y'.repeat(2_000) })));
    expect(JSON.stringify(item).length).toBeLessThan(3_000);
  });
});
