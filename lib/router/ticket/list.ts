import { keys, owner } from '../../kernel/keys.ts';
import type { Log } from '../../kernel/ports.ts';
import type { Item, Table } from '../../kernel/table.ts';
import { type Listed, legible, listRows, type PageRequest } from '../../tenancy/list-rows.ts';
import { type Posting, readPosting } from '../outbox/posting.ts';
import { shorten } from '../points.ts';
import { type Digest, type Report, readDigest, readReport } from './rows.ts';
import { type Phase, readTicket, type Ticket } from './ticket.ts';

interface Deps {
  readonly table: Table;
  readonly log: Log;
}

export interface TicketFilter {
  readonly phase?: Phase | undefined;
  readonly threadId?: string | undefined;
}

const fits = (ticket: Ticket, { phase, threadId }: TicketFilter): boolean =>
  (phase === undefined || ticket.phase === phase) &&
  (threadId === undefined || ticket.threads.some((thread) => thread.threadId === threadId));

/** Newest first. */
export const listTickets = (
  { table, log }: Deps,
  orgId: string,
  filter: TicketFilter,
  page: PageRequest,
): Promise<Listed<Ticket>> => {
  const read = (item: Item): Ticket | undefined => {
    const ticket = readTicket(item);
    return fits(ticket, filter) ? ticket : undefined;
  };
  return listRows({ table, log, pk: owner.tickets(orgId), index: 'byOwner', read }, page);
};

/** Reports and postings of one ticket that are shown with it; older ones are in the lists. */
const SHOWN = 100;

/** Newest first. */
export const reportsOf = async ({ table, log }: Deps, { orgId, id }: Ticket): Promise<readonly Report[]> => {
  const page = await table.query({ ...keys.reports(orgId, id), newestFirst: true, limit: SHOWN, consistent: true });
  return page.items.flatMap((item) => legible(log, readReport)(item) ?? []);
};

/** What it said or wanted to say, newest first, among the newest of the organisation. */
export const postingsOf = async (deps: Deps, { orgId, id }: Ticket): Promise<readonly Posting[]> => {
  const read = (item: Item): Posting | undefined => {
    const posting = readPosting(item);
    return posting.ticketId === id ? posting : undefined;
  };
  const listed = await listRows({ ...deps, pk: owner.postings(orgId), index: 'byOwner', read }, { limit: SHOWN });
  return listed.items;
};

export const digestOf = async ({ table }: Deps, { orgId, id }: Ticket): Promise<Digest | undefined> => {
  const item = await table.get(keys.digest(orgId, id));
  return item && readDigest(item);
};

/** Tickets of a page, and ended ones among them. */
const MOST_SHOWN = 30;
const LONGEST = 200; // code points

const lineOf = ({ id, title, phase, reason, mandate, report }: Ticket): string => {
  const said = reason?.message ?? report?.text ?? '';
  const where = mandate.repositoryId === undefined ? '' : ` · repository ${mandate.repositoryId}`;
  return `${id} · ${phase}${where} · ${shorten(title, 80)}${said === '' ? '' : `: ${shorten(said, LONGEST)}`}`;
};

/**
 * What is going on, on one page: open tickets first, then those that ended last. Titles and reports are words of others.
 * @param shows which tickets; an answer could carry the page out to people who may not read elsewhere
 */
export const overview = async (
  deps: Deps,
  orgId: string,
  shows: (ticket: Ticket) => boolean,
): Promise<readonly string[]> => {
  const listed = await listTickets(deps, orgId, {}, { limit: 100 });
  const here = listed.items.filter(shows);
  const open = here.filter(({ endedAt }) => endedAt === undefined);
  const ended = here.filter(({ endedAt }) => endedAt !== undefined);
  const shown = [...open, ...ended].slice(0, MOST_SHOWN);
  return shown.length === 0 ? ['Nothing is going on.'] : shown.map(lineOf);
};
