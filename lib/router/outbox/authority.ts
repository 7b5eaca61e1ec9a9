/** Whether a ticket may say or do something: asked when it is written and once more when it is sent (I8, I9). */
import { AppError } from '../../kernel/errors.ts';
import { covers, type Verb } from '../mandate/mandate.ts';
import { refusal } from '../mandate/permits.ts';
import type { ReplyTo } from '../thread/trigger.ts';
import type { Ticket } from '../ticket/ticket.ts';

/** Where something goes: one Thread, and the provider's own address of it. */
export interface Place {
  readonly threadId: string;
  readonly sourceId: string;
  readonly replyTo: ReplyTo;
  /** Of the Thread, where it has one. */
  readonly repositoryId?: string | undefined;
}

export interface Refusal {
  readonly code: 'mandate_revoked' | 'outside_mandate';
  readonly message: string;
}

export type Speaker = Pick<Ticket, 'id' | 'mandate' | 'threads'>;

/** @returns why not; `undefined` when the mandate covers it */
export const refusalOf = (ticket: Speaker, verb: Verb, place: Place): Refusal | undefined => {
  const { mandate } = ticket;
  const outside = (message: string): Refusal => ({ code: 'outside_mandate', message });
  if (mandate.state !== 'active') {
    return { code: 'mandate_revoked', message: `The mandate of ${ticket.id} was revoked.` };
  }
  // To speak in its own Threads is every mandate's right; whatever goes further is bound to the repository.
  const bound = !covers('comment', verb);
  if (bound && place.repositoryId === undefined) return outside('That discussion belongs to no repository.');
  const refused = refusal(mandate, { verb, ...(bound && { repositoryId: place.repositoryId }) });
  if (refused !== undefined) return outside(refused);
  const own = ticket.threads.find(({ threadId }) => threadId === place.threadId);
  // The root may be any message of the discussion; the discussion itself is the one that was subscribed.
  if (own === undefined || own.sourceId !== place.sourceId || own.replyTo.thread !== place.replyTo.thread) {
    return outside(`${ticket.id} does not subscribe to that discussion.`);
  }
  return undefined;
};

/** A use case wanted to write what the ticket's mandate does not cover. */
export class OutsideMandate extends AppError {
  override readonly name = 'OutsideMandate';
  constructor(refusal: Refusal) {
    super(409, refusal.code, refusal.message);
  }
}

/** @throws OutsideMandate */
export const demandAuthority = (ticket: Speaker, verb: Verb, place: Place): void => {
  const refused = refusalOf(ticket, verb, place);
  if (refused !== undefined) throw new OutsideMandate(refused);
};
