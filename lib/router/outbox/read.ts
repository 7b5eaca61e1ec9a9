import { keys } from '../../kernel/keys.ts';
import type { Table } from '../../kernel/table.ts';
import type { VersionedPolicy } from '../policy/policy.ts';
import { readSource } from '../source/source.ts';
import { readThread } from '../thread/thread.ts';
import { readTicket } from '../ticket/ticket.ts';
import type { Facts } from './judge.ts';
import { type Posting, readPosting } from './posting.ts';

/** Strongly read. @throws UnreadableRow */
export const findPosting = async (table: Table, orgId: string, postingId: string): Promise<Posting | undefined> => {
  const item = await table.get(keys.posting(orgId, postingId), { consistent: true });
  return item && readPosting(item);
};

/** Everything that a posting is judged by. */
export const readFacts = async (
  deps: { readonly table: Table; readonly policyOf: (orgId: string) => Promise<VersionedPolicy> },
  posting: Posting,
): Promise<Facts> => {
  const { orgId, threadId, sourceId, ticketId } = posting;
  const wanted = [
    keys.thread(orgId, threadId),
    keys.source(orgId, sourceId),
    ...(ticketId === undefined ? [] : [keys.ticket(orgId, ticketId)]),
  ];
  const [[thread, source, ticket], { policy }] = await Promise.all([
    deps.table.getMany(wanted, { consistent: true }),
    deps.policyOf(orgId),
  ]);
  return {
    thread: thread && readThread(thread),
    source: source && readSource(source),
    ticket: ticket && readTicket(ticket),
    repliesPerHour: policy.breaker.repliesPerThreadPerHour,
  };
};
