/** The mark of a schedule in the `due` index: where `tick` looks when no message brings it. */
import { TICK_HORIZON_MS } from '../execution/clock.ts';
import { due } from '../kernel/keys.ts';
import type { Schedule } from './schedule.ts';

/**
 * The tick looks 150 s ahead. A mark this far behind the due time is seen 5 s before it at the earliest and 55 s after it
 * at the latest: a lost message costs less than the grace of a minute, and few are sent a second time.
 */
const FOUND_AGAIN_MS = TICK_HORIZON_MS - 5_000;
const FIRST_BACKOFF_MS = 60_000;
const LONGEST_BACKOFF_MS = 3_600_000;

/** True when the message of the next occurrence is to be sent now and not by a later tick. */
export const isSoon = ({ nextAt }: Schedule, now: number): boolean =>
  nextAt !== undefined && nextAt <= now + TICK_HORIZON_MS;

/**
 * Where the mark belongs. Whoever moves it there sends the message of an occurrence that is soon. An occurrence that is
 * queued needs no mark: the end of its run sets one.
 */
export const markTime = (schedule: Schedule, now: number): number | undefined => {
  if (schedule.state !== 'ACTIVE' || schedule.nextAt === undefined) return undefined;
  return isSoon(schedule, now) ? Math.max(schedule.nextAt, now) + FOUND_AGAIN_MS : schedule.nextAt;
};

/** The same where a message goes out for an occurrence that is queued, too. */
export const markTimeWhenAsked = (schedule: Schedule, now: number): number | undefined => {
  const at = markTime(schedule, now);
  if (schedule.state !== 'ACTIVE' || schedule.pending === undefined) return at;
  return Math.min(at ?? Number.POSITIVE_INFINITY, now + FOUND_AGAIN_MS);
};

/** The schedule with this mark. */
export const withMark = (schedule: Schedule, at: number | undefined): Schedule => ({
  ...schedule,
  dueSk: at === undefined ? undefined : due.sk(at, schedule.id),
  backoff: undefined,
});

/** How far the tick puts the mark of one that is overdue beyond its usual place: twice as far each time. */
export const nextBackoff = ({ backoff = 0, nextAt = 0 }: Schedule, now: number): number =>
  nextAt >= now ? 0 : Math.min(LONGEST_BACKOFF_MS, Math.max(FIRST_BACKOFF_MS, backoff * 2));
