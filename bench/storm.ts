import { setTimeout as sleep } from 'node:timers/promises';
import { A } from '../lib/execution/execution.ts';
import type { BenchCloud } from './cloud.ts';
import { type Row, withRows } from './rows.ts';
import { farSchedule, idOf } from './schedules.ts';

/** Many things that are due in the same second. Fired means: the execution row is RUNNING. */
export interface Storm {
  readonly count: number;
  /** From the due second to RUNNING, milliseconds, of each that fired. */
  readonly lags: readonly number[];
  /** Those that fired. */
  readonly fired: number;
  /** Fires beyond the first of each. */
  readonly again: number;
}

const AT_ONCE = 10;
/** Trials tell how long making one takes; the rest may take half as long again. */
const SPARE = 1.5;
const LEAST_AHEAD_MS = 3_000;
/** A run that is started has to come to its wait before the second: some 40 steps a second behind the starts. */
const PARKING_MS = 25;
const OVER_WITHIN_SECONDS = 180;

const inBatches = async (count: number, make: () => Promise<unknown>): Promise<void> => {
  for (let made = 0; made < count; made += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - made) }, make));
  }
};

/** The first whole second that lies behind the making of so many, ms. */
const dueSecond = async (count: number, eachMs: number, trial: () => Promise<unknown>): Promise<number> => {
  // The first ones wait for processes that start.
  await inBatches(AT_ONCE, trial);
  const began = performance.now();
  await inBatches(AT_ONCE, trial);
  const making = (performance.now() - began) * (count / AT_ONCE) * SPARE;
  return Math.ceil((Date.now() + LEAST_AHEAD_MS + making + count * eachMs) / 1000) * 1000;
};

/** Looks seldom, and at first when they are through: looking is work for the same processors. */
const untilOver = async (cloud: BenchCloud, agentId: string, count: number): Promise<void> => {
  const until = performance.now() + OVER_WITHIN_SECONDS * 1000;
  const path = `/v1/executions?agentId=${agentId}&status=COMPLETED&limit=1000`;
  while (performance.now() < until) {
    const { items } = (await cloud.call('GET', path)) as { readonly items?: readonly unknown[] };
    if ((items?.length ?? 0) >= count) return;
    await sleep(1_000);
  }
};

/** Fires by what fired; what never did has none. */
export const judgeStorm = (count: number, dueAt: number, fires: ReadonlyMap<string, readonly number[]>): Storm => {
  const times = [...fires.values()].filter(({ length }) => length > 0);
  return {
    count,
    lags: times.map((each) => Math.min(...each) - dueAt),
    fired: times.length,
    again: times.reduce((sum, { length }) => sum + length - 1, 0),
  };
};

const grouped = (fires: readonly { readonly id: string; readonly at: number }[]): Map<string, number[]> =>
  new Map([...Map.groupBy(fires, ({ id }) => id)].map(([id, same]) => [id, same.map(({ at }) => at)]));

/** The row of a run is RUNNING from the moment it is there. */
const scheduledRuns = (rows: readonly Row[], ids: ReadonlySet<string>) =>
  rows.map((row) => ({ id: String(row[A.scheduleId]), at: Number(row[A.created]) })).filter(({ id }) => ids.has(id));

const stormOfSchedules = async (cloud: BenchCloud, count: number): Promise<Storm> => {
  const agentId = await cloud.agent({ run: 'scheduled', steps: 0, calls: 1, shared: true });
  const dueAt = await dueSecond(count, 0, () => farSchedule(cloud, agentId));
  const ids = new Set<string>();
  const startAt = new Date(dueAt).toISOString();
  await inBatches(count, async () => ids.add(await idOf(cloud, '/v1/schedules', { agentId, startAt })));
  await sleep(Math.max(0, dueAt - Date.now()) + LEAST_AHEAD_MS);
  await untilOver(cloud, agentId, count);
  const rows = await withRows(cloud, (table) => table.withSortKey('EXEC'));
  return judgeStorm(count, dueAt, grouped(scheduledRuns(rows, ids)));
};

/** Every change of status left an event, which says when it was. */
const endsOfWaits = (rows: readonly Row[], agentId: string) =>
  rows
    .map(({ detail }) => JSON.parse(String(detail)) as { readonly [member: string]: string | undefined })
    .filter((event) => event.agentId === agentId && event.from === 'WAIT_STEP' && event.to === 'RUNNING')
    .map(({ executionId, at }) => ({ id: String(executionId), at: Date.parse(String(at)) }));

const stormOfWaits = async (cloud: BenchCloud, count: number): Promise<Storm> => {
  const trial = await cloud.agent({ run: 'trial', steps: 0, calls: 1, shared: true });
  const dueAt = await dueSecond(count, PARKING_MS, () => cloud.api.startExecution(trial));
  const wait = new Date(dueAt).toISOString();
  const agentId = await cloud.agent({ run: 'waiting', steps: 1, calls: 1, wait, shared: true });
  await inBatches(count, () => cloud.api.startExecution(agentId));
  await sleep(Math.max(0, dueAt - Date.now()) + LEAST_AHEAD_MS);
  await untilOver(cloud, agentId, count);
  const rows = await withRows(cloud, (table) => table.withSortKey('EFFECT'));
  return judgeStorm(count, dueAt, grouped(endsOfWaits(rows, agentId)));
};

export const measureStorm = (cloud: BenchCloud, kind: 'schedules' | 'waits', count: number): Promise<Storm> =>
  kind === 'schedules' ? stormOfSchedules(cloud, count) : stormOfWaits(cloud, count);
