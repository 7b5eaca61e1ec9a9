import { type Change, type Condition, eq, missing, set } from '../kernel/table.ts';
import { A, type Execution } from './execution.ts';

/**
 * What others are told of an execution is numbered, so that they can put it in order however it reaches them: the clocks of two
 * machines differ, and two changes fit into one millisecond. Whoever writes such a change counts it in the same write, from the
 * count it has seen.
 */
export const nextNumber = ({ changes }: Execution): number => changes + 1;

export const counted = (execution: Execution): Change => set(A.changes, nextNumber(execution));

/** Nobody has written a numbered change meanwhile. */
export const numberAsSeen = ({ changes }: Execution): Condition =>
  changes === 0 ? missing(A.changes) : eq(A.changes, changes);
