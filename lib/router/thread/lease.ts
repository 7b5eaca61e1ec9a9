/**
 * The lease of a Thread's one Eval: owner, epoch, dirty. A claim raises the epoch, which fences every write of a holder;
 * whoever stores a Trigger raises `dirty`; a holder lets go only if `dirty` is what it saw before it looked.
 */
import type { Delivery } from '../../execution/message.ts';
import { ifStill } from '../../kernel/if-still.ts';
import { keys } from '../../kernel/keys.ts';
import { type Clock, type Log, MessageGone, type Queue } from '../../kernel/ports.ts';
import {
  add,
  and,
  type Change,
  type Condition,
  ConditionFailed,
  eq,
  gt,
  type Item,
  le,
  lt,
  missing,
  or,
  remove,
  set,
  type Table,
} from '../../kernel/table.ts';
import { ROW_VERSION } from '../../tenancy/row.ts';
import type { AssessMessage } from '../message.ts';
import { markChanges, noMark } from './mark.ts';
import { readThread, type Thread } from './thread.ts';

export interface LeaseDeps {
  readonly table: Table;
  readonly clock: Clock;
  readonly log: Log;
  readonly assess: Queue<AssessMessage>;
  readonly settings: { readonly leaseMs: number };
}

export type ThreadClaim =
  | { readonly kind: 'mine'; readonly thread: Thread }
  /** Nothing to do here: whoever holds the lease sees `dirty`, and its own message stays in the queue. */
  | { readonly kind: 'done' }
  /** The message comes back after so many seconds. */
  | { readonly kind: 'later'; readonly seconds: number };

/** Somebody else may hold the Thread by now: write nothing more, let the message come back. */
export class ThreadLost extends Error {
  override readonly name = 'ThreadLost';
}

/** Mine, and not ended. */
export const heldBy = (owner: string, { epoch }: Pick<Thread, 'epoch'>, now: number): Condition =>
  and(eq('owner', owner), eq('epoch', epoch), gt('leaseUntil', now));

/**
 * Takes the lease. As with a step, a message that meets a live one dies, except the holder's own: that one stays until
 * the holder is done, and is what brings the Thread back when the holder dies.
 */
export const claimThread = async (
  deps: LeaseDeps,
  { orgId, threadId }: AssessMessage,
  { messageId }: Delivery,
  owner: string,
): Promise<ThreadClaim> => {
  const now = deps.clock.now();
  try {
    const item = await deps.table.update(
      keys.thread(orgId, threadId),
      [
        set('owner', owner),
        set('leaseUntil', now + deps.settings.leaseMs),
        set('leaseMessage', messageId),
        add('epoch', 1),
        add('attempts', 1),
        remove('notBefore'),
      ],
      and(
        eq('v', ROW_VERSION),
        or(missing('leaseUntil'), lt('leaseUntil', now)),
        or(missing('notBefore'), le('notBefore', now)),
      ),
    );
    return { kind: 'mine', thread: readThread(item) };
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    return judgeRefusal(deps, error.item, messageId, owner, now);
  }
};

const judgeRefusal = (
  { log }: LeaseDeps,
  item: Item | undefined,
  messageId: string,
  owner: string,
  now: number,
): ThreadClaim => {
  if (item === undefined) {
    log.warn('A message names a Thread that does not exist.');
    return { kind: 'done' };
  }
  const thread = readThread(item);
  // The answer of my own claim was lost.
  if (thread.owner === owner) return { kind: 'mine', thread };
  if (thread.leaseMessage !== messageId) return { kind: 'done' };
  const until = Math.max(thread.leaseUntil ?? now, thread.notBefore ?? now);
  return { kind: 'later', seconds: Math.ceil(Math.max(0, until - now) / 1000) + 1 };
};

/** The holder's side: a heartbeat extends the lease, and the message's invisibility with it. */
export class ThreadLease {
  readonly owner: string;
  readonly epoch: number;
  readonly #deps: LeaseDeps;
  readonly #thread: Thread;
  readonly #delivery: Delivery;
  readonly #abort = new AbortController();
  readonly #stop = new AbortController();
  readonly #beating: Promise<void>;

  constructor(deps: LeaseDeps, thread: Thread, owner: string, delivery: Delivery) {
    this.#deps = deps;
    this.#thread = thread;
    this.owner = owner;
    this.epoch = thread.epoch;
    this.#delivery = delivery;
    this.#beating = this.#beat();
  }

  /** Aborted when the lease is lost. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** For every write of the holder. */
  condition(): Condition {
    return heldBy(this.owner, this.#thread, this.#deps.clock.now());
  }

  /** @throws ThreadLost when the row shows another holder, or none */
  check(thread: Thread): void {
    const mine = thread.owner === this.owner && thread.epoch === this.epoch;
    if (!mine || (thread.leaseUntil ?? 0) <= this.#deps.clock.now()) throw new ThreadLost('The Thread was taken over.');
  }

  /** Ends the heartbeat and waits for a beat under way. */
  async stop(): Promise<void> {
    this.#stop.abort('stopped');
    await this.#beating;
  }

  /**
   * Lets go, because nothing was pending: only if nothing was stored since `dirty` was read.
   * @param also further changes of the row
   * @returns false when there is something new to look at
   * @throws ThreadLost
   */
  async release(dirty: number, also: readonly Change[] = []): Promise<boolean> {
    const done = await this.#let([...noMark, remove('leaseMessage'), set('attempts', 0), ...also], eq('dirty', dirty));
    if (done) return true;
    const item = await this.#deps.table.get(this.#key, { consistent: true });
    if (item === undefined) throw new ThreadLost('The Thread is gone.');
    const thread = readThread(item);
    // The answer of an earlier try was lost.
    if (thread.epoch === this.epoch && thread.owner === undefined) return true;
    this.check(thread);
    return false;
  }

  /** Lets go with something left to do: the mark says when somebody looks again. A lost lease is somebody else's by now. */
  async handOver(changes: readonly Change[]): Promise<void> {
    await this.#let(changes);
  }

  /** Lets go until the holder's own message comes back; no other is to claim it before. */
  async backOff(seconds: number): Promise<void> {
    await this.#let([set('notBefore', this.#deps.clock.now() + seconds * 1000)]);
  }

  /** Lets go until a time; the clock looks then. */
  async park(at: number, also: readonly Change[] = []): Promise<void> {
    await this.#let([...markChanges(this.#thread.id, at), ...also]);
  }

  get #key() {
    return keys.thread(this.#thread.orgId, this.#thread.id);
  }

  async #let(changes: readonly Change[], only?: Condition): Promise<boolean> {
    const held = and(eq('owner', this.owner), eq('epoch', this.epoch));
    const gone = [remove('owner'), remove('leaseUntil')];
    const condition = only === undefined ? held : and(held, only);
    const done = await ifStill(() => this.#deps.table.update(this.#key, [...gone, ...changes], condition));
    // A holder that goes on keeps its heartbeat.
    if (done || only === undefined) await this.stop();
    return done;
  }

  async #beat(): Promise<void> {
    const { clock, settings, log, assess, table } = this.#deps;
    for (;;) {
      await clock.sleep(settings.leaseMs / 3, this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      const now = clock.now();
      try {
        const held = heldBy(this.owner, this.#thread, now);
        await table.update(this.#key, [set('leaseUntil', now + settings.leaseMs)], held);
        await assess.changeVisibility(this.#delivery.receiptHandle, Math.ceil(settings.leaseMs / 1000) + 1);
      } catch (error) {
        // A copy of a message that was deleted: the Thread's mark brings it back if this holder dies.
        if (error instanceof MessageGone) continue;
        if (error instanceof ConditionFailed) {
          this.#abort.abort('the lease is lost');
          return;
        }
        // A throttled beat is no loss: the next one may pass before the lease ends.
        log.warn('A heartbeat failed.', { error: String(error) });
      }
    }
  }
}
