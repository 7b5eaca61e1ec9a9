/**
 * Port of the Threads' room: what becomes of a Trigger outside of its Thread. `lib/router/ticket/` and
 * `lib/router/outbox/` stand behind it, wired in `lib/compose/`. Everything here may be asked again with the same
 * arguments, because whoever asks may die before it notes the answer.
 */
import type { Write } from '../../kernel/table.ts';
import type { MandateScope } from '../mandate/mandate.ts';
import type { VersionedPolicy } from '../policy/policy.ts';
import type { Ticket } from '../ticket/ticket.ts';
import type { Thread } from './thread.ts';
import type { Trigger } from './trigger.ts';

/** Rows for a transaction of the caller's, and the wake-up that follows it; what is lost of that is found by a mark. */
export interface Planned {
  readonly writes: readonly Write[];
  wake(): Promise<void>;
}

export interface Acceptance {
  readonly thread: Thread;
  readonly trigger: Trigger;
  readonly policy: VersionedPolicy;
  readonly title: string;
  /** Already cut to the grant. */
  readonly mandate: MandateScope;
  /** `<source id>:<actor id>` or `rule:<rule id>`. */
  readonly grantedBy: string;
}

/** A ticket that is planned and does not exist before `start`. */
export interface PlannedTicket {
  readonly ticketId: string;
  /**
   * Ticket, mandate, subscription row, execution and what is `alongside` in one transaction; the Thread's own row is the
   * caller's. Repeated for the same Trigger and revision it makes no second ticket.
   * @throws TransactionRefused when anything of it is refused
   */
  start(alongside: readonly Write[]): Promise<void>;
}

export interface Desk {
  accept(request: Acceptance): Promise<PlannedTicket>;
  /**
   * A Thread is subscribed to a ticket that is there: the right to reply here, the mandate stays. The Thread's own row is
   * the caller's.
   * @returns `undefined` when the ticket is not to be joined (ended, revoked, unknown)
   */
  join(request: {
    readonly thread: Thread;
    readonly trigger: Trigger;
    readonly ticket: Ticket;
  }): Promise<Planned | undefined>;
  /** A reply without a ticket to where the Trigger's answer goes. */
  answer(request: { readonly thread: Thread; readonly trigger: Trigger; readonly body: string }): Planned;
  /**
   * Revokes, terminates and closes: every ticket that subscribes to the Thread, or the one that is named.
   * @returns the tickets it was about
   */
  stop(request: {
    readonly orgId: string;
    readonly threadId: string;
    readonly ticketId?: string | undefined;
    /** `<source id>:<actor id>` */
    readonly by: string;
    readonly triggerId: string;
    readonly at: number;
  }): Promise<readonly string[]>;
  /**
   * Hands the Trigger to every ticket that subscribes to its Thread, once per ticket and revision. A withdrawn one tells
   * them that its source is gone.
   * @returns the tickets that have it; none when all have ended and none may be revived
   */
  fanOut(trigger: Trigger): Promise<readonly string[]>;
}
