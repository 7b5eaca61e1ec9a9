import { keys } from '../../kernel/keys.ts';
import { MessageGone } from '../../kernel/ports.ts';
import { and, ConditionFailed, eq, set } from '../../kernel/table.ts';
import { type Lease, LeaseLost } from '../../lease/lease.ts';
import { A, type Execution, readExecution } from '../execution.ts';
import type { Delivery, StepMessage } from '../message.ts';
import { leaseGone } from './changes.ts';
import { claim, send } from './claim.ts';
import type { Turn } from './claimed.ts';
import { NotYet, type StepDeps } from './deps.ts';
import { attemptsExhausted } from './fuses.ts';
import { holdLease } from './lease.ts';
import { type Draft, loadDraft, settleWindow } from './load.ts';
import { readLeftovers } from './recover.ts';
import { holdStep } from './release.ts';
import { stopStep } from './stop.ts';
import { condense, think } from './turn.ts';
import { isOverdue, wakeWait } from './wake-wait.ts';
import { work } from './workflow/work.ts';

/**
 * One step: claim ∥ load, think, store the reply, act, store the outcomes, commit, send. Returning means the message has
 * done its work.
 * @throws NotYet, or whatever failed: the message stays in the queue and comes back
 */
export const processStep = async (
  deps: StepDeps,
  message: StepMessage,
  delivery: Delivery,
  remainingMs: () => number,
): Promise<void> => {
  const owner = deps.newOwner();
  const claimedAt = deps.clock.now();
  const leaseSeconds = Math.ceil(deps.settings.leaseMs / 1000) + 1;
  if (message.wake === true && (await wakeFirst(deps, message, delivery, leaseSeconds))) return;
  const [claimed, draft, visible] = await Promise.allSettled([
    claim(deps, message, delivery, owner),
    loadDraft(deps, message),
    // A crash is found when the lease ends, not when the queue's own visibility time-out does.
    deps.steps.changeVisibility(delivery.receiptHandle, leaseSeconds),
  ]);
  if (claimed.status === 'rejected') throw claimed.reason;
  if (claimed.value.kind === 'done') return;
  if (claimed.value.kind === 'later') {
    await deps.steps.changeVisibility(delivery.receiptHandle, claimed.value.seconds);
    throw new NotYet('Somebody else is at this step, or it is ahead of its commit.');
  }
  const { execution } = claimed.value;
  const lease = holdLease(deps, execution, owner, delivery);
  const dailyBudget = draft.status === 'fulfilled' ? draft.value.dailyBudget : undefined;
  const turn: Turn = { deps, lease, execution, delivery, claimedAt, remainingMs, dailyBudget };
  try {
    if (visible.status === 'rejected') {
      if (visible.reason instanceof MessageGone) return await passOn(deps, lease, execution);
      throw visible.reason;
    }
    if (draft.status === 'rejected') {
      // A row that cannot be read fails each time: the fuse has to end that too, not the message's last receive.
      const exhausted = attemptsExhausted(execution);
      if (exhausted === undefined) throw draft.reason;
      return await stopStep(deps, lease, execution, exhausted, 0);
    }
    await advance(turn, draft.value);
  } catch (error) {
    if (error instanceof NotYet) throw error;
    // Its model call may have been billed: booked at the worst case, never nothing.
    if (lease.orphaned) return await passOn(deps, lease, turn.execution, turn.execution.worst);
    if (error instanceof LeaseLost) throw new NotYet(error.message);
    await giveUp(deps, lease, execution, delivery, error);
    throw error;
  } finally {
    await lease.stop();
  }
};

/**
 * Of many waits that end in one second none keeps the others waiting with its thinking: each is only moved to RUNNING, and
 * thinks by a message of its own that comes behind them, in a crowd some seconds later.
 * @returns false when there was no wait to end: the message is judged like any other
 */
const wakeFirst = async (
  deps: StepDeps,
  message: StepMessage,
  delivery: Delivery,
  leaseSeconds: number,
): Promise<boolean> => {
  const [item] = await Promise.all([
    deps.table.get(keys.execution(message.orgId, message.executionId), { consistent: true }),
    // Should this process die after it has woken the run, the message comes back soon and stands in for the next one.
    deps.steps.changeVisibility(delivery.receiptHandle, leaseSeconds).catch((error: unknown) => {
      // A copy of a message that is deleted: whoever had it has seen to the wait, or does what follows.
      if (!(error instanceof MessageGone)) throw error;
    }),
  ]);
  const execution = item && readExecution(item);
  const now = deps.clock.now();
  if (execution?.seq !== message.seq || !isOverdue(execution, now)) return false;
  deps.crowd?.join(now);
  const aside = deps.crowd?.aside(execution.waitUntil ?? now, now) ?? 0;
  if (!(await wakeWait(deps, execution, aside))) return false;
  await send(deps, { ...execution, status: 'RUNNING' }, aside);
  return true;
};

/**
 * A copy of a message that is deleted already has no safety net: nothing would come back if this holder died. It gives the
 * step to a fresh message.
 */
const passOn = async (deps: StepDeps, lease: Lease, execution: Execution, spent?: number): Promise<void> => {
  try {
    await holdStep(deps, lease, execution, spent);
  } catch (error) {
    // Somebody else has it already, by a message of their own.
    if (error instanceof LeaseLost) return;
    throw error;
  }
  await send(deps, execution, 0);
};

const advance = async (turn: Turn, draft: Draft): Promise<void> => {
  const { deps, lease, execution } = turn;
  if (draft.stopped) return holdStep(deps, lease, execution);
  const exhausted = attemptsExhausted(execution);
  if (exhausted !== undefined) return stopStep(deps, lease, execution, exhausted, 0);
  const [window, leftovers] = await Promise.all([settleWindow(deps, draft, execution), readLeftovers(deps, execution)]);
  if (execution.phase === 'summarise') return condense(turn, window, leftovers);
  const { workflow } = window.pinned;
  return workflow === undefined ? think(turn, window, leftovers) : work(turn, window, leftovers, workflow);
};

/** Our own failure: the attempt is spent, the reason is kept, and the step comes back sooner than the lease would end. */
const giveUp = async (
  deps: StepDeps,
  lease: Lease,
  execution: Execution,
  delivery: Delivery,
  error: unknown,
): Promise<void> => {
  await lease.stop();
  deps.log.error('A step failed.', { error: error instanceof Error ? error.stack : String(error) });
  try {
    await deps.table.update(
      keys.execution(execution.orgId, execution.executionId),
      [...leaseGone, set(A.lastError, String(error instanceof Error ? error.message : error).slice(0, 200))],
      and(eq(A.leaseOwner, lease.owner), eq(A.seq, execution.seq)),
    );
    await deps.steps.changeVisibility(delivery.receiptHandle, 2 ** Math.min(execution.attempts, 6));
  } catch (second) {
    // Nothing is lost: the lease ends by itself and the message comes back then.
    if (!(second instanceof ConditionFailed))
      deps.log.warn('A failed step could not be given back.', { error: String(second) });
  }
};
