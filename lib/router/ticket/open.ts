/** A ticket is opened: by the decision about a Trigger, or by a person over HTTP. Everything of it is one transaction. */
import { NotYet } from '../../execution/step/deps.ts';
import { notFound } from '../../kernel/errors.ts';
import { derivedId } from '../../kernel/ids.ts';
import { missing, TransactionRefused, type Write } from '../../kernel/table.ts';
import type { MandateScope } from '../mandate/mandate.ts';
import { shorten } from '../points.ts';
import type { Acceptance, PlannedTicket } from '../thread/desk.ts';
import { findThread } from '../thread/find.ts';
import type { Thread } from '../thread/thread.ts';
import { subscriptionWrite } from '../thread/thread-writes.ts';
import { openingTold } from './change.ts';
import { type TicketDeps, wakeEffects } from './deps.ts';
import { grantNext } from './grant.ts';
import { type Message, messageOf } from './message.ts';
import { findPlace } from './place.ts';
import { onceWrite, subscriptionItem, ticketItem } from './rows.ts';
import { startWorker } from './run.ts';
import type { Ticket } from './ticket.ts';

const LONGEST_TITLE = 200; // code points
const LONGEST_ASKED = 400;

interface Draft {
  readonly ticketId: string;
  readonly executionId: string;
  readonly mandateId: string;
  readonly orgId: string;
  readonly title: string;
  readonly asked: string;
  readonly scope: MandateScope;
  readonly by: string;
  readonly policyVersion: number;
  readonly thread?: Thread | undefined;
  readonly triggerId?: string | undefined;
  readonly message: Message;
}

/** Before it has a place, and before its first version is written. */
const ticketOf = (draft: Draft, now: number): Ticket => {
  const { thread, scope } = draft;
  return {
    id: draft.ticketId,
    orgId: draft.orgId,
    title: shorten(draft.title, LONGEST_TITLE),
    phase: 'queued',
    mandate: {
      ...scope,
      id: draft.mandateId,
      state: 'active',
      grantedBy: draft.by,
      policyVersion: draft.policyVersion,
    },
    threads: thread === undefined ? [] : [{ threadId: thread.id, sourceId: thread.sourceId, replyTo: thread.replyTo }],
    executionIds: [],
    reports: 0,
    learned: [],
    openedBy: draft.by,
    ...(draft.triggerId !== undefined && { triggerId: draft.triggerId }),
    version: 0,
    asked: shorten(draft.asked, LONGEST_ASKED),
    spent: 0,
    retries: 0,
    createdAt: now,
    updatedAt: now,
  };
};

/** Others give and take places at the same moment; each loser reads them again. */
const MAX_TRIES = 12;

/**
 * One transaction: ticket with mandate, execution with the message that it is opened for, place or queue, subscription,
 * and what is `alongside` (made from the ticket as it will stand).
 * @throws TransactionRefused when something of `alongside` or the ticket itself is refused, as far as `alongside` goes
 */
const open = async (
  deps: TicketDeps,
  draft: Draft,
  alongside: (ticket: Ticket) => readonly Write[],
): Promise<Ticket> => {
  const { orgId, thread, ticketId, executionId, message } = draft;
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const now = deps.clock.now();
    const ticket = ticketOf(draft, now);
    // New work never takes the place that is kept for people's messages.
    const placed = await findPlace(deps.table, ticket, false, { executionIds: [executionId] }, now);
    const { after, slot, policy } = placed;
    const told = openingTold(after);
    const theirs = alongside(after);
    const writes: readonly Write[] = [
      { put: ticketItem(after), if: missing('pk') },
      placed.slots,
      onceWrite(orgId, ticketId, message.cause, now),
      ...(thread === undefined ? [] : [{ put: subscriptionItem(orgId, thread.id, ticketId, now) }]),
      ...told.writes,
      ...theirs,
    ];
    try {
      const run = { ticket, policy, executionId, messages: [message], slot, alongside: writes };
      if (!(await startWorker(deps, run))) throw new TransactionRefused([true], []);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      const onlyPlaces = error.refused[1] === true && error.refused.filter(Boolean).length === 1;
      if (onlyPlaces) continue;
      const from = error.refused.length - theirs.length;
      throw error.refused.slice(from).includes(true)
        ? new TransactionRefused(error.refused.slice(from), error.items.slice(from))
        : error;
    }
    await wakeEffects(deps, orgId, told.effectIds);
    if (slot === undefined) await grantNext(deps, orgId);
    return after;
  }
  throw new NotYet('Places were given and taken each time that one was looked for.');
};

/** A decision opens a ticket. Its id comes from the Trigger and its revision, so that a second decision opens no second one (B13). */
export const planAccept = (deps: TicketDeps, request: Acceptance): PlannedTicket => {
  const { thread, trigger, policy, title, mandate, grantedBy } = request;
  const { orgId } = thread;
  const cause = `${orgId} ${trigger.id} ${trigger.revision}`;
  const ticketId = derivedId('tkt', trigger.receivedAt, cause);
  const draft: Draft = {
    ticketId,
    executionId: derivedId('exe', trigger.receivedAt, `${orgId} ${ticketId} 1`),
    mandateId: derivedId('mdt', trigger.receivedAt, cause),
    orgId,
    title,
    asked: trigger.text,
    scope: mandate,
    by: grantedBy,
    policyVersion: policy.version,
    thread,
    triggerId: trigger.id,
    message: messageOf(trigger, trigger.gate.class === 'explicit', 'ask'),
  };
  return {
    ticketId,
    start: async (alongside) => {
      await open(deps, draft, () => alongside);
    },
  };
};

export interface NewTicket {
  readonly orgId: string;
  /** Id of the key: whoever has it speaks for the team. */
  readonly actor: string;
  readonly title: string;
  readonly text: string;
  readonly mandate: MandateScope;
  /** The discussion that it may speak in. */
  readonly threadId?: string | undefined;
  readonly policyVersion: number;
  readonly alongside: (ticket: Ticket) => readonly Write[];
}

/**
 * A person opens a ticket over HTTP.
 * @throws AppError 404 for the Thread, 409; TransactionRefused when only what is `alongside` was refused
 */
export const openTicket = async (deps: TicketDeps, given: NewTicket): Promise<Ticket> => {
  const { orgId, threadId } = given;
  for (let attempt = 1; ; attempt++) {
    const thread = threadId === undefined ? undefined : await findThread(deps.table, orgId, threadId);
    if (threadId !== undefined && thread === undefined) throw notFound('thread');
    try {
      return await openIn(deps, given, thread);
    } catch (error) {
      // Another ticket has subscribed to the Thread meanwhile: its list is read again.
      const moved = thread !== undefined && error instanceof TransactionRefused && error.refused[0] === true;
      if (!moved || attempt === MAX_TRIES) throw error;
    }
  }
};

const openIn = (deps: TicketDeps, given: NewTicket, thread: Thread | undefined): Promise<Ticket> => {
  const { orgId, actor } = given;
  const now = deps.clock.now();
  const ticketId = deps.ids.next('tkt', now);
  const message: Message = {
    kind: 'ask',
    origin: `key ${actor}`,
    trust: 'explicit',
    wake: true,
    human: true,
    text: given.text,
    cause: `open ${ticketId}`,
    at: now,
  };
  const draft: Draft = {
    ticketId,
    executionId: deps.ids.next('exe', now),
    mandateId: deps.ids.next('mdt', now),
    orgId,
    title: given.title,
    asked: given.text,
    scope: given.mandate,
    by: `key ${actor}`,
    policyVersion: given.policyVersion,
    thread,
    message,
  };
  const subscribes = thread === undefined ? [] : [subscriptionWrite(thread, [...thread.tickets, ticketId], now)];
  return open(deps, draft, (ticket) => [...subscribes, ...given.alongside(ticket)]);
};
