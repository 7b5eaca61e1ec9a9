/** Changes of the execution row that several writes share. */
import { add, type Change, remove, set } from '../../kernel/table.ts';
import { A, type Execution } from '../execution.ts';
import { setMark, stallMark } from '../mark.ts';
import { runningMs } from './fuses.ts';

export const leaseGone: readonly Change[] = [remove(A.leaseOwner), remove(A.leaseUntil), remove(A.leaseMessage)];

/** The clock of maxSeconds stops with RUNNING. */
export const clockStopped = (execution: Execution, now: number): readonly Change[] =>
  execution.runningSince === undefined ? [] : [set(A.runningMs, runningMs(execution, now)), remove(A.runningSince)];

/**
 * Settles this claim's own reservation without committing the step (park, release, fuse): what it really spent is booked,
 * its worst case is freed, other claims' stay reserved.
 */
export const settled = (execution: Execution, cost: number): readonly Change[] => [
  ...(cost > 0 ? [add(A.cost, cost)] : []),
  ...(execution.worst > 0 ? [add(A.reserved, -execution.worst)] : []),
];

/** Every move into RUNNING, by whomever, carries the mark and starts the clock. */
export const intoRunning = (executionId: string, now: number): readonly Change[] => [
  ...setMark(stallMark(executionId, now)),
  remove(A.dueBackoff),
  set(A.runningSince, now),
];

/** A run that stood between its turns goes on. What it said at the end of the last one may be said again. */
export const turnBegins: readonly Change[] = [remove(A.parked), remove(A.reason), set(A.repeatCount, 0)];
