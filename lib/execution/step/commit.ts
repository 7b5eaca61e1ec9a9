import { keys } from '../../kernel/keys.ts';
import { add, and, type Change, type Condition, eq, oneOf, remove, set, type Write } from '../../kernel/table.ts';
import { A, type Execution } from '../execution.ts';
import { dropMark, setMark, stallMark } from '../mark.ts';
import type { Delivery } from '../message.ts';
import type { Status } from '../status.ts';
import type { Spent } from './buy.ts';
import { clockStopped, leaseGone } from './changes.ts';
import { send } from './claim.ts';
import type { StepDeps } from './deps.ts';
import type { Stop } from './fuses.ts';
import { fenced, holds, type Lease, LeaseLost, stillHeld } from './lease.ts';
import { isRefused, refusedRow, stopChanges, writeStatus } from './stop.ts';

/** What a finished step changes beside its number. */
export interface StepDone {
  /** 1 for a step's own model call, 0 for a summary. */
  readonly calls: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly spent: Spent;
  /** Inputs up to here were in the prompt of the reply that this step used. */
  readonly consumed: number;
  readonly nextPhase: Execution['phase'];
  readonly changes: readonly Change[];
  /** What the next step can cost at most, micro-dollars. */
  readonly worst: number;
  /** Seconds until the next step. */
  readonly delaySeconds: number;
  /** The window as the next step reads it. */
  readonly windowFrom: number;
  readonly summarySeq: number | undefined;
}

export type Ending =
  | { readonly status: 'COMPLETED'; readonly changes: readonly Change[]; readonly waking: number }
  | { readonly status: 'ERROR_PAUSED'; readonly stop: Stop };

/**
 * The changes of R4. Cost: what this claim really spent, plus the worst case of every other claim of this seq, for each
 * of them may have bought a reply before it was lost.
 */
const commitChanges = (execution: Execution, delivery: Delivery, done: StepDone): readonly Change[] => [
  set(A.seq, execution.seq + 1),
  set(A.phase, done.nextPhase),
  ...leaseGone,
  set(A.attempts, 0),
  set(A.claims, 0),
  remove(A.notBefore),
  set(A.waitedMs, 0),
  remove(A.lastError),
  set(A.messageId, delivery.messageId),
  set(A.consumed, done.consumed),
  add(A.calls, done.calls),
  add(A.tokensIn, done.tokensIn + done.spent.wastedIn),
  add(A.tokensOut, done.tokensOut + done.spent.wastedOut),
  add(A.cost, done.spent.cost + Math.max(0, execution.reserved - execution.worst)),
  set(A.reserved, 0),
  set(A.worst, done.worst),
  ...done.changes,
];

const fence = (lease: Lease, execution: Execution, now: number): Condition =>
  and(stillHeld(lease.owner, execution, now), oneOf(A.status, ['RUNNING', 'PAUSED']));

/** The mark moves forward at most once a minute; the index is written only then. */
const movedMark = (execution: Execution, now: number): readonly Change[] => {
  const mark = stallMark(execution.executionId, now);
  if (execution.duePk === mark.duePk && execution.dueSk !== undefined && execution.dueSk >= mark.dueSk) return [];
  return [...setMark(mark), remove(A.dueBackoff)];
};

/**
 * R4 and the send. The send goes beside the commit where the delay leaves the commit time to land first, after it
 * otherwise; a message that overtakes a slow commit waits in the queue (see claim).
 * @throws LeaseLost when the fence refuses: the message comes back and is judged as a redelivery
 */
export const commitStep = async (
  deps: StepDeps,
  lease: Lease,
  execution: Execution,
  delivery: Delivery,
  done: StepDone,
): Promise<void> => {
  await lease.stop();
  const now = deps.clock.now();
  const next: Execution = {
    ...execution,
    seq: execution.seq + 1,
    windowFrom: done.windowFrom,
    summarySeq: done.summarySeq,
  };
  const commit = fenced(() =>
    deps.table.update(
      keys.execution(execution.orgId, execution.executionId),
      [...commitChanges(execution, delivery, done), set(A.updated, now), ...movedMark(execution, now)],
      fence(lease, execution, now),
    ),
  );
  if (done.delaySeconds >= 1) await settleAll([commit, send(deps, next, done.delaySeconds)]);
  else {
    await commit;
    await send(deps, next, 0);
  }
  deps.metrics.count('StepsCommitted');
};

/** Both have ended before a failure is passed on; the commit's comes first. */
const settleAll = async (work: readonly Promise<unknown>[]): Promise<void> => {
  for (const result of await Promise.allSettled(work)) if (result.status === 'rejected') throw result.reason;
};

/**
 * A commit that changes the status too. The end of a run conditions on the waking inputs its prompt contained: what
 * arrived meanwhile is answered instead.
 * @returns `overtaken` when such an input is there; nothing was written then
 * @throws LeaseLost
 */
export const commitEnding = async (
  deps: StepDeps,
  lease: Lease,
  execution: Execution,
  delivery: Delivery,
  done: StepDone,
  ending: Ending,
): Promise<'ended' | 'overtaken'> => {
  await lease.stop();
  const now = deps.clock.now();
  const attempt = async (from: Status, ends: readonly Change[], guard: Condition): Promise<void> => {
    const write: Write & { update: unknown } = {
      update: keys.execution(execution.orgId, execution.executionId),
      changes: [...commitChanges(execution, delivery, done), ...ends],
      if: guard,
    };
    const reason = ending.status === 'ERROR_PAUSED' ? ending.stop.reason : undefined;
    await writeStatus(deps, { execution, from, to: ending.status, reason, at: now }, write);
  };
  try {
    if (ending.status === 'COMPLETED') {
      const ends = [
        set(A.status, 'COMPLETED'),
        set(A.since, now),
        set(A.updated, now),
        set(A.finished, now),
        remove(A.pausedFrom),
        remove(A.reason),
        remove(A.errorCode),
        remove(A.errorMessage),
        ...clockStopped(execution, now),
        ...dropMark,
        ...ending.changes,
      ];
      await attempt('RUNNING', ends, and(fence(lease, execution, now), eq(A.wakingInputs, ending.waking)));
    } else {
      const ends = [...stopChanges(ending.stop, 'ERROR_PAUSED', now), ...clockStopped(execution, now)];
      await attempt('RUNNING', ends, and(fence(lease, execution, now), eq(A.status, 'RUNNING')));
    }
    deps.metrics.count('StepsCommitted');
    return 'ended';
  } catch (error) {
    if (!isRefused(error)) throw error;
    const row = refusedRow(error);
    if (row !== undefined && holds(row, lease.owner, execution.seq, now)) return 'overtaken';
    throw new LeaseLost('The commit was refused.');
  }
};
