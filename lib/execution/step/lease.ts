import { keys } from '../../kernel/keys.ts';
import { MessageGone } from '../../kernel/ports.ts';
import { and, type Condition, ConditionFailed, eq, gt, set } from '../../kernel/table.ts';
import { A, type Execution } from '../execution.ts';
import type { Delivery } from '../message.ts';
import type { StepDeps } from './deps.ts';

/** Somebody else may hold the step by now: stop, write nothing more, let the message come back. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** The step is mine and my lease has not ended. */
export const stillHeld = (owner: string, execution: Pick<Execution, 'seq'>, now: number): Condition =>
  and(eq(A.leaseOwner, owner), eq(A.seq, execution.seq), gt(A.leaseUntil, now));

/** The same of a row that was read: a refusal then had another reason. */
export const holds = (row: Execution, owner: string, seq: number, now: number): boolean =>
  row.leaseOwner === owner && row.seq === seq && (row.leaseUntil ?? 0) > now;

/**
 * A write that only the holder may make. Refused, whether by a lost lease or a lost answer, it is an error: the message
 * comes back and is judged as a redelivery.
 * @throws LeaseLost
 */
export const fenced = async <T>(write: () => Promise<T>): Promise<T> => {
  try {
    return await write();
  } catch (error) {
    if (error instanceof ConditionFailed) throw new LeaseLost('The step was taken over.');
    throw error;
  }
};

/**
 * The holder's side of a lease: a heartbeat extends it, and the message's invisibility with it, while a model call or a
 * tool is long. It aborts `signal` when the lease is lost or the execution was terminated.
 */
export class Lease {
  readonly owner: string;
  readonly #deps: StepDeps;
  readonly #execution: Execution;
  readonly #delivery: Delivery;
  readonly #abort = new AbortController();
  readonly #stop = new AbortController();
  #until: number;
  #orphaned = false;
  #beating: Promise<void>;
  #extending: Promise<unknown> = Promise.resolve();

  constructor(deps: StepDeps, execution: Execution, owner: string, delivery: Delivery) {
    this.#deps = deps;
    this.#execution = execution;
    this.owner = owner;
    this.#delivery = delivery;
    this.#until = execution.leaseUntil ?? 0;
    this.#beating = this.#beat();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The message of this delivery was deleted meanwhile: nothing would come back if this holder died. */
  get orphaned(): boolean {
    return this.#orphaned;
  }

  /**
   * Makes sure that `ms` milliseconds of the lease are left.
   * @throws LeaseLost
   */
  async ensure(ms: number): Promise<void> {
    if (this.#abort.signal.aborted) throw new LeaseLost('The lease was lost.');
    // Looked at again after each extension: a process that stood still in the middle of one may have nothing left of it.
    while (this.#until - this.#deps.clock.now() < ms) await this.#extend(ms + this.#deps.settings.leaseMs);
  }

  /**
   * Asks the table, not my own clock, whether the step is still mine; a whole lease is left then. For what must not be
   * done beside a successor whose clock is ahead of mine.
   * @throws LeaseLost
   */
  async confirm(): Promise<void> {
    if (this.#abort.signal.aborted) throw new LeaseLost('The lease was lost.');
    await this.#extend(this.#deps.settings.leaseMs);
  }

  /** Ends the heartbeat and waits for a beat under way: a commit must not race with it. */
  async stop(): Promise<void> {
    this.#stop.abort('stopped');
    await this.#beating;
  }

  async #beat(): Promise<void> {
    const { clock, settings, log } = this.#deps;
    for (;;) {
      await clock.sleep(settings.leaseMs / 3, this.#stop.signal);
      if (this.#stop.signal.aborted || this.#abort.signal.aborted) return;
      try {
        await this.#extend(settings.leaseMs);
      } catch (error) {
        if (error instanceof LeaseLost) return;
        // A throttled beat is no loss: the next one may pass before the lease ends.
        log.warn('A heartbeat failed.', { error: String(error) });
      }
    }
  }

  /** One after the other: a beat must not shorten what `ensure` has just lengthened. */
  #extend(ms: number): Promise<void> {
    const next = this.#extending.then(() => this.#extendNow(ms));
    this.#extending = next.catch(() => undefined);
    return next;
  }

  async #extendNow(ms: number): Promise<void> {
    const { table, clock, steps } = this.#deps;
    const now = clock.now();
    const until = Math.max(this.#until, now + ms);
    try {
      await table.update(
        keys.execution(this.#execution.orgId, this.#execution.executionId),
        [set(A.leaseUntil, until)],
        // Only a lease that has not ended: its message may have come back and died meanwhile, and nothing would follow.
        stillHeld(this.owner, this.#execution, now),
      );
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      this.#abort.abort('the lease is lost');
      throw new LeaseLost('The lease ended, or the execution was stopped.');
    }
    this.#until = until;
    // The message must not come back before the lease ends, nor long after it.
    try {
      await steps.changeVisibility(this.#delivery.receiptHandle, Math.ceil((until - now) / 1000) + 1);
    } catch (error) {
      if (!(error instanceof MessageGone)) throw error;
      this.#orphaned = true;
      this.#abort.abort('the message is gone');
      throw new LeaseLost('The message that held this step is gone.');
    }
  }
}
