/** The mark of a Thread in the `due` index: it stands while somebody has to look here, and `sweep` finds it. */
import { STALL_MS } from '../../execution/mark.ts';
import { due } from '../../kernel/keys.ts';
import { type Change, remove, set } from '../../kernel/table.ts';

const MINUTE_MS = 60_000;

/** Rounded up to the minute, so that the index is written at most once a minute however many Triggers come. */
export const lookAgainAt = (now: number, afterMs: number = STALL_MS): number =>
  Math.ceil((now + afterMs) / MINUTE_MS) * MINUTE_MS;

/** Sets the mark to a time, ms since the epoch. */
export const markChanges = (threadId: string, at: number): readonly Change[] => [
  set('duePk', due.pkOf('sweep', threadId)),
  set('dueSk', due.sk(at, threadId)),
];

export const noMark: readonly Change[] = [remove('duePk'), remove('dueSk'), remove('dueBackoff')];

/** Ids out of a Thread's primary key, as the index shows it. */
export const parseThreadPk = (pk: string): { readonly orgId: string; readonly threadId: string } | undefined => {
  const match = /^ORG#([^#]+)#THREAD#([^#]+)$/.exec(pk);
  return match?.[1] !== undefined && match[2] !== undefined ? { orgId: match[1], threadId: match[2] } : undefined;
};
