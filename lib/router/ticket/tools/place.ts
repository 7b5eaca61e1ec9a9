/** Where a worker's words go: to the Thread of a message that it has read, never to a place that a text or a model names (I16). */
import { readInput } from '../../../execution/rows.ts';
import { keys } from '../../../kernel/keys.ts';
import type { Table } from '../../../kernel/table.ts';
import type { RunOfCall } from '../../../tools/tool.ts';
import type { Place } from '../../outbox/authority.ts';
import { findThread, findTrigger } from '../../thread/find.ts';
import { happenedAt } from '../../thread/route.ts';
import { parseReplyTo } from '../message.ts';
import type { Ticket } from '../ticket.ts';

export interface Answered {
  readonly place: Place;
  /** When what is answered was said. */
  readonly askedAt?: number | undefined;
}

/** Messages of the run that are looked through for the last one that came from a discussion. */
const LOOKED_AT = 50;

const placeOf = async (table: Table, ticket: Ticket, threadId: string, triggerId: string) => {
  const own = ticket.threads.find((one) => one.threadId === threadId);
  if (own === undefined) return undefined;
  const [thread, trigger] = await Promise.all([
    findThread(table, ticket.orgId, threadId),
    findTrigger(table, ticket.orgId, threadId, triggerId),
  ]);
  if (trigger === undefined) return undefined;
  const place = { threadId, sourceId: own.sourceId, replyTo: trigger.replyTo, repositoryId: thread?.repositoryId };
  return { place, askedAt: happenedAt(trigger) };
};

/**
 * The Thread of the newest message that the model had read when it made the call, or of the one that it names among those
 * of the ticket's own Threads; where none came from a discussion, the Thread that the ticket was opened in.
 * @param named id of a Trigger
 * @returns `undefined` where there is no such place
 */
export const answeredPlace = async (
  table: Table,
  ticket: Ticket,
  run: RunOfCall,
  named?: string,
): Promise<Answered | undefined> => {
  const { pk } = keys.input(run.orgId, run.executionId, 0);
  const page = await table.query({
    pk,
    from: keys.input(run.orgId, run.executionId, 0).sk,
    to: keys.input(run.orgId, run.executionId, run.inputs).sk,
    newestFirst: true,
    limit: LOOKED_AT,
    consistent: true,
  });
  for (const item of page.items) {
    const { replyTo } = readInput(item);
    const to = replyTo === undefined ? undefined : parseReplyTo(replyTo);
    if (to === undefined || (named !== undefined && to.triggerId !== named)) continue;
    const found = await placeOf(table, ticket, to.threadId, to.triggerId);
    if (found !== undefined) return found;
  }
  if (named !== undefined) return undefined;
  const [first] = ticket.threads;
  if (first === undefined) return undefined;
  const thread = await findThread(table, ticket.orgId, first.threadId);
  return { place: { ...first, repositoryId: thread?.repositoryId } };
};
