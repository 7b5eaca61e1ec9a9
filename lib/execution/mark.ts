import { type DueKind, due } from '../kernel/keys.ts';
import { type Change, remove, set } from '../kernel/table.ts';
import { A } from './execution.ts';

/** A running execution that shows no commit for this long is looked at by `sweep`. */
export const STALL_MS = 180_000;
const MINUTE_MS = 60_000;

/** Rounded up to the minute, so that the index is written at most once a minute however fast the steps are. */
const rounded = (atMs: number): number => Math.ceil(atMs / MINUTE_MS) * MINUTE_MS;

export interface Mark {
  readonly duePk: string;
  readonly dueSk: string;
}

export const markAt = (kind: DueKind, executionId: string, atMs: number): Mark => ({
  duePk: due.pkOf(kind, executionId),
  dueSk: due.sk(atMs, executionId),
});

/** "Look here if nothing moved": every write that makes an execution RUNNING carries it. */
export const stallMark = (executionId: string, now: number): Mark =>
  markAt('sweep', executionId, rounded(now + STALL_MS));

export const setMark = (mark: Mark): readonly Change[] => [set(A.duePk, mark.duePk), set(A.dueSk, mark.dueSk)];
export const dropMark: readonly Change[] = [remove(A.duePk), remove(A.dueSk), remove(A.dueBackoff)];
