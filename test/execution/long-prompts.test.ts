/** Prompts far beyond `contextTokens`: what they can cost is judged and reserved before they are sent. */
import { beforeEach, describe, expect, test } from 'vitest';
import { changeLimits } from '../../lib/execution/change-limits.ts';
import { resumeExecution } from '../../lib/execution/control.ts';
import { A, readExecution } from '../../lib/execution/execution.ts';
import { readFeedRow } from '../../lib/execution/feed.ts';
import { giveInput } from '../../lib/execution/input.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { add, type Change, type Table } from '../../lib/kernel/table.ts';
import type { ModelClient, ModelOutcome, ModelRequest } from '../../lib/model/model.ts';
import { AGENT, type Engine, makeTenantEngine, ORG } from '../fuzz/support/engine.ts';

type Calls = readonly (readonly [tool: string, args: { readonly [key: string]: unknown }])[];

const SMALL = { contextTokens: 1_000, maxReplyTokens: 100, tools: ['think', 'wait', 'run_agent'], stepDelaySeconds: 0 };
/** 80,000 bytes. */
const INSTRUCTIONS = { instructions: Array.from({ length: 5 }, () => 'x'.repeat(16_000)) };
/** What a claim reserves for them before it knows the prompt: window, the run's own words, the reply. */
const CLAIMED = 1_000 + 80_000 + 100;

/** A tokenizer that makes a token of each byte, at a micro-dollar each; replies are as long as they may be. */
const billed = ({ messages, tools, responseSchema, maxReplyTokens }: ModelRequest) => {
  const said = messages.flatMap((message) => [
    message.content,
    ...(message.role === 'assistant' ? (message.toolCalls ?? []) : []).flatMap((call) => [call.name, call.arguments]),
  ]);
  const forms = [...tools, ...(responseSchema === undefined ? [] : [responseSchema])].map((form) =>
    JSON.stringify(form),
  );
  return { input: Buffer.byteLength([...said, ...forms].join('')), output: maxReplyTokens, cached: 0 };
};
const costOf = (request: ModelRequest): number => billed(request).input + billed(request).output;

const replying = (request: ModelRequest, calls: Calls, content = ''): ModelOutcome => ({
  kind: 'reply',
  content,
  toolCalls: calls.map(([name, args], index) => ({ id: `call_${index}`, name, arguments: JSON.stringify(args) })),
  finishReason: 'tool_calls',
  refused: false,
  usage: billed(request),
});

/** Answers by what its goal says; without a play it thinks for ever. */
const dear = (plays: (request: ModelRequest, n: number) => Calls | undefined = () => undefined) => {
  const requests: ModelRequest[] = [];
  const client: ModelClient = {
    complete: async (request) => {
      requests.push(request);
      const calls = plays(request, requests.length) ?? [['think', { thought: `thought ${requests.length}` }] as const];
      return replying(request, calls);
    },
  };
  const spent = () => requests.reduce((sum, request) => sum + costOf(request), 0);
  return { client, requests, spent };
};

let engine: Engine;
beforeEach(async () => {
  engine = await makeTenantEngine();
});

const start = (config: { readonly [key: string]: unknown }) => engine.start(ORG, AGENT, { ...SMALL, ...config });
const row = (id: string) => engine.execution(ORG, id);
const at = (executionId: string) => ({ orgId: ORG, executionId });

/** The writes on the row of a run that are neither a claim nor a commit. */
const reserves = (changes: readonly Change[]): boolean =>
  changes.some(({ path }) => path === A.worst) && !changes.some(({ path }) => path === A.seq || path === A.leaseOwner);

/** A table before whose first write of a reservation something else happens. */
const interrupted = (
  before: (write: () => Promise<unknown>) => Promise<unknown>,
): Table & { readonly times: number[] } => {
  const times: number[] = [];
  const update: Table['update'] = async (key, changes, guard) => {
    const write = () => engine.table.update(key, changes, guard);
    if (reserves(changes) && times.push(1) === 1) await before(write);
    return write();
  };
  return { ...engine.table, update, times };
};

describe('80 KB of instructions, and a window of 1,000 tokens', () => {
  test('are not sent where their bytes do not fit into maxCostUsd, and the sentence names the figures', async () => {
    const { client, requests } = dear();
    const id = await start({ ...INSTRUCTIONS, maxCostUsd: 0.0815 });
    expect(await engine.drain(client)).toEqual([]);
    const stopped = await row(id);
    expect(requests).toEqual([]);
    expect(stopped).toMatchObject({ status: 'BUDGET_EXCEEDED', reason: 'max_cost', cost: 0, reserved: 0 });
    expect(stopped.worst).toBeGreaterThan(81_500);
    expect(stopped.errorMessage).toBe(
      `$0.0000 are spent and the next call can cost up to $${(stopped.worst / 1e6).toFixed(4)}, which is more than maxCostUsd $0.0815 allows. Raise it and resume.`,
    );
    // A resume finds room for the real prompt, or is refused.
    await expect(resumeExecution(engine.executionDeps(), at(id))).rejects.toMatchObject({ code: 'limit_not_raised' });
    await changeLimits(engine.executionDeps(), at(id), { maxCost: stopped.worst });
    await resumeExecution(engine.executionDeps(), at(id));
    expect(await engine.drain(client)).toEqual([]);
    expect(requests).toHaveLength(1);
    expect(await row(id)).toMatchObject({ status: 'BUDGET_EXCEEDED', cost: costOf(requests[0] as ModelRequest) });
  });

  test.each([0.1, 0.2, 0.3])('cost what was bought and no more than $%d', async (maxCostUsd) => {
    const { client, requests, spent } = dear();
    const id = await start({ ...INSTRUCTIONS, maxCostUsd });
    expect(await engine.drain(client)).toEqual([]);
    // Some 83,500 a call.
    expect(requests).toHaveLength(Math.floor(maxCostUsd / 0.085));
    expect(await row(id)).toMatchObject({ status: 'BUDGET_EXCEEDED', cost: spent(), reserved: 0 });
    expect(spent()).toBeLessThanOrEqual(maxCostUsd * 1e6);
  });

  test('pay one write more, once: later claims reserve what the prompt has grown to', async () => {
    const { client, requests } = dear();
    await start({ ...INSTRUCTIONS, maxCostUsd: 5, maxIterations: 6 });
    const table = interrupted(async () => undefined);
    while (engine.queued() > 0) expect(await engine.deliver(client, { table })).toBeUndefined();
    expect(requests).toHaveLength(6);
    expect(table.times).toHaveLength(1);
  });

  test('a claim whose reply was lost is booked at what was reserved for the real prompt, and is told of', async () => {
    const { client, requests, spent } = dear();
    const id = await start({ ...INSTRUCTIONS, maxCostUsd: 0.2 });
    const lost: Table['put'] = async () => Promise.reject(new Error('The process died.'));
    await engine.deliver(client, { table: { ...engine.table, put: lost } });
    const { worst, reserved } = await row(id);
    expect(worst).toBeGreaterThan(CLAIMED);
    expect(reserved).toBe(worst);
    expect(reserved).toBeGreaterThanOrEqual(spent());
    await engine.deliver(client);
    expect(requests).toHaveLength(2);
    const { cost } = await row(id);
    expect(cost).toBe(worst + costOf(requests[1] as ModelRequest));
    expect(cost).toBeGreaterThanOrEqual(spent());
    expect(cost).toBeLessThanOrEqual(200_000);
  });

  test('money of lost claims is named where it is what stops the run', async () => {
    const { client } = dear();
    const id = await start({ ...INSTRUCTIONS, maxCostUsd: 0.1 });
    const lost: Table['put'] = async () => Promise.reject(new Error('The process died.'));
    await engine.deliver(client, { table: { ...engine.table, put: lost } });
    await engine.deliver(client);
    const { status, errorMessage, worst } = await row(id);
    expect(status).toBe('BUDGET_EXCEEDED');
    const usd = `$${(worst / 1e6).toFixed(4)}`;
    expect(errorMessage).toContain(
      `$0.0000 are spent, ${usd} are set aside for earlier tries of this step, which may have been billed and the next call can cost up to ${usd}`,
    );
  });

  test('a time-out that may have been billed is booked at it', async () => {
    const id = await start({ ...INSTRUCTIONS, maxCostUsd: 5 });
    const slow: ModelOutcome = { kind: 'retry', code: 'model_timeout', message: 'No answer.', billed: true };
    await engine.deliver({ complete: async () => slow });
    const { cost, reserved, worst } = await row(id);
    expect([cost, reserved]).toEqual([worst, 0]);
    expect(worst).toBeGreaterThan(CLAIMED);
  });

  test('who loses the answer of its reservation finds it made, once', async () => {
    const { client, requests } = dear();
    const id = await start({ ...INSTRUCTIONS, maxCostUsd: 5, maxIterations: 1 });
    await engine.deliver(client, { table: interrupted((write) => write()) });
    expect(requests).toHaveLength(1);
    expect(await row(id)).toMatchObject({ cost: costOf(requests[0] as ModelRequest), reserved: 0 });
  });

  test('a limit that is lowered before the reservation stops the call', async () => {
    const { client, requests } = dear();
    const id = await start({ ...INSTRUCTIONS, maxCostUsd: 5 });
    const lower = () => changeLimits(engine.executionDeps(), at(id), { maxCost: CLAIMED });
    await engine.deliver(client, { table: interrupted(lower) });
    expect(requests).toEqual([]);
    expect(await row(id)).toMatchObject({ status: 'BUDGET_EXCEEDED', maxCost: CLAIMED, cost: 0, reserved: 0 });
  });

  test('a step that was taken over reserves nothing and buys nothing', async () => {
    const { client, requests } = dear();
    const id = await start({ ...INSTRUCTIONS, maxCostUsd: 5 });
    const key = keys.execution(ORG, id);
    const taken = interrupted(() => engine.table.update(key, [{ do: 'set', path: A.leaseOwner, value: 'another' }]));
    expect(await engine.deliver(client, { table: taken })).toMatchObject({ name: 'NotYet' });
    expect(requests).toEqual([]);
    expect(await row(id)).toMatchObject({ reserved: CLAIMED, worst: CLAIMED });
  });

  test('six runs at once spend no more than the day has left', async () => {
    const { client, requests, spent } = dear();
    const dailyBudget = 300_000;
    await engine.table.update(keys.organisation(ORG), [{ do: 'set', path: 'dailyBudget', value: dailyBudget }]);
    const ids: string[] = [];
    for (let n = 0; n < 6; n++) ids.push(await start({ ...INSTRUCTIONS, maxCostUsd: 5 }));
    expect(await engine.drain(client)).toEqual([]);
    const rows = await Promise.all(ids.map(row));
    expect(rows.map(({ status, reason }) => [status, reason])).toEqual(
      ids.map(() => ['BUDGET_EXCEEDED', 'organisation_daily_budget']),
    );
    expect(requests).toHaveLength(3);
    expect(rows.reduce((sum, { cost }) => sum + cost, 0)).toBe(spent());
    expect(spent()).toBeLessThanOrEqual(dailyBudget);
  });

  test('a child gets what its first prompt can cost, or is not started', async () => {
    const { client, requests, spent } = dear((request) => {
      const goal = String(request.messages[0]?.content);
      const replies = request.messages.filter(({ role }) => role === 'assistant').length;
      if (goal.includes('BELOW') || replies > 1) return [['finish', { result: 'done' }]];
      return [['run_agent', { goal: 'BELOW', maxCostUsd: replies === 0 ? 0.0815 : 0.1 }]];
    });
    const id = await start({ ...INSTRUCTIONS, goals: ['ABOVE'], maxCostUsd: 0.36 });
    for (let turn = 0; turn < 3; turn++) expect(await engine.deliver(client)).toBeUndefined();
    const feed = engine.table.dump().filter(({ pk, sk }) => pk.endsWith(id) && sk.startsWith('FEED#'));
    const refusal = feed.map(readFeedRow).find((each) => each.kind === 'tool' && each.outcome === 'error');
    expect(refusal?.content).toMatch(/its first model call can cost up to \$0\.08[2-9]\d, and it would have \$0\.0815/);
    const child = engine.table
      .dump()
      .filter(({ sk }) => sk === 'EXEC')
      .map(readExecution)
      .find(({ parentId }) => parentId === id);
    expect(child).toMatchObject({ status: 'COMPLETED', maxCost: 100_000, calls: 1, reserved: 0 });
    expect(child?.cost).toBe(costOf(requests[2] as ModelRequest));
    expect(await row(id)).toMatchObject({ carved: 100_000, cost: spent() - (child?.cost ?? 0) });
    expect(spent()).toBeLessThanOrEqual(360_000);
  });
});

describe('99,000 Chinese characters that end a wait', () => {
  const text = '語'.repeat(99_000);
  const waiting: Parameters<typeof dear>[0] = (_, n) => (n === 1 ? [['wait', { seconds: 600 }]] : undefined);

  const answered = async (maxCostUsd: number) => {
    const model = dear(waiting);
    const id = await start({ maxCostUsd, maxIterations: 2 });
    expect(await engine.deliver(model.client)).toBeUndefined();
    expect(await row(id)).toMatchObject({ status: 'WAIT_STEP' });
    const said = { kind: 'message', origin: 'person', trust: 'explicit' as const, wake: true, text };
    await giveInput(engine.executionDeps(), at(id), said);
    for (let turn = 0; turn < 3; turn++) await engine.deliver(model.client);
    return { ...model, execution: await row(id) };
  };

  test('are not sent where three bytes of each do not fit', async () => {
    const { requests, execution, spent } = await answered(0.3);
    expect(requests).toHaveLength(1);
    expect(execution).toMatchObject({ status: 'BUDGET_EXCEEDED', reason: 'max_cost', cost: spent(), reserved: 0 });
    expect(execution.worst).toBeGreaterThan(297_000);
  });

  test('are sent where they do, and booked as they are billed', async () => {
    const { requests, execution, spent } = await answered(0.4);
    expect(requests).toHaveLength(2);
    expect(costOf(requests[1] as ModelRequest)).toBeGreaterThan(297_000);
    expect(execution).toMatchObject({ status: 'ITERATION_LIMIT_EXCEEDED', cost: spent(), reserved: 0 });
  });
});

test.each([
  ['goal', 60_000],
  ['dynamic-task', 20_000],
  ['fixed-task', 8_000],
])('summaries, answers to a workflow and repairs are no exception (%s)', async (workflow, most) => {
  await engine.table.update(keys.agent(ORG, AGENT), [{ do: 'set', path: 'workflow', value: workflow }]);
  const { client, requests, spent } = dear();
  let forms = 0;
  // The first answer in a form is none, so that it is asked for once more.
  const inWords = (request: ModelRequest): string => {
    if (request.responseSchema === undefined) return 'Notes.';
    if (++forms === 1) return 'no form';
    return JSON.stringify({ tasks: forms === 2 ? ['one', 'two', 'three'] : ['one more'] });
  };
  const complete: ModelClient['complete'] = async (request) => {
    if (request.tools.length > 0) return client.complete(request);
    requests.push(request);
    return replying(request, [], inWords(request));
  };
  const id = await start({
    contextTokens: 250,
    maxReplyTokens: 10,
    maxIterations: 1_000,
    repeatLimit: 1_000,
    maxCostUsd: most / 1e6,
  });
  expect(await engine.drain({ complete })).toEqual([]);
  const { status, cost, reserved } = await row(id);
  expect([status, cost, reserved]).toEqual(['BUDGET_EXCEEDED', spent(), 0]);
  expect(requests.some((request) => costOf(request) > 2 * 250 + 10)).toBe(true);
  if (workflow !== 'goal') expect(forms).toBeGreaterThan(1);
  expect(spent()).toBeLessThanOrEqual(most);
});

test('a prompt of usual size writes nothing but its claim and its commit', async () => {
  const { client, requests } = dear();
  const id = await engine.start(ORG, AGENT, { maxIterations: 4, stepDelaySeconds: 0 });
  const writes: string[] = [];
  const update: Table['update'] = (key, changes, guard) => {
    if (key.sk === 'EXEC') writes.push(changes.some(({ path }) => path === A.seq) ? 'commit' : 'claim');
    return engine.table.update(key, changes, guard);
  };
  for (let turn = 0; turn < 4; turn++) await engine.deliver(client, { table: { ...engine.table, update } });
  expect(requests).toHaveLength(4);
  expect(writes).toEqual(Array.from({ length: 4 }, () => ['claim', 'commit']).flat());
  expect((await row(id)).worst).toBe(48_000 + 4_096);
});

describe('maxCostUsd that is lowered', () => {
  const money: readonly Change[] = [
    add(A.cost, 1_000_000),
    add(A.reserved, 200_000),
    add(A.childCost, 300_000),
    add(A.carved, 500_000),
    add(A.openChildren, 1),
  ];

  test('keeps what is spent, reserved and set aside for children', async () => {
    const id = await start({ maxCostUsd: 5 });
    await engine.table.update(keys.execution(ORG, id), [...money]);
    const lowered = (maxCost: number) => changeLimits(engine.executionDeps(), at(id), { maxCost });
    await expect(lowered(1_999_999)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(
        '$1.3 are spent, $0.2 are reserved for the step under way, $0.5 are set aside for runs that it started. The least that is possible now is 2;',
      ),
      details: { errors: [{ field: 'maxCostUsd', received: 'number 1.999999', expected: 'at least 2' }] },
    });
    expect((await row(id)).maxCost).toBe(5_000_000);
    expect((await lowered(2_000_000)).maxCost).toBe(2_000_000);
  });

  test('is judged anew when the run spends meanwhile', async () => {
    const id = await start({ maxCostUsd: 5 });
    let spends = 1;
    const update: Table['update'] = async (key, changes, guard) => {
      if (spends-- > 0) await engine.table.update(key, [...money]);
      return engine.table.update(key, changes, guard);
    };
    const deps = { ...engine.executionDeps(), table: { ...engine.table, update } };
    await expect(changeLimits(deps, at(id), { maxCost: 1_500_000 })).rejects.toMatchObject({ status: 400 });
  });

  test('may be raised from anywhere, and not set to less than somebody has raised it to', async () => {
    const id = await start({ maxCostUsd: 1 });
    await engine.table.update(keys.execution(ORG, id), [...money]);
    const others = (limit: number) => changeLimits(engine.executionDeps(), at(id), { maxCost: limit });
    expect((await others(1_100_000)).maxCost).toBe(1_100_000);
    let raises = 1;
    const update: Table['update'] = async (key, changes, guard) => {
      if (raises-- > 0) await others(3_000_000);
      return engine.table.update(key, changes, guard);
    };
    const deps = { ...engine.executionDeps(), table: { ...engine.table, update } };
    await expect(changeLimits(deps, at(id), { maxCost: 1_200_000 })).rejects.toMatchObject({ status: 400 });
    expect((await row(id)).maxCost).toBe(3_000_000);
  });
});
