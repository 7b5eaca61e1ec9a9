/** Rows of the tickets' room as they are written, and guards over them. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { due, keys, owner } from '../../kernel/keys.ts';
import { and, type Condition, eq, type Item, missing, type Table, type Value, type Write } from '../../kernel/table.ts';
import { TABLE } from '../../names.ts';
import { makeRow, ROW_VERSION, readRow } from '../../tenancy/row.ts';
import { NO_SLOTS, type Slots } from './slots.ts';
import { REPORTS, readTicket, type Ticket } from './ticket.ts';

/** A copy without members that are `undefined`, however deep: the table never stores those. */
const plain = (value: object): { readonly [name: string]: Value } =>
  JSON.parse(JSON.stringify(value)) as { readonly [name: string]: Value };

export const ticketItem = (ticket: Ticket): Item =>
  makeRow(keys.ticket(ticket.orgId, ticket.id), {
    ...plain(ticket),
    [TABLE.byOwner.pk]: owner.tickets(ticket.orgId),
    [TABLE.byOwner.sk]: ticket.id,
  });

/** The ticket is as it was read. */
export const asSeen = ({ version }: Pick<Ticket, 'version'>): Condition =>
  and(eq('v', ROW_VERSION), eq('version', version));

/** Strongly read. @throws UnreadableRow */
export const findTicket = async (table: Table, orgId: string, ticketId: string): Promise<Ticket | undefined> => {
  const item = await table.get(keys.ticket(orgId, ticketId), { consistent: true });
  return item && readTicket(item);
};

const slotsSchema = z.object({
  version: z.int().min(1),
  holders: z.array(z.object({ ticketId: z.string(), kind: z.enum(['ordinary', 'human']), since: z.number() })),
  queue: z.array(z.object({ ticketId: z.string(), human: z.boolean(), since: z.number() })),
});

/** Strongly read. @throws UnreadableRow */
export const readSlots = async (table: Table, orgId: string): Promise<Slots> => {
  const item = await table.get(keys.slots(orgId), { consistent: true });
  return item === undefined ? NO_SLOTS : readRow(slotsSchema, item);
};

const HOUR_MS = 3_600_000;

/** In an hour or two, and the same for all who ask within one: the sweep compares then what holds and what works. */
export const repairMark = (orgId: string, now: number) => ({
  duePk: due.pkOf('sweep', orgId),
  dueSk: due.sk(Math.ceil((now + HOUR_MS) / HOUR_MS) * HOUR_MS, orgId),
});

/** Refused where somebody else has given or taken a place meanwhile. */
export const slotsWrite = (orgId: string, before: Slots, after: Slots, now: number): Write => ({
  put: makeRow(keys.slots(orgId), {
    ...plain(after),
    version: before.version + 1,
    // With nobody in it there is nothing to look after.
    ...(after.holders.length + after.queue.length > 0 && repairMark(orgId, now)),
  }),
  if: before.version === 0 ? missing('pk') : and(eq('v', ROW_VERSION), eq('version', before.version)),
});

const reportSchema = z.object({
  n: z.int().min(1),
  state: z.enum(REPORTS),
  on: z.enum(['person', 'event']).optional(),
  text: z.string(),
  executionId: z.string(),
  at: z.number(),
});
export type Report = z.output<typeof reportSchema>;

/** @throws UnreadableRow */
export const readReport = (item: Item): Report => readRow(reportSchema, item);

export const reportItem = (orgId: string, ticketId: string, report: Report): Item =>
  makeRow(keys.report(orgId, ticketId, report.n), plain(report));

/** What is left of a ticket at its close: asked, done, learned. */
const digestSchema = z.object({
  ticketId: z.string(),
  title: z.string(),
  asked: z.string(),
  done: z.string(),
  learned: z.array(z.string()),
  /** How it came to its end, in a word. */
  end: z.string(),
  threadIds: z.array(z.string()),
  openedAt: z.number(),
  closedAt: z.number(),
});
export type Digest = z.output<typeof digestSchema>;

/** @throws UnreadableRow */
export const readDigest = (item: Item): Digest => readRow(digestSchema, item);

export const digestItem = (orgId: string, digest: Digest): Item =>
  makeRow(keys.digest(orgId, digest.ticketId), plain(digest));

export const subscriptionItem = (orgId: string, threadId: string, ticketId: string, at: number): Item =>
  makeRow(keys.subscription(orgId, threadId, ticketId), { ticketId, threadId, at });

/** Deliveries are repeated for days, and people redeliver what is weeks old. */
const REMEMBERED_SECONDS = 90 * 86_400;

/** The guard of what is done once for a ticket: refused where it was done before. */
export const onceWrite = (orgId: string, ticketId: string, cause: string, now: number): Write => ({
  put: makeRow(keys.ticketDone(orgId, ticketId, createHash('sha256').update(cause).digest('hex')), {
    at: now,
    [TABLE.ttl]: Math.floor(now / 1000) + REMEMBERED_SECONDS,
  }),
  if: missing('pk'),
});
