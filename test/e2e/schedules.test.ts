import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from './support/api.ts';
import { type Operator, operatorOf } from './support/operator.ts';
import { type Rows, rowsOf } from './support/rows.ts';
import { finish, type Script, use } from './support/scripted-model.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
let operator: Operator;
let orgId = '';
let rows: Rows;
beforeAll(async () => {
  world = await startWorld();
  operator = operatorOf(world.cloud);
  orgId = (await world.cloud.must('GET', '/v1/organisation')).id;
  rows = rowsOf(operator, orgId);
});
afterAll(async () => {
  operator?.close();
  await world?.close();
});

/** As the routes answer it. */
interface Schedule {
  readonly id: string;
  readonly state: string;
  readonly nextAt?: string;
  readonly runs: number;
  readonly currentExecutionId?: string;
  readonly pendingSince?: string;
  readonly reason?: { readonly code: string; readonly message: string };
  readonly lastFire?: { readonly dueAt: string; readonly outcome: string; readonly executionId?: string };
}

let names = 0;
const agentOf = async (reply: Script): Promise<string> => {
  const model = `schedule-${++names}`;
  world.model.script(model, reply);
  return (await world.cloud.agent({ model })).id;
};
const schedule = async (method: string, path: string, body?: object): Promise<Schedule> =>
  (await world.cloud.must(method, `/v1/schedules${path}`, body)) as unknown as Schedule;
const seen = (id: string) => schedule('GET', `/${id}`);
const inSeconds = (seconds: number) => new Date(Math.ceil(Date.now() / 1000) * 1000 + seconds * 1000).toISOString();
const tick = () => world.cloud.must('POST', '/_local/rules/tick/fire');
const runsOf = async (agentId: string) => (await world.cloud.must('GET', `/v1/executions?agentId=${agentId}`)).items;
/** As if time had passed: due then, found by its mark. */
const dueAt = (id: string, at: number) =>
  rows.change(
    { pk: `ORG#${orgId}#SCHEDULE#${id}`, sk: 'SCHEDULE' },
    { nextAt: at, dueSk: `${new Date(at).toISOString()}#${id}` },
  );

test('a schedule fires in its second, its run completes, and the next occurrence is set', async () => {
  const agentId = await agentOf(() => finish('done'));
  const startAt = inSeconds(3);
  const made = await schedule('POST', '', { agentId, startAt, every: 'PT1M', maxRuns: 2, goals: ['Be on time.'] });
  expect(made).toMatchObject({ state: 'ACTIVE', nextAt: startAt, runs: 0 });
  await eventually('it fires', async () => (await seen(made.id)).runs === 1);
  const [run] = await runsOf(agentId);
  const execution = await world.cloud.until(String(run?.id), 'COMPLETED', 20);
  const lag = Number((await rows.execution(execution.id))?.cr) - Date.parse(startAt);
  console.log(`a schedule fired ${lag} ms after its due time`);
  expect(lag).toBeGreaterThanOrEqual(0);
  expect(execution).toMatchObject({ scheduleId: made.id, agentId });
  const next = new Date(Date.parse(startAt) + 60_000).toISOString();
  expect(await seen(made.id)).toMatchObject({
    nextAt: next,
    lastFire: { dueAt: startAt, outcome: 'started', executionId: execution.id },
  });
  await tick();
  await tick();
  expect((await seen(made.id)).runs).toBe(1);
  expect((await world.cloud.must('GET', `/v1/schedules/${made.id}/next`)).items).toEqual([next]);
}, 60_000);

test('what is far off is found by the tick, and one that is deleted or paused is not', async () => {
  const agentId = await agentOf(() => finish('done'));
  const make = () => schedule('POST', '', { agentId, startAt: inSeconds(3_600) });
  const [far, paused, gone] = [await make(), await make(), await make()];
  await schedule('POST', `/${paused.id}/pause`);
  await world.cloud.must('DELETE', `/v1/schedules/${gone.id}`).catch(() => undefined);
  await dueAt(far.id, Date.parse(inSeconds(3)));
  await tick();
  await eventually('it fires', async () => (await seen(far.id)).runs === 1);
  expect(await runsOf(agentId)).toHaveLength(1);
  expect(await seen(paused.id)).toMatchObject({ state: 'PAUSED', runs: 0 });
}, 60_000);

test('an occurrence is queued behind a run that goes on, and starts when that ends', async () => {
  const agentId = await agentOf(({ n }) => (n === 1 ? use('ask_user', { question: '?' }) : finish('done')));
  const made = await schedule('POST', '', { agentId, every: 'PT1H', overlap: 'queue' });
  await eventually('the first runs', async () => (await seen(made.id)).currentExecutionId !== undefined);
  const first = String((await seen(made.id)).currentExecutionId);
  await world.cloud.until(first, 'WAITING_FOR_INPUT', 20);
  await dueAt(made.id, Date.now());
  await tick();
  await eventually('the second is queued', async () => (await seen(made.id)).pendingSince !== undefined);
  expect(await seen(made.id)).toMatchObject({ runs: 1, currentExecutionId: first, lastFire: { outcome: 'queued' } });
  await world.cloud.must('POST', `/v1/executions/${first}/input`, { content: 'Go on.' });
  await world.cloud.until(first, 'COMPLETED', 20);
  await eventually('the second runs', async () => (await seen(made.id)).runs === 2);
  const after = await seen(made.id);
  expect(after.currentExecutionId).not.toBe(first);
  expect(after.pendingSince).toBeUndefined();
  await world.cloud.must('DELETE', `/v1/agents/${agentId}`).catch(() => undefined);
}, 60_000);

test('a schedule whose agent is gone stops with the reason, and others fire', async () => {
  const [gone, there] = [await agentOf(() => finish('done')), await agentOf(() => finish('done'))];
  const startAt = inSeconds(4);
  const [broken, sound] = await Promise.all(
    [gone, there].map((agentId) => schedule('POST', '', { agentId, startAt, every: 'P1D' })),
  );
  await world.cloud.call('DELETE', `/v1/agents/${gone}`);
  await eventually('both are judged', async () => {
    const [one, two] = await Promise.all([seen(String(broken?.id)), seen(String(sound?.id))]);
    return one.state === 'PAUSED' && two.runs === 1;
  });
  expect((await seen(String(broken?.id))).reason).toEqual({
    code: 'agent_deleted',
    message: 'The agent of this schedule was deleted.',
  });
  const refused = await world.cloud.call('POST', `/v1/schedules/${broken?.id}/resume`);
  expect([refused.status, refused.json.code]).toEqual([409, 'agent_deleted']);
}, 60_000);
