/**
 * The holder's side of a lease on a row, whatever the row is: steps and Threads are held alike. How it is claimed, let go,
 * and what every write of a holder stands on (owner, and `seq` or `epoch`) is said beside the rows.
 */
import { type Clock, type Log, MessageGone } from '../kernel/ports.ts';
import { ConditionFailed } from '../kernel/table.ts';

/** Somebody else may hold it by now: stop, write nothing more, let the message come back. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

export interface LeaseDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: { readonly leaseMs: number };
}

/** What is held, by whom, and by which message; each of the two functions is one request. */
export interface Holding {
  /** A name nobody else has, as the claim wrote it. */
  readonly owner: string;
  /** The end of the lease as the claim wrote it, ms since the epoch. */
  readonly until: number;
  /**
   * Writes a later end into the row, under the condition that it is held by this claim and has not ended at `now`: its
   * message may have come back and died meanwhile, and nothing would follow.
   * @throws ConditionFailed
   */
  readonly extend: (until: number, now: number) => Promise<unknown>;
  /**
   * Hides the message that brings it back if the holder dies, for so many seconds from now.
   * @throws MessageGone
   */
  readonly hide: (seconds: number) => Promise<void>;
}

/**
 * A heartbeat extends the lease, and the message's invisibility with it, while a model call or a tool is long. It aborts
 * `signal` when the lease is lost or was taken away.
 */
export class Lease {
  readonly owner: string;
  readonly #deps: LeaseDeps;
  readonly #holding: Holding;
  readonly #abort = new AbortController();
  readonly #stop = new AbortController();
  #until: number;
  #orphaned = false;
  #beating: Promise<void>;
  #extending: Promise<unknown> = Promise.resolve();

  constructor(deps: LeaseDeps, holding: Holding) {
    this.#deps = deps;
    this.#holding = holding;
    this.owner = holding.owner;
    this.#until = holding.until;
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
   * Asks the table, not my own clock, whether it is still mine; a whole lease is left then. For what must not be done
   * beside a successor whose clock is ahead of mine.
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
    const now = this.#deps.clock.now();
    const until = Math.max(this.#until, now + ms);
    try {
      await this.#holding.extend(until, now);
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      this.#abort.abort('the lease is lost');
      throw new LeaseLost('The lease ended, or was taken away.');
    }
    this.#until = until;
    // The message must not come back before the lease ends, nor long after it.
    try {
      await this.#holding.hide(Math.ceil((until - now) / 1000) + 1);
    } catch (error) {
      if (!(error instanceof MessageGone)) throw error;
      this.#orphaned = true;
      this.#abort.abort('the message is gone');
      throw new LeaseLost('The message under this lease is gone.');
    }
  }
}
