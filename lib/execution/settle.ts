/** How a permission is settled, by a person or by the clock: in one transaction with the run that waits for it. */
import { keys } from '../kernel/keys.ts';
import { and, type Change, eq, gt, missing, or, remove, set, TransactionRefused } from '../kernel/table.ts';
import { wake } from './control.ts';
import { A, type Execution } from './execution.ts';
import { getExecution } from './get.ts';
import { counted, numberAsSeen } from './numbered.ts';
import type { AskRow } from './rows.ts';
import type { Status } from './status.ts';
import { intoRunning } from './step/changes.ts';
import type { ExecutionDeps } from './step/deps.ts';

/** Reason of a run that is PAUSED because nobody decided in time. */
export const PERMISSION_EXPIRED = 'permission_expired';

export interface Settlement {
  readonly state: 'approved' | 'rejected' | 'expired';
  /** Id of the key that decides; `system` for the clock. */
  readonly actor: string;
  readonly feedback?: string | undefined;
}

/** Whether the run stands where this permission holds it up, paused meanwhile or not. */
export const waitsFor = (execution: Execution, ask: AskRow): boolean =>
  execution.seq === ask.seq &&
  (execution.status === 'WAITING_FOR_PERMISSION' ||
    (execution.status === 'PAUSED' && execution.pausedFrom === 'WAITING_FOR_PERMISSION'));

/** `since` is the version of the status: whoever moved the run meanwhile has changed it. */
export const asSeen = (execution: Execution) =>
  and(
    eq(A.status, execution.status),
    eq(A.since, execution.since),
    eq(A.seq, execution.seq),
    numberAsSeen(execution),
    execution.pausedFrom === undefined ? missing(A.pausedFrom) : eq(A.pausedFrom, execution.pausedFrom),
  );

/**
 * Its time is over, and the clock has not come by yet. Where an expiry has paused the run the mark is gone with the limit:
 * such a permission waits for a person as long as it takes.
 * @param now ms
 */
export const isOverdue = (ask: AskRow, now: number): boolean =>
  ask.dueSk !== undefined && ask.expiresAt !== undefined && ask.expiresAt <= now;

/** `isOverdue` in the write itself: between the look and the write time passes, and the clock of `tick` is another one. */
const inTime = (now: number) => or(missing('dueSk'), missing('expiresAt'), gt('expiresAt', now));

/** A person's pause outlasts the decision; the pause that stands for the missing decision ends with it. */
const goesOn = (execution: Execution): boolean =>
  execution.status !== 'PAUSED' || execution.reason === PERMISSION_EXPIRED;

const wakeChanges = (execution: Execution, now: number): readonly Change[] =>
  goesOn(execution)
    ? [
        set(A.status, 'RUNNING' satisfies Status),
        set(A.since, now),
        remove(A.pausedFrom),
        remove(A.reason),
        ...intoRunning(execution.executionId, now),
      ]
    : [set(A.pausedFrom, 'RUNNING' satisfies Status)];

/**
 * Settles a pending permission once: the row and the execution move in one transaction, so that an approval can never be
 * lost between them.
 * @param execution as read, and waiting for this permission
 * @returns false when somebody decided, paused or ended it meanwhile, or its time is over: to be judged anew
 */
export const settlePermission = async (
  deps: ExecutionDeps,
  ask: AskRow,
  execution: Execution,
  { state, actor, feedback }: Settlement,
): Promise<boolean> => {
  const { orgId, executionId } = execution;
  const now = deps.clock.now();
  const change = { execution, from: execution.status, to: 'RUNNING' as const, reason: undefined, at: now };
  const runs = goesOn(execution);
  try {
    await deps.table.transact([
      {
        update: keys.execution(orgId, executionId),
        changes: [set(A.updated, now), ...wakeChanges(execution, now), ...(runs ? [counted(execution)] : [])],
        if: asSeen(execution),
      },
      {
        update: keys.ask(orgId, executionId, ask.seq, ask.n),
        changes: [
          set('state', state),
          set('decidedAt', now),
          set('decidedBy', actor),
          ...(feedback === undefined ? [] : [set('feedback', feedback)]),
          remove('duePk'),
          remove('dueSk'),
        ],
        if: state === 'expired' ? eq('state', 'pending') : and(eq('state', 'pending'), inTime(now)),
      },
      ...(deps.upper.asks?.({ ask: { ...ask, state }, at: now }) ?? []),
      ...(runs ? deps.upper.writes(change) : []),
    ]);
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error;
    return false;
  }
  if (runs) {
    await deps.upper.wake(change);
    await wake(deps, await getExecution(deps.table, { orgId, executionId }));
  }
  return true;
};
