import type { ScheduleDeps } from './announce.ts';
import type { FireMessage } from './message.ts';
import { findSchedule } from './schedule.ts';
import { stopSchedule } from './stop.ts';

/**
 * The queue gave up on a wake-up. What still waits to be fired gets a reason that a person can read and mend; what moved
 * meanwhile needs nothing.
 */
export const buryFire = async (
  deps: Pick<ScheduleDeps, 'table' | 'log' | 'clock'>,
  message: FireMessage,
): Promise<void> => {
  const seen = await findSchedule(deps.table, message);
  if (seen?.state !== 'ACTIVE') return;
  const now = deps.clock.now();
  const waits = message.dueAt === undefined ? seen.pending !== undefined : seen.nextAt === message.dueAt;
  if (!waits) return;
  const reason = 'The runs of this schedule could not be started; the log of the fire function says why.';
  await stopSchedule(deps, seen, { code: 'fire_undeliverable', message: `${reason} Resume to try again.` }, now);
};
