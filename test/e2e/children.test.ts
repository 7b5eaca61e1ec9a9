import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, type Json } from './support/api.ts';
import { type Operator, operatorOf } from './support/operator.ts';
import { type Rows, rowsOf } from './support/rows.ts';
import { finish, type Reply, type ToolUse } from './support/scripted-model.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
let operator: Operator;
let rows: Rows;
beforeAll(async () => {
  world = await startWorld();
  operator = operatorOf(world.cloud);
  rows = rowsOf(operator, (await world.cloud.must('GET', '/v1/organisation')).id);
  const models = ['family', 'expert'].map((name) => ({ name, inputUsdPerM: 10, outputUsdPerM: 50 }));
  await world.cloud.must('PUT', '/v1/providers/priced', { baseUrl: world.model.url, apiKey: 'key-0123456789', models });
});
afterAll(async () => {
  operator?.close();
  await world?.close();
});

/** Micro-dollars of one call of the scripted model: 100 tokens in, 20 out. */
const CALL = 2_000;
const FAMILY = { model: 'family', goals: ['TOP'], tools: ['think', 'wait', 'run_agent'] };

type Family = Json & { readonly parentId?: string; readonly children?: readonly string[] };
const get = (id: string) => world.cloud.must('GET', `/v1/executions/${id}`) as Promise<Family>;

/** What each run does, by the first word of its goal that is known here. */
const plays = (model: string, steps: { readonly [word: string]: readonly (readonly ToolUse[])[] }) =>
  world.model.script(model, ({ messages }): Reply => {
    const goal = String(messages[0]?.content);
    const word = Object.keys(steps).find((each) => goal.includes(each)) ?? '';
    const calls = steps[word]?.[messages.filter(({ role }) => role === 'assistant').length];
    if (calls !== undefined) return { calls };
    const heard = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    return finish([`${word} is done.`, ...heard].join(' | '));
  });
const run = (args: object): ToolUse => ({ name: 'run_agent', args });

test('two runs at once: their results answer the calls, their cost is part of the whole, they are shown', async () => {
  plays('family', { TOP: [[run({ goal: 'ONE' }), run({ goal: 'TWO', maxCostUsd: 1 })]], ONE: [], TWO: [] });
  const { id } = await world.cloud.run({ ...FAMILY, maxCostUsd: 5 });
  const done = (await world.cloud.until(id, 'COMPLETED', 60)) as Family;
  expect(done.result).toMatch(
    /^TOP is done\. \| \[Run exe_.*information.*\]\nONE is done\. \| \[Run exe_.*\]\nTWO is done\.$/,
  );
  expect(done.costUsd).toBeCloseTo((4 * CALL) / 1e6, 9);
  expect(done.children).toHaveLength(2);
  const children = await Promise.all((done.children ?? []).map(get));
  expect(children.map(({ parentId, status }) => ({ parentId, status }))).toEqual([
    { parentId: id, status: 'COMPLETED' },
    { parentId: id, status: 'COMPLETED' },
  ]);
  expect(children[1]).toMatchObject({ limits: { maxCostUsd: 1 }, costUsd: CALL / 1e6 });
  expect(await rows.execution(id)).toMatchObject({ cv: 0, oc: 0, ob: 0, cc: 2 * CALL });
}, 90_000);

test('another agent does the work with what both may do; a stranger is not found', async () => {
  const expert = await world.cloud.agent({ model: 'expert', goals: ['EXPERT'], tools: ['think', 'write_file'] });
  plays('expert', { EXPERT: [[{ name: 'write_file', args: { path: 'a.txt', content: 'x' } }]] });
  plays('family', { TOP: [[run({ agentId: expert.id }), run({ agentId: 'agt_00000000000000000000000000' })]] });
  const { id } = await world.cloud.run({ ...FAMILY, maxCostUsd: 5 });
  const done = (await world.cloud.until(id, 'COMPLETED', 60)) as Family;
  expect(done.result).toContain('There is no tool "write_file"');
  expect(done.result).toMatch(/The run was not started: .*agent/i);
  expect(done.children).toHaveLength(1);
  expect((await get(done.children?.[0] ?? '')).agentId).toBe(expert.id);
}, 90_000);

test('what is terminated above ends below; pausing above does not touch it', async () => {
  const slow = [[{ name: 'wait', args: { seconds: 3_600 } }]];
  plays('family', { TOP: [[run({ goal: 'MIDDLE' })]], MIDDLE: [[run({ goal: 'BOTTOM' })]], BOTTOM: slow });
  const { id } = await world.cloud.run({ ...FAMILY, maxCostUsd: 10 });
  const below = async (of: string): Promise<string> => (await get(of)).children?.[0] ?? '';
  await eventually('all are there', async () => (await below(id)) !== '' && (await below(await below(id))) !== '', 60);
  const middle = await below(id);
  const bottom = await below(middle);
  await world.cloud.until(bottom, 'WAIT_STEP', 30);
  const waiting = await world.cloud.until(id, 'WAIT_STEP', 30);
  expect(waiting.now).toMatchObject({ waitingOn: { kind: 'runs' }, sentence: 'Waits for a run that it started.' });
  await world.cloud.must('POST', `/v1/executions/${id}/pause`);
  await world.cloud.must('POST', `/v1/executions/${id}/resume`);
  expect((await get(bottom)).status).toBe('WAIT_STEP');
  const budget = await world.cloud.call('PATCH', `/v1/executions/${bottom}`, { maxCostUsd: 100 });
  expect(`${budget.status} ${budget.json.code}`).toBe('409 parent_budget');
  await world.cloud.must('POST', `/v1/executions/${id}/terminate`);
  for (const each of [middle, bottom]) await world.cloud.until(each, 'TERMINATED', 30);
  await eventually('the books are closed', async () => Number((await rows.execution(id))?.oc) === 0, 60);
  expect(await rows.execution(id)).toMatchObject({ st: 'TERMINATED', cv: 0, ob: 0, cc: 3 * CALL - CALL });
}, 120_000);
