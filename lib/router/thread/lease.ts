/**
 * The lease of a Thread's one Eval: owner, epoch, dirty. A claim raises the epoch, which fences every write of a holder;
 * whoever stores a Trigger raises `dirty`; a holder lets go only if `dirty` is what it saw before it looked.
 */
import type { Delivery } from '../../execution/message.ts';
import { ifAllStill, ifStill } from '../../kernel/if-still.ts';
import { keys } from '../../kernel/keys.ts';
import type { Queue } from '../../kernel/ports.ts';
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
  type Write,
} from '../../kernel/table.ts';
import { Lease, type LeaseDeps, LeaseLost } from '../../lease/lease.ts';
import { ROW_VERSION } from '../../tenancy/row.ts';
import type { AssessMessage } from '../message.ts';
import { markChanges, noMark } from './mark.ts';
import { readThread, type Thread } from './thread.ts';

export interface ThreadLeaseDeps extends LeaseDeps {
  readonly table: Table;
  readonly assess: Queue<AssessMessage>;
}

/** What is written with the end of a lease: changes of the Thread's row, and further rows in the same transaction. */
export interface Besides {
  readonly changes?: readonly Change[] | undefined;
  readonly writes?: readonly Write[] | undefined;
}

export type ThreadClaim =
  | { readonly kind: 'mine'; readonly thread: Thread }
  /** Nothing to do here: whoever holds the lease sees `dirty`, and its own message stays in the queue. */
  | { readonly kind: 'done' }
  /** The message comes back after so many seconds. */
  | { readonly kind: 'later'; readonly seconds: number };

/** Mine, and not ended. */
export const heldBy = (owner: string, { epoch }: Pick<Thread, 'epoch'>, now: number): Condition =>
  and(eq('owner', owner), eq('epoch', epoch), gt('leaseUntil', now));

/**
 * Takes the lease. As with a step, a message that meets a live one dies, except the holder's own: that one stays until
 * the holder is done, and is what brings the Thread back when the holder dies.
 */
export const claimThread = async (
  deps: ThreadLeaseDeps,
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
  { log }: ThreadLeaseDeps,
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

/** The holder's side: the common one, and what lets a Thread go. Every write of a holder stands on `owner` and `epoch`. */
export class ThreadLease extends Lease {
  readonly epoch: number;
  readonly #deps: ThreadLeaseDeps;
  readonly #thread: Thread;

  constructor(deps: ThreadLeaseDeps, thread: Thread, owner: string, { receiptHandle }: Delivery) {
    super(deps, {
      owner,
      until: thread.leaseUntil ?? 0,
      extend: (until, now) =>
        deps.table.update(keys.thread(thread.orgId, thread.id), [set('leaseUntil', until)], heldBy(owner, thread, now)),
      hide: (seconds) => deps.assess.changeVisibility(receiptHandle, seconds),
    });
    this.#deps = deps;
    this.#thread = thread;
    this.epoch = thread.epoch;
  }

  /** For every write of the holder. */
  condition(): Condition {
    return heldBy(this.owner, this.#thread, this.#deps.clock.now());
  }

  /** @throws LeaseLost when the row shows another holder, or none */
  check(thread: Thread): void {
    const mine = thread.owner === this.owner && thread.epoch === this.epoch;
    if (!mine || (thread.leaseUntil ?? 0) <= this.#deps.clock.now()) throw new LeaseLost('The Thread was taken over.');
  }

  /**
   * Lets go, because nothing was pending: only if nothing was stored since `dirty` was read.
   * @param besides what becomes so with it
   * @returns false when there is something new to look at
   * @throws LeaseLost
   */
  async release(dirty: number, besides: Besides = {}): Promise<boolean> {
    const { changes = [], writes } = besides;
    const all = [...noMark, remove('leaseMessage'), set('attempts', 0), ...changes];
    if (await this.#let({ changes: all, writes }, eq('dirty', dirty))) return true;
    const item = await this.#deps.table.get(this.#key, { consistent: true });
    if (item === undefined) throw new LeaseLost('The Thread is gone.');
    const thread = readThread(item);
    // The answer of an earlier try was lost.
    if (thread.epoch === this.epoch && thread.owner === undefined) return true;
    this.check(thread);
    return false;
  }

  /**
   * Lets go with something left to do: somebody is called, or the mark says when somebody looks again. A lost lease is
   * somebody else's by now.
   */
  async handOver(changes: readonly Change[] = []): Promise<void> {
    await this.#let({ changes });
  }

  /** Lets go until the holder's own message comes back; no other is to claim it before. */
  async backOff(seconds: number): Promise<void> {
    await this.#let({ changes: [set('notBefore', this.#deps.clock.now() + seconds * 1000)] });
  }

  /** Lets go until a time; the clock looks then. */
  async park(at: number, { changes = [], writes }: Besides = {}): Promise<void> {
    await this.#let({ changes: [...markChanges(this.#thread.id, at), ...changes], writes });
  }

  get #key() {
    return keys.thread(this.#thread.orgId, this.#thread.id);
  }

  async #let({ changes = [], writes = [] }: Besides, only?: Condition): Promise<boolean> {
    const held = and(eq('owner', this.owner), eq('epoch', this.epoch));
    const all = [remove('owner'), remove('leaseUntil'), ...changes];
    const condition = only === undefined ? held : and(held, only);
    const done =
      writes.length === 0
        ? await ifStill(() => this.#deps.table.update(this.#key, all, condition))
        : await ifAllStill(this.#deps.table, [{ update: this.#key, changes: all, if: condition }, ...writes]);
    // A holder that goes on keeps its heartbeat.
    if (done || only === undefined) await this.stop();
    return done;
  }
}
