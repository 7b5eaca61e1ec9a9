import { due } from '../kernel/keys.ts';
import { type Change, remove, set } from '../kernel/table.ts';

/** SQS delays a message for at most so long; what is due later is `tick`'s. */
export const LONGEST_DELAY_MS = 900_000;
/** A row whose message has not been seen for this long is looked at again. */
const STALL_MS = 600_000;
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 2 * 3_600_000;
/** SQS counts whole seconds, and none would be a tight loop. */
const SHORTEST_WAIT_MS = 1_000;

/** Between two attempts: exponential from 2 s with full jitter, up to two hours. @param failures 1 after the first failure */
export const backoffMs = (failures: number, random: number): number =>
  Math.max(SHORTEST_WAIT_MS, Math.round(random * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1))));

/** Whole seconds until `atMs`, as SQS takes them. */
export const delayUntil = (atMs: number, now: number): number =>
  Math.min(LONGEST_DELAY_MS / 1000, Math.max(0, Math.ceil((atMs - now) / 1000)));

export interface Mark {
  readonly duePk: string;
  readonly dueSk: string;
}

/** The mark that finds a row whose message was lost. */
export const stallMark = (id: string, atMs: number): Mark => ({
  duePk: due.pkOf('sweep', id),
  dueSk: due.sk(atMs + STALL_MS, id),
});

/** The mark of something that waits until `atMs`: a message does, or `tick` where it is too long for one. */
export const waitMark = (id: string, atMs: number, now: number): Mark =>
  atMs - now > LONGEST_DELAY_MS ? { duePk: due.pkOf('tick', id), dueSk: due.sk(atMs, id) } : stallMark(id, atMs);

export const setMark = (mark: Mark): readonly Change[] => [set('duePk', mark.duePk), set('dueSk', mark.dueSk)];
export const dropMark: readonly Change[] = [remove('duePk'), remove('dueSk')];
