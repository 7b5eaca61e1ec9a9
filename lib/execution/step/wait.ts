import { eq, remove, set } from '../../kernel/table.ts';
import { waitMark } from '../clock.ts';
import { A, type Execution } from '../execution.ts';
import { setMark } from '../mark.ts';
import { findWait, type WaitRow, waitItem } from '../wait-row.ts';
import { sendWhenDue } from './claim.ts';
import type { Turn } from './claimed.ts';
import { standStill } from './park.ts';

export interface Wait {
  /** Number of the call that waits; a step of a workflow has one wait and takes any number. */
  readonly n: number;
  /** When it is over, ms since the epoch. */
  readonly until: number;
  /** A message ends it before its time. */
  readonly wakeOnInput: boolean;
  /** The counter of waking inputs that are known already: what came after them ends the wait before it begins. */
  readonly waking: number;
  /** What this claim spent, micro-dollars. */
  readonly cost: number;
}

export type WaitState =
  /** Never begun by an earlier claim of this step. */
  | { readonly kind: 'new' }
  | { readonly kind: 'over'; readonly by: 'time' | 'input'; readonly waitedMs: number; readonly until: number }
  /** Woken by something else; it goes on with `parkWait` and the same numbers. */
  | { readonly kind: 'running'; readonly row: WaitRow };

/** Where the wait of this step stands, for whoever has claimed it. @throws UnreadableRow */
export const readWait = async (
  { deps, execution }: Pick<Turn, 'deps' | 'execution'>,
  n: number,
): Promise<WaitState> => {
  const row = await findWait(deps, execution, n);
  return row === undefined ? { kind: 'new' } : judgeWait(row, execution, deps.clock.now());
};

const judgeWait = (row: WaitRow, execution: Execution, now: number): WaitState => {
  const waitedMs = Math.max(0, now - row.at);
  if (now >= row.until) return { kind: 'over', by: 'time', waitedMs, until: row.until };
  if (row.wakeOnInput && execution.wakingInputs > row.waking) {
    return { kind: 'over', by: 'input', waitedMs, until: row.until };
  }
  return { kind: 'running', row };
};

/**
 * Waits in mid-step, like a question to a person: no lease, no commit, no attempt. The mark for `tick` stands in the same
 * transaction; up to 900 s a delayed message comes by itself.
 * @returns `overtaken` when a message that would end it is there already; nothing was written then
 * @throws LeaseLost
 */
export const parkWait = async (turn: Turn, wait: Wait): Promise<'parked' | 'overtaken'> => {
  const { deps, lease, execution, delivery } = turn;
  const begun = await findWait(deps, execution, wait.n);
  const row = begun ?? {
    until: wait.until,
    wakeOnInput: wait.wakeOnInput,
    waking: wait.waking,
    at: deps.clock.now(),
  };
  const parked = await standStill(deps, lease, execution, {
    event: 'wait',
    ...(row.wakeOnInput && { unless: eq(A.wakingInputs, row.waking) }),
    changes: [
      set(A.waitUntil, row.until),
      row.wakeOnInput ? set(A.wakeOnInput, true) : remove(A.wakeOnInput),
      // Should the send be lost, this very message stands in for it.
      set(A.messageId, delivery.messageId),
      ...setMark(waitMark(execution.executionId, row.until, deps.clock.now())),
    ],
    beside: begun === undefined ? [{ put: waitItem(execution, wait.n, row) }] : [],
    cost: wait.cost,
  });
  if (parked === 'parked') await sendWhenDue(deps, { ...execution, status: 'WAIT_STEP' }, row.until);
  return parked;
};
