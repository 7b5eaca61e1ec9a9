import { setTimeout as sleep } from 'node:timers/promises';
import { A } from '../lib/execution/execution.ts';
import type { BenchCloud } from './cloud.ts';
import { type Row, withRows } from './rows.ts';
import { farSchedule, idOf } from './schedules.ts';

/**
 * Many things that are due in the same second. Fired means: the execution row is RUNNING. All processes of the cloud are killed
 * while everything waits, and it is up again before the second.
 */
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
/** What making them has left to do is done within that, and then the cloud is killed and comes up. */
const LEAST_AHEAD_MS = 30_000;
const KILLED_AHEAD_MS = 12_000;
/** Nobody looks before that. */
const UNDISTURBED_MS = 9_000;
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

/** What is due, and how its fires are found once all are over. */
interface Due {
  readonly dueAt: number;
  readonly agentId: string;
  fires(cloud: BenchCloud): Promise<ReadonlyMap<string, readonly number[]>>;
}

const makeSchedules = async (cloud: BenchCloud, count: number): Promise<Due> => {
  const agentId = await cloud.agent({ run: 'scheduled', steps: 0, calls: 1, shared: true });
  const dueAt = await dueSecond(count, 0, () => farSchedule(cloud, agentId));
  const ids = new Set<string>();
  const startAt = new Date(dueAt).toISOString();
  await inBatches(count, async () => ids.add(await idOf(cloud, '/v1/schedules', { agentId, startAt })));
  return {
    dueAt,
    agentId,
    fires: async (later) => grouped(scheduledRuns(await withRows(later, (table) => table.withSortKey('EXEC')), ids)),
  };
};

/** Every change of status left an event, which says when it was. */
const endsOfWaits = (rows: readonly Row[], agentId: string) =>
  rows
    .map(({ detail }) => JSON.parse(String(detail)) as { readonly [member: string]: string | undefined })
    .filter((event) => event.agentId === agentId && event.from === 'WAIT_STEP' && event.to === 'RUNNING')
    .map(({ executionId, at }) => ({ id: String(executionId), at: Date.parse(String(at)) }));

const makeWaits = async (cloud: BenchCloud, count: number): Promise<Due> => {
  const trial = await cloud.agent({ run: 'trial', steps: 0, calls: 1, shared: true });
  const dueAt = await dueSecond(count, PARKING_MS, () => cloud.api.startExecution(trial));
  const wait = new Date(dueAt).toISOString();
  const agentId = await cloud.agent({ run: 'waiting', steps: 1, calls: 1, wait, shared: true });
  await inBatches(count, () => cloud.api.startExecution(agentId));
  await allWait(cloud, agentId, count, dueAt);
  return {
    dueAt,
    agentId,
    fires: async (later) =>
      grouped(endsOfWaits(await withRows(later, (table) => table.withSortKey('EFFECT')), agentId)),
  };
};

/** @throws Error when the machine was too slow: the figure would not be one of a storm */
const allWait = async (cloud: BenchCloud, agentId: string, count: number, dueAt: number): Promise<void> => {
  const path = `/v1/executions?agentId=${agentId}&status=WAIT_STEP&limit=1000`;
  for (;;) {
    const { items } = (await cloud.call('GET', path)) as { readonly items?: readonly unknown[] };
    if ((items?.length ?? 0) >= count) return;
    if (Date.now() > dueAt) throw new Error(`Only ${items?.length ?? 0} of ${count} runs waited before they were due.`);
    await sleep(500);
  }
};

/**
 * @param cloud is killed; another one takes its place
 * @throws Error when the cloud was not up again before the second
 */
export const measureStorm = async (
  cloud: BenchCloud,
  kind: 'schedules' | 'waits',
  count: number,
): Promise<{ readonly storm: Storm; readonly cloud: BenchCloud }> => {
  const due = kind === 'schedules' ? await makeSchedules(cloud, count) : await makeWaits(cloud, count);
  await sleep(Math.max(0, due.dueAt - KILLED_AHEAD_MS - Date.now()));
  const again = await cloud.killed();
  const ahead = due.dueAt - Date.now();
  if (ahead < 0) throw new Error(`The cloud came up ${-ahead} ms after ${count} ${kind} were due.`);
  await sleep(ahead + UNDISTURBED_MS);
  await untilOver(again, due.agentId, count);
  return { storm: judgeStorm(count, due.dueAt, await due.fires(again)), cloud: again };
};
