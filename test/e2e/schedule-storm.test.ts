import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from './support/api.ts';
import { operatorOf } from './support/operator.ts';
import { TABLE_NAME } from './support/rows.ts';
import { finish } from './support/scripted-model.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
  world.model.script('storm', () => finish('done'));
});
afterAll(async () => {
  await world?.close();
});

/** `STORM=200` for the figures; the bench counts 200 in its full run. */
const SCHEDULES = Number(process.env.STORM ?? 60);

interface Fired {
  readonly scheduleId: string;
  readonly at: number;
}

/** Executions of schedules, as the table has them: the row is RUNNING from the moment it is there. */
const fired = async (ids: ReadonlySet<string>): Promise<readonly Fired[]> => {
  const operator = operatorOf(world.cloud);
  try {
    const found: Fired[] = [];
    for (let from: Record<string, unknown> | undefined, first = true; first || from !== undefined; first = false) {
      const page = await operator.table.send(
        new ScanCommand({
          TableName: TABLE_NAME,
          ConsistentRead: true,
          FilterExpression: 'sk = :exec AND attribute_exists(sc)',
          ExpressionAttributeValues: { ':exec': 'EXEC' },
          ...(from !== undefined && { ExclusiveStartKey: from }),
        }),
      );
      for (const item of page.Items ?? []) {
        if (ids.has(String(item.sc))) found.push({ scheduleId: String(item.sc), at: Number(item.cr) });
      }
      from = page.LastEvaluatedKey;
    }
    return found;
  } finally {
    operator.close();
  }
};

const shown = (lags: readonly number[]): string => {
  const sorted = lags.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, max ${at(1)} ms`;
};

/** The second life of the cloud lies before the second in which they are due. */
const RESTART_MS = 10_000;
/** Making the rest may take so much longer than the trial said: other tests come and go. */
const SPARE = 3;

const makeSchedules = async (): Promise<{ ids: ReadonlySet<string>; dueAt: number }> => {
  const agentId = (await world.cloud.agent({ model: 'storm' })).id;
  const make = async (count: number, dueAt: number): Promise<readonly string[]> => {
    const startAt = new Date(dueAt).toISOString();
    const one = async (): Promise<string> => (await world.cloud.must('POST', '/v1/schedules', { agentId, startAt })).id;
    const made: string[] = [];
    while (made.length < count) made.push(...(await Promise.all(Array.from({ length: 10 }, one))));
    return made;
  };
  // All are to be there before the time they share: a trial, of schedules that never fire here, says how long that takes.
  const tomorrow = Date.now() + 86_400_000;
  await make(10, tomorrow); // waits for processes that start
  const began = performance.now();
  await make(10, tomorrow);
  const making = (performance.now() - began) * (SCHEDULES / 10) * SPARE;
  const dueAt = Math.ceil((Date.now() + making + RESTART_MS) / 1000) * 1000;
  const ids = new Set(await make(SCHEDULES, dueAt));
  expect(Date.now()).toBeLessThan(dueAt);
  return { ids, dueAt };
};

const untilTime = (at: number): Promise<void> => new Promise((done) => setTimeout(done, Math.max(0, at - Date.now())));

const judge = async (ids: ReadonlySet<string>, dueAt: number, up: number, when: string): Promise<void> => {
  await eventually('all have fired', async () => (await fired(ids)).length >= SCHEDULES, 120);
  const runs = await fired(ids);
  const lags = runs.map(({ at }) => at - dueAt);
  const fromUp = runs.map(({ at }) => at - Math.max(dueAt, Math.min(at, up)));
  console.log(`${SCHEDULES} schedules, ${when}: after the due second ${shown(lags)}`);
  console.log(`${SCHEDULES} schedules, ${when}: after the due second or the cloud was up ${shown(fromUp)}`);
  expect(new Set(runs.map(({ scheduleId }) => scheduleId)).size).toBe(SCHEDULES);
  expect(runs).toHaveLength(SCHEDULES);
  expect(Math.min(...lags)).toBeGreaterThanOrEqual(0);
  const [first] = ids;
  const schedule = await world.cloud.must('GET', `/v1/schedules/${first}`);
  expect(schedule).toMatchObject({ state: 'COMPLETED', runs: 1 });
};

test(`${SCHEDULES} schedules of one second all fire once, although everything is killed before it`, async () => {
  const { ids, dueAt } = await makeSchedules();
  await world.cloud.kill();
  const began = Date.now();
  await world.cloud.start();
  console.log(`the cloud was down for ${Date.now() - began} ms`);
  await judge(ids, dueAt, Date.now(), 'killed before they are due');
}, 240_000);

test(`${SCHEDULES} schedules of one second all fire once, although everything is killed in the midst of it`, async () => {
  const { ids, dueAt } = await makeSchedules();
  await untilTime(dueAt + 120);
  await world.cloud.kill();
  await world.cloud.start();
  await judge(ids, dueAt, Date.now(), 'killed right after they are due');
}, 240_000);
