import { keys, owner } from '../../kernel/keys.ts';
import type { Log } from '../../kernel/ports.ts';
import type { Table } from '../../kernel/table.ts';
import { legible } from '../../tenancy/list-rows.ts';
import type { Thread } from '../thread/thread.ts';
import { readTicket, type Ticket } from '../ticket/ticket.ts';

/** N2 of the spec. */
const MOST = 8;
/** The newest tickets of the organisation that are looked through. */
const LOOKED_AT = 50;

/**
 * Tickets that a page shows: those that subscribe to the Thread, then open ones about the same repository, newest first.
 * Never one of another repository or source: an answer here could carry it out to people who may not read there.
 */
export const relatedTickets = async (
  { table, log }: { readonly table: Table; readonly log: Log },
  thread: Thread,
  repositoryId: string | undefined,
): Promise<readonly Ticket[]> => {
  const { orgId } = thread;
  const newest = await table.query({
    index: 'byOwner',
    pk: owner.tickets(orgId),
    newestFirst: true,
    limit: LOOKED_AT,
  });
  const subscribed = thread.tickets
    .slice(-MOST)
    .reverse()
    .map((id) => keys.ticket(orgId, id));
  const wanted = [...subscribed, ...newest.items.map(({ pk, sk }) => ({ pk, sk }))];
  const unique = [...new Map(wanted.map((key) => [key.pk, key] as const)).values()];
  if (unique.length === 0) return [];
  const rows = await table.getMany(unique, { consistent: true });
  const read = legible(log, readTicket);
  const tickets = rows.flatMap((row) => {
    const ticket = row && read(row);
    return ticket === undefined ? [] : [ticket];
  });
  return tickets.filter((ticket) => belongs(ticket, thread, repositoryId)).slice(0, MOST);
};

const belongs = (ticket: Ticket, thread: Thread, repositoryId: string | undefined): boolean => {
  if (ticket.threads.some(({ threadId }) => threadId === thread.id)) return true;
  if (ticket.phase === 'closed' || ticket.phase === 'failed') return false;
  if (!ticket.threads.every(({ sourceId }) => sourceId === thread.sourceId)) return false;
  // Where there are no repositories (a chat, generic HTTP) only its own Thread's tickets belong to it.
  return repositoryId !== undefined && ticket.mandate.repositoryId === repositoryId;
};
