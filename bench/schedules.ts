import { setTimeout as sleep } from 'node:timers/promises';
import { due, keys } from '../lib/kernel/keys.ts';
import { RULES } from '../lib/names.ts';
import type { BenchCloud } from './cloud.ts';
import { addedBy, medianWork, type Observer, type Work } from './observe.ts';
import { withRows } from './rows.ts';

export interface ScheduleUnits {
  /** What a fire adds to its run: the clock finds it, its message, the transaction that starts the run. */
  readonly fire: Work;
}

/** The clock of the cloud comes once a minute by itself; where it comes beside the bench's, a schedule is sent twice. */
const FIRES = 3;
const DAY_MS = 86_400_000;
/** From now, when it is moved: the clock sends its message with a delay, as it does. */
const MOVED_TO_MS = 3_500;

export const idOf = async (cloud: BenchCloud, path: string, body: object): Promise<string> =>
  String((await cloud.call('POST', path, body)).id);

/** Due tomorrow, and each day after it. */
export const farSchedule = (cloud: BenchCloud, agentId: string): Promise<string> =>
  idOf(cloud, '/v1/schedules', { agentId, startAt: new Date(Date.now() + DAY_MS).toISOString(), every: 'P1D' });

const runOf = async (cloud: BenchCloud, scheduleId: string): Promise<string> => {
  const until = performance.now() + 60_000;
  for (;;) {
    const { lastFire } = await cloud.call('GET', `/v1/schedules/${scheduleId}`);
    const { executionId } = (lastFire ?? {}) as { readonly executionId?: string };
    if (executionId !== undefined) return executionId;
    if (performance.now() > until) throw new Error(`${scheduleId} has not fired after 60 s.`);
    await sleep(100);
  }
};

/**
 * @param agentId whose run a person starts in `plain`
 * @param plain what such a run takes
 */
export const measureSchedules = async (
  cloud: BenchCloud,
  observer: Observer,
  agentId: string,
  plain: Work,
): Promise<ScheduleUnits> => {
  const fires: Work[] = [];
  while (fires.length < FIRES) {
    const id = await farSchedule(cloud, agentId);
    const fired = await observer.workDuring(10, async () => {
      const nextAt = Date.now() + MOVED_TO_MS;
      const moved = { nextAt, dueSk: due.sk(nextAt, id) };
      await withRows(cloud, (rows) => rows.change(keys.schedule(cloud.orgId, id), moved));
      await cloud.fire(RULES.tick);
      await cloud.completed(await runOf(cloud, id), 60);
    });
    fires.push(addedBy(fired, plain));
  }
  return { fire: medianWork(fires) };
};
