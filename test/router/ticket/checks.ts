/** What holds of tickets whenever nothing is under way. */
import { readExecution } from '../../../lib/execution/execution.ts';
import { isTerminal } from '../../../lib/execution/status.ts';
import type { Item } from '../../../lib/kernel/table.ts';
import { readTicket } from '../../../lib/router/ticket/ticket.ts';
import type { Shop } from './shop.ts';

const ASKING = ['person/answer', 'person/review', 'blocked', 'failed'];

/** What holds at every moment, whatever is under way: no worker works without a place, and no more than there are. */
export const trespassesOf = (rows: readonly Item[], most: number): string[] => {
  const tickets = new Map(rows.filter(({ sk }) => sk === 'TICKET').map((row) => [String(row.id), readTicket(row)]));
  const running = rows
    .filter(({ sk }) => sk === 'EXEC')
    .map(readExecution)
    .filter(({ status, ticketId }) => status === 'RUNNING' && ticketId !== undefined);
  const without = running.filter(({ ticketId = '' }) => tickets.get(ticketId)?.slot === undefined);
  return [
    ...without.map(({ ticketId }) => `${ticketId} works without a place`),
    ...(running.length > most + 1 ? [`${running.length} work, and there are ${most} places`] : []),
  ];
};

export const violationsOf = async (shop: Shop): Promise<string[]> => {
  const found: string[] = [];
  const slots = await shop.slots();
  const tickets = shop.tickets();
  if (slots.queue.length > 0 && slots.holders.length === 0) found.push('all places are free, and somebody waits');
  for (const ticket of tickets) {
    const run = shop.run(ticket.id);
    const holds = slots.holders.find(({ ticketId }) => ticketId === ticket.id);
    const waits = slots.queue.some(({ ticketId }) => ticketId === ticket.id);
    if (holds?.kind !== ticket.slot) found.push(`${ticket.id} has ${ticket.slot}, the places say ${holds?.kind}`);
    if (run.status === 'RUNNING' && holds === undefined) found.push(`${ticket.id} runs without a place`);
    if (run.status !== 'RUNNING' && holds !== undefined) found.push(`${ticket.id} is ${run.status} and holds a place`);
    if ((ticket.phase === 'queued') !== waits) found.push(`${ticket.id} is ${ticket.phase}, in the queue: ${waits}`);
    if ((ticket.phase === 'working') !== (run.status === 'RUNNING')) {
      found.push(`${ticket.id} is ${ticket.phase} with a run that is ${run.status}`);
    }
    if (ticket.mandate.state === 'revoked' && !isTerminal(run.status)) found.push(`${ticket.id} is revoked and lives`);
    const items = shop
      .attention()
      .filter(({ subjectId, kind }) => subjectId === ticket.id && kind.startsWith('ticket_'));
    const asks = ASKING.includes(ticket.phase) && ticket.attentionSince !== undefined;
    if (items.length !== (asks ? 1 : 0)) found.push(`${ticket.id} is ${ticket.phase} with ${items.length} items`);
    const unread = shop.inputs(run.executionId).some(({ wake, number }) => wake && number > run.consumed);
    if (unread && run.parked === 'over' && !waits && ticket.endedAt === undefined) {
      found.push(`${ticket.id} is ${ticket.phase} over a message that nobody has read`);
    }
    const older = ticket.executionIds.slice(0, -1);
    for (const each of shop.executions()) {
      if (older.includes(each.executionId) && !isTerminal(each.status)) found.push(`${each.executionId} lives on`);
    }
  }
  const runs = shop.executions().filter(({ ticketId }) => ticketId !== undefined);
  const named = new Set(tickets.flatMap(({ executionIds }) => executionIds));
  for (const { executionId } of runs) if (!named.has(executionId)) found.push(`${executionId} is nobody's`);
  for (const { executionId } of runs) {
    const origins = shop
      .inputs(executionId)
      .flatMap(({ replyTo, text }) =>
        replyTo === undefined ? [] : [`${replyTo} ${text.replace(/[0-9a-f]{24}/g, '')}`],
      );
    if (new Set(origins).size !== origins.length) found.push(`${executionId} was given a message twice`);
  }
  return found;
};
