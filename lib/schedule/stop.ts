import type { Log } from '../kernel/ports.ts';
import type { Table } from '../kernel/table.ts';
import { changed, replace } from './announce.ts';
import { withMark } from './mark.ts';
import type { Schedule } from './schedule.ts';

/** For the person who can mend it. */
export interface StopReason {
  readonly code: string;
  readonly message: string;
}

/**
 * Pauses it with a reason, and asks for a person. What is due then is late when somebody resumes, and `misfire` says what
 * becomes of it.
 * @returns false when somebody else changed it meanwhile
 */
export const stopSchedule = async (
  deps: { readonly table: Table; readonly log: Log },
  seen: Schedule,
  reason: StopReason,
  now: number,
): Promise<boolean> => {
  const paused = { ...seen, state: 'PAUSED' as const, reason: { ...reason, at: now } };
  const stopped = await replace(deps, seen, withMark(changed(paused, seen, now), undefined));
  if (stopped) deps.log.warn('A schedule was stopped.', { scheduleId: seen.id, reason: reason.code });
  return stopped;
};
