import { keys } from '../../kernel/keys.ts';
import { add, and, type Change, type Condition, eq, oneOf, remove, set, type Write } from '../../kernel/table.ts';
import { type Lease, LeaseLost } from '../../lease/lease.ts';
import { A, type Execution } from '../execution.ts';
import type { FeedRow, ReplyRow, SummaryRow } from '../feed.ts';
import { dropMark, setMark, stallMark } from '../mark.ts';
import type { Delivery } from '../message.ts';
import type { Status } from '../status.ts';
import { usageTextOf } from '../used.ts';
import type { Spent } from './buy.ts';
import { clockStopped, leaseGone } from './changes.ts';
import { send } from './claim.ts';
import type { StepDeps } from './deps.ts';
import type { Stop } from './fuses.ts';
import { fenced, holds, stillHeld } from './lease.ts';
import { isRefused, refusedRow, stopChanges, writeStatus } from './stop.ts';
import { endTurn, type TurnEnd } from './turn-end.ts';
import { usedAfter } from './use.ts';
import { writeCommit } from './warn.ts';

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
  /** The stored reply or summary of this step, and the rows that followed it: the figures by model and tool. */
  readonly reply?: ReplyRow | SummaryRow | undefined;
  readonly rows?: readonly FeedRow[] | undefined;
}

export type Ending =
  | { readonly status: 'COMPLETED'; readonly changes: readonly Change[]; readonly waking: number }
  | { readonly status: 'ERROR_PAUSED'; readonly stop: Stop }
  /** Only the turn ends: the run stands until the next message, or, where it yields its place, until it has one again. */
  | { readonly status: 'WAITING_FOR_INPUT'; readonly turn: TurnEnd; readonly waking: number };

/**
 * The changes of R4. Cost: what this claim really spent, plus the worst case of every other claim of this seq, for each
 * of them may have bought a reply before it was lost.
 */
const commitChanges = (
  deps: StepDeps,
  execution: Execution,
  delivery: Delivery,
  done: StepDone,
  ends = false,
): readonly Change[] => [
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
  add(A.tokensIn, done.tokensIn + (done.spent.wasted?.tokensIn ?? 0)),
  add(A.tokensOut, done.tokensOut + (done.spent.wasted?.tokensOut ?? 0)),
  add(A.cost, done.spent.cost + Math.max(0, execution.reserved - execution.worst)),
  set(A.reserved, 0),
  set(A.worst, done.worst),
  // Nobody but the holder writes it, so that the claimed row tells what it was.
  set(A.usage, usageTextOf(usedAfter(deps.tools, execution.usage, done, ends))),
  ...(execution.waitUntil === undefined ? [] : [remove(A.waitUntil), remove(A.wakeOnInput)]),
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
  const moved = movedMark(execution, now);
  const next: Execution = {
    ...execution,
    seq: execution.seq + 1,
    windowFrom: done.windowFrom,
    summarySeq: done.summarySeq,
  };
  const commit = fenced(() =>
    writeCommit(
      deps,
      execution,
      {
        update: keys.execution(execution.orgId, execution.executionId),
        changes: [...commitChanges(deps, execution, delivery, done), set(A.updated, now), ...moved],
        if: fence(lease, execution, now),
      },
      execution.cost + done.spent.cost + Math.max(0, execution.reserved - execution.worst),
      now,
    ),
  );
  if (done.delaySeconds >= 1) await settleAll([commit, send(deps, next, done.delaySeconds)]);
  else {
    await commit;
    await send(deps, next, 0);
  }
  deps.metrics.count('StepsCommitted');
  // Somebody may have paused it meanwhile: no event will follow that would tell of this step.
  const isMoment = moved.length > 0 || (await commit)?.[A.status] !== 'RUNNING';
  if (isMoment) await tellCommitted(deps, next);
};

/** Nothing of the step depends on it, and the next moment makes good what this one missed. */
const tellCommitted = async (deps: StepDeps, execution: Execution): Promise<void> => {
  try {
    await deps.upper.committed?.(execution);
  } catch (error) {
    deps.log.warn('A floor above could not follow a commit; the next one will be.', { error: String(error) });
  }
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
      changes: [...commitChanges(deps, execution, delivery, done, ending.status === 'COMPLETED'), ...ends],
      if: guard,
    };
    const stop = ending.status === 'ERROR_PAUSED' ? ending.stop : undefined;
    const change = { execution, from, to: ending.status, reason: stop?.reason, message: stop?.message, at: now };
    await writeStatus(deps, change, write);
  };
  try {
    if (ending.status === 'WAITING_FOR_INPUT') {
      await endTurn(deps, lease, execution, commitChanges(deps, execution, delivery, done), ending, now);
    } else if (ending.status === 'COMPLETED') {
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
