import { keys } from '../../kernel/keys.ts';
import { add, addFrom, and, ConditionFailed, eq, type Item, le, lt, missing, or, set } from '../../kernel/table.ts';
import { A, EXECUTION_VERSION, type Execution, readExecution } from '../execution.ts';
import { type Delivery, messageFor, type StepMessage } from '../message.ts';
import { isTerminal } from '../status.ts';
import type { StepDeps } from './deps.ts';
import { isOverdue, wakeWait } from './wake-wait.ts';

/** A step that overtook a slow commit looks again after this long. */
const AHEAD_SECONDS = 2;
/**
 * A message that comes this much before its time may be the very one that was sent for it: whoever set the time has a
 * clock that is ahead of mine. Far more than the clocks of AWS differ by, and less than a copy may linger.
 */
const EARLY_MS = 60_000;

export type Claim =
  | { readonly kind: 'mine'; readonly execution: Execution }
  /** Nothing to do: the message dies here. */
  | { readonly kind: 'done' }
  /** The message comes back after so many seconds. */
  | { readonly kind: 'later'; readonly seconds: number };

/**
 * Takes the lease of one step. The condition knows no "or mine": a claim that was applied but whose answer was lost is
 * recognised by the owner in the refused item, so that no attempt is booked twice.
 */
export const claim = async (
  deps: StepDeps,
  message: StepMessage,
  delivery: Delivery,
  owner: string,
): Promise<Claim> => {
  const now = deps.clock.now();
  try {
    const item = await deps.table.update(
      keys.execution(message.orgId, message.executionId),
      [
        set(A.leaseOwner, owner),
        set(A.leaseUntil, now + deps.settings.leaseMs),
        set(A.leaseMessage, delivery.messageId),
        add(A.attempts, 1),
        add(A.claims, 1),
        addFrom(A.reserved, A.worst),
      ],
      and(
        // A row of a newer writer is left as it is: the refused item then says that it cannot be read.
        eq(A.version, EXECUTION_VERSION),
        eq(A.status, 'RUNNING'),
        eq(A.seq, message.seq),
        or(missing(A.notBefore), le(A.notBefore, now)),
        or(missing(A.leaseUntil), lt(A.leaseUntil, now)),
      ),
    );
    return { kind: 'mine', execution: readExecution(item) };
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    return judgeRefusal(deps, error.item, message, delivery, owner);
  }
};

/** The order of these questions is part of the protocol: each one answers a counterexample. */
const judgeRefusal = async (
  deps: StepDeps,
  item: Item | undefined,
  message: StepMessage,
  delivery: Delivery,
  owner: string,
): Promise<Claim> => {
  if (item === undefined) {
    deps.log.warn('A step message names an execution that does not exist.', { seq: message.seq });
    return { kind: 'done' };
  }
  const execution = readExecution(item);
  if (execution.leaseOwner === owner && execution.seq === message.seq) return { kind: 'mine', execution };
  if (isTerminal(execution.status)) return { kind: 'done' };
  // It overtook a slow commit. Acked here, nobody would send it again.
  if (message.seq > execution.seq) return { kind: 'later', seconds: AHEAD_SECONDS };
  const now = deps.clock.now();
  const leaseMs = (execution.leaseUntil ?? 0) - now;
  const leaseEnd: Claim = { kind: 'later', seconds: Math.ceil(leaseMs / 1000) + 1 };
  // The holder's own message, delivered twice, whatever the status: a copy that acks it takes the holder's safety net away.
  if (leaseMs >= 0 && execution.leaseMessage === delivery.messageId) return leaseEnd;
  const own = execution.messageId === delivery.messageId;
  if (execution.status === 'WAIT_STEP' && message.seq === execution.seq) {
    const standing = await judgeWait(deps, execution, own);
    return standing === 'over' ? claim(deps, message, delivery, owner) : standing;
  }
  if (execution.status !== 'RUNNING') return { kind: 'done' };
  if (message.seq < execution.seq) {
    // The commit that consumed this very message may have died before its send. Any other message is a copy and dies.
    if (own && execution.seq === message.seq + 1) await send(deps, execution, 0);
    return { kind: 'done' };
  }
  if (execution.notBefore !== undefined && execution.notBefore > now) {
    // Likewise for the release that set it: only the message it consumed may stand in for a lost send.
    if (own) await sendWhenDue(deps, execution, execution.notBefore);
    return tooEarly(execution.notBefore - now, own);
  }
  // Any other message that meets a live lease is a copy: the holder's own stays in the queue until the holder is done.
  if (leaseMs >= 0) return { kind: 'done' };
  // The lease ended between the refusal and now.
  return { kind: 'later', seconds: 1 };
};

const tooEarly = (earlyMs: number, own: boolean): Claim =>
  own || earlyMs > EARLY_MS ? { kind: 'done' } : { kind: 'later', seconds: Math.ceil(earlyMs / 1000) };

/** A message that finds the step waiting: it ends a wait whose time has come, and is early for any other. */
const judgeWait = async (deps: StepDeps, execution: Execution, own: boolean): Promise<Claim | 'over'> => {
  const { waitUntil } = execution;
  // It waits for the end of its children, which wakes it.
  if (waitUntil === undefined) return { kind: 'done' };
  const now = deps.clock.now();
  if (isOverdue(execution, now)) {
    await wakeWait(deps, execution);
    return 'over';
  }
  // The park that consumed this very message may have died before its send.
  if (own) await sendWhenDue(deps, execution, waitUntil);
  return tooEarly(waitUntil - now, own);
};

export const send = (deps: Pick<StepDeps, 'steps'>, execution: Execution, delaySeconds: number): Promise<void> =>
  deps.steps.send(messageFor(execution), { delaySeconds, tenant: execution.orgId });

/** SQS delays at most 900 s; what is due later waits for `tick`, which finds it by its mark. */
export const MAX_DELAY_SECONDS = 900;

export const sendWhenDue = async (
  deps: Pick<StepDeps, 'steps' | 'clock'>,
  execution: Execution,
  at: number,
): Promise<void> => {
  const seconds = Math.max(0, Math.ceil((at - deps.clock.now()) / 1000));
  if (seconds <= MAX_DELAY_SECONDS) await send(deps, execution, seconds);
};
