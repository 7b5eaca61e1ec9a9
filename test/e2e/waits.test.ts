import { setTimeout as sleep } from 'node:timers/promises';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from './support/api.ts';
import { type Operator, operatorOf } from './support/operator.ts';
import { type Row, type Rows, rowsOf, TABLE_NAME } from './support/rows.ts';
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

let names = 0;
/** Waits at its first step and ends at its second. The prompt tells the step: the script has no memory. */
const waits = (args: object): { readonly model: string } => {
  const model = `wait-${++names}`;
  const script: Script = ({ messages }) =>
    messages.some(({ role }) => role === 'assistant')
      ? finish(String(messages.findLast(({ role }) => role === 'tool')?.content))
      : use('wait', args);
  world.model.script(model, script);
  return { model };
};

test('a wait of two seconds lasts two seconds, costs no running time and says how long it was', async () => {
  const { id } = await world.cloud.run(waits({ seconds: 2 }));
  const waiting = await world.cloud.until(id, 'WAIT_STEP', 20);
  expect(waiting.now).toMatchObject({ state: 'waiting', waitingOn: { kind: 'time' } });
  expect((waiting.now as { sentence?: string } | undefined)?.sentence).toMatch(
    /^Waits until \d{4}-\d\d-\d\dT[\d:.]+Z, or for a message\.$/,
  );
  const began = performance.now();
  const done = await world.cloud.until(id, 'COMPLETED', 20);
  console.log(`a wait of 2 s: COMPLETED ${Math.round(performance.now() - began)} ms after it was seen waiting`);
  expect(done.result).toMatch(/^Waited [2-5] s, until /);
  const row = await rows.execution(id);
  expect(Number(row?.rm)).toBeLessThan(Number(row?.fi) - Number(row?.cr) - 1_500);
  expect(row).not.toHaveProperty('wu');
}, 60_000);

test('a message ends a wait, is read by the next step, and a wait that takes no message goes on', async () => {
  const open = await world.cloud.run(waits({ seconds: 600 }));
  const deaf = await world.cloud.run(waits({ seconds: 600, wakeOnInput: false }));
  for (const { id } of [open, deaf]) await world.cloud.until(id, 'WAIT_STEP', 20);
  for (const { id } of [open, deaf])
    await world.cloud.must('POST', `/v1/executions/${id}/input`, { content: 'Hello.' });
  const done = await world.cloud.until(open.id, 'COMPLETED', 20);
  expect(done.result).toMatch(/^A message ended the wait after \d+ s/);
  expect((await world.cloud.feed(open.id)).map(({ content }) => content)).toContain('Hello.');
  expect((await world.cloud.must('GET', `/v1/executions/${deaf.id}`)).status).toBe('WAIT_STEP');
  // Paused and resumed it waits on; terminated it ends.
  await world.cloud.must('POST', `/v1/executions/${deaf.id}/pause`);
  expect((await world.cloud.must('POST', `/v1/executions/${deaf.id}/resume`)).status).toBe('WAIT_STEP');
  expect((await world.cloud.must('POST', `/v1/executions/${deaf.id}/terminate`)).status).toBe('TERMINATED');
}, 60_000);

test('a wait longer than a queue can delay is woken by tick, which finds it by its mark', async () => {
  const { id } = await world.cloud.run(waits({ seconds: 86_400 }));
  await world.cloud.until(id, 'WAIT_STEP', 20);
  const until = Date.now() + 3_000;
  const row = await rows.execution(id);
  expect(row?.duePk).toMatch(/^DUE#tick#/);
  const pk = String(row?.pk);
  await rows.change({ pk, sk: 'WAIT#000000001#0101' }, { until });
  await rows.changeExecution(id, { wu: until, dueSk: `${new Date(until).toISOString()}#${id}` });
  await world.cloud.must('POST', '/_local/rules/tick/fire');
  const done = await world.cloud.until(id, 'COMPLETED', 20);
  expect(done.result).toContain(new Date(until).toISOString());
  expect(Number((await rows.execution(id))?.fi)).toBeGreaterThanOrEqual(until);
}, 60_000);

/** When each of these runs became RUNNING after its wait, ms. An empty list is a wait that never fired. */
const fires = async (ids: readonly string[]): Promise<ReadonlyMap<string, readonly number[]>> => {
  const found = new Map<string, number[]>(ids.map((id) => [id, []]));
  let start: Record<string, unknown> | undefined;
  do {
    const page = await operator.table.send(
      new ScanCommand({
        TableName: TABLE_NAME,
        ConsistentRead: true,
        FilterExpression: 'sk = :effect',
        ExpressionAttributeValues: { ':effect': 'EFFECT' },
        ...(start !== undefined && { ExclusiveStartKey: start }),
      }),
    );
    for (const { detail, detailType } of (page.Items ?? []) as Row[]) {
      if (detailType !== 'Execution Status Changed') continue;
      const { executionId, from, to, at } = JSON.parse(String(detail)) as { [name: string]: string };
      if (from === 'WAIT_STEP' && to === 'RUNNING') found.get(String(executionId))?.push(Date.parse(String(at)));
    }
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
  return found;
};

const quantile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;

/** `STORM=200` for the figures; the bench counts 200 in its full run. */
const WAITS = Number(process.env.STORM ?? 60);
/** Moving the time of the waits and the second life of the cloud come before it. */
const AHEAD_MS = 8_000 + 100 * WAITS;

/** Runs that wait for a day, and from now on for this time: no message is on its way, their marks alone wake them. */
const begin = async (): Promise<readonly string[]> => {
  const { cloud } = world;
  const agent = await cloud.agent(waits({ seconds: 86_400 }));
  const ids: string[] = [];
  while (ids.length < WAITS) {
    const started = Array.from({ length: 20 }, () => cloud.must('POST', `/v1/agents/${agent.id}/executions`, {}));
    ids.push(...(await Promise.all(started)).map(({ id }) => id));
  }
  const all = async () =>
    (await Promise.all(ids.map((id) => rows.execution(id)))).every((row) => row?.st === 'WAIT_STEP');
  await eventually('all wait', all, 240);
  return ids;
};

const moveTo = async (ids: readonly string[], until: number): Promise<void> => {
  for (const id of ids) {
    await rows.change({ pk: `ORG#${orgId}#EXEC#${id}`, sk: 'WAIT#000000001#0101' }, { until });
    await rows.changeExecution(id, { wu: until, dueSk: `${new Date(until).toISOString()}#${id}` });
  }
};

const killAndStart = async (): Promise<void> => {
  operator.close();
  await world.cloud.kill();
  await world.cloud.start();
  operator = operatorOf(world.cloud);
  rows = rowsOf(operator, orgId);
};

test.each([
  { when: 'while all wait', killAt: undefined },
  { when: 'in the second they are due', killAt: 250 },
])(
  `${WAITS} waits that are due in the same second all fire exactly once across a kill -9 of the whole cloud, $when`,
  async ({ when, killAt }) => {
    const ids = await begin();
    const until = Math.ceil((Date.now() + AHEAD_MS) / 1000) * 1000;
    await moveTo(ids, until);
    if (killAt !== undefined) {
      await world.cloud.must('POST', '/_local/rules/tick/fire');
      await sleep(Math.max(0, until + killAt - Date.now()));
    }
    await killAndStart();
    console.log(`the cloud was up again ${until - Date.now()} ms before the time`);
    await sleep(Math.max(0, until - Date.now()));
    // A look goes through the whole table, and would keep the waits from it: the times are in its rows, not in when we look.
    await sleep(Math.max(0, until + 5_000 - Date.now()));
    const allFired = async () => {
      await sleep(1_000);
      return [...(await fires(ids)).values()].every((times) => times.length > 0);
    };
    await eventually('all have fired', allFired, 120);
    for (const id of ids) await world.cloud.until(id, 'COMPLETED', 120);
    const times = [...(await fires(ids)).values()];
    expect(times.map((each) => each.length)).toEqual(ids.map(() => 1));
    const lags = times
      .flat()
      .map((at) => at - until)
      .sort((a, b) => a - b);
    const [p50, p95] = [quantile(lags, 0.5), quantile(lags, 0.95)];
    console.log(`${WAITS} waits, kill -9 ${when}: lag p50 ${p50} ms, p95 ${p95} ms, max ${lags.at(-1)} ms`);
    expect(lags[0]).toBeGreaterThanOrEqual(0);
  },
  600_000,
);
