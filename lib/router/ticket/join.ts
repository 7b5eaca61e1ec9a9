/** A further Thread subscribes to a ticket that is there: the right to reply in it, and nothing more. The mandate stays. */
import * as z from 'zod';
import { effectIdOf, effectItem } from '../../effect/effect.ts';
import type { Write } from '../../kernel/table.ts';
import { findSource } from '../source/find.ts';
import { findTrigger } from '../thread/find.ts';
import type { Thread } from '../thread/thread.ts';
import type { Trigger } from '../thread/trigger.ts';
import { changed, changeWrites } from './change.ts';
import type { Planned, TicketDeps } from './deps.ts';
import { isExplicit } from './fan-out.ts';
import { giveMessage } from './give.ts';
import { messageOf } from './message.ts';
import { lookBeforeRevival } from './revival.ts';
import { subscriptionItem } from './rows.ts';
import type { Ticket } from './ticket.ts';

export const JOINED = 'ticket.joined';
export const joinedSchema = z.object({ ticketId: z.string(), threadId: z.string(), triggerId: z.string() });

/** A ticket that is talked about everywhere is a sign of something else. */
const MOST_THREADS = 20;

/**
 * Rows for the transaction of the decision; the Thread's own row is the caller's. The message itself goes to the worker by
 * an effect of that transaction, so that it is not lost with whoever decided.
 * @returns `undefined` when the ticket is not to be joined
 */
export const joinWrites = (
  ticket: Ticket,
  thread: Thread,
  trigger: Trigger,
  now: number,
): Planned<readonly Write[]> | undefined => {
  if (ticket.endedAt !== undefined || ticket.mandate.state !== 'active') return undefined;
  const there = ticket.threads.some(({ threadId }) => threadId === thread.id);
  if (!there && ticket.threads.length >= MOST_THREADS) return undefined;
  const { orgId, id } = ticket;
  const subscription = { threadId: thread.id, sourceId: thread.sourceId, replyTo: thread.replyTo };
  const threads = there ? ticket.threads : [...ticket.threads, subscription];
  const { writes, effectIds } = changeWrites(ticket, changed(ticket, { threads }, now));
  const effectId = effectIdOf(`${JOINED} ${orgId} ${id} ${trigger.id} ${trigger.revision}`);
  const detail = JSON.stringify({ ticketId: id, threadId: thread.id, triggerId: trigger.id });
  return {
    writes: [
      ...writes,
      { put: subscriptionItem(orgId, thread.id, id, now) },
      { put: effectItem({ effectId, orgId, kind: 'ticket', detailType: JOINED, detail, at: now }) },
    ],
    effectIds: [...effectIds, effectId],
  };
};

/** Gives the message that has joined a Thread to the ticket. A ticket that has ended meanwhile is not revived by it. */
export const tellJoined = async (
  deps: TicketDeps,
  orgId: string,
  { ticketId, threadId, triggerId }: z.infer<typeof joinedSchema>,
): Promise<void> => {
  const trigger = await findTrigger(deps.table, orgId, threadId, triggerId);
  if (trigger === undefined || trigger.withdrawn === true) return;
  const source = await findSource(deps.table, orgId, trigger.sourceId);
  const message = messageOf(trigger, await isExplicit(deps, trigger), 'message');
  await giveMessage(deps, { orgId, ticketId }, message, lookBeforeRevival(deps.table, orgId, threadId, source));
};
