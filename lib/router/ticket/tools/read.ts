import * as z from 'zod';
import { isId } from '../../../kernel/ids.ts';
import { keys } from '../../../kernel/keys.ts';
import type { Table } from '../../../kernel/table.ts';
import type { Tool } from '../../../tools/tool.ts';
import { slice } from '../../points.ts';
import { findTrigger } from '../../thread/find.ts';
import { framed, newMark } from '../../untrusted/frame.ts';
import { legible } from '../../untrusted/legible.ts';
import { overview } from '../list.ts';
import { readReport } from '../rows.ts';
import type { Ticket } from '../ticket.ts';
import { READ } from '../worker.ts';
import { no, type ToolDeps, ticketOfCall, yes } from './context.ts';

/** N6 of the spec, code points. */
const PAGE = 4_000;
const LONGEST_PAGE = 8_000;

const schema = z.strictObject({
  id: z
    .string()
    .min(1)
    .max(100)
    .describe(
      'trg_… of a message, tkt_… of this ticket (its mandate and reports), or overview: what else is going on here.',
    ),
  offset: z.int().min(0).max(1_000_000).optional().describe('Characters to pass over.'),
  limit: z.int().min(1).max(LONGEST_PAGE).optional().describe(`Characters at most; ${PAGE} if left out.`),
});

const ofTicket = async (table: Table, ticket: Ticket): Promise<string> => {
  const page = await table.query({ ...keys.reports(ticket.orgId, ticket.id), newestFirst: true, limit: 50 });
  const reports = page.items.map(readReport).map(({ n, state, on, text, at }) => {
    const what = on === undefined ? state : `${state} on ${on}`;
    return `${n}. ${new Date(at).toISOString()} ${what}: ${text}`;
  });
  const { mandate, title, phase, threads } = ticket;
  return [
    `${ticket.id}: ${title}`,
    `Phase ${phase}, mandate up to ${mandate.verb}${mandate.repositoryId === undefined ? '' : ` in ${mandate.repositoryId}`}.`,
    `Discussions: ${threads.map(({ threadId }) => threadId).join(', ') || 'none'}.`,
    'Reports, newest first:',
    ...(reports.length === 0 ? ['none'] : reports),
  ].join('\n');
};

const OVERVIEW = 'overview';

/** Tickets that the ticket's own people may know of: of the same repository, or in a Thread of its own. */
const isNear = (ticket: Ticket, other: Ticket): boolean =>
  (ticket.mandate.repositoryId !== undefined && other.mandate.repositoryId === ticket.mandate.repositoryId) ||
  other.threads.some(({ threadId }) => ticket.threads.some((own) => own.threadId === threadId));

/** Only what stands in the ticket's own Threads: an id from elsewhere is no id. */
const ofTrigger = async (table: Table, ticket: Ticket, triggerId: string) => {
  for (const { threadId } of ticket.threads) {
    const trigger = await findTrigger(table, ticket.orgId, threadId, triggerId);
    if (trigger !== undefined) return trigger;
  }
  return undefined;
};

export const makeRead = (deps: ToolDeps): Tool<z.infer<typeof schema>> => ({
  name: READ,
  description: 'Reads a message or the ticket by its id, a page at a time.',
  schema,
  named: true,
  outside: true,
  effect: () => 'none',
  timeoutSeconds: 10,
  async execute({ id, offset = 0, limit = PAGE }, context) {
    const found = await ticketOfCall(deps, context);
    if ('refused' in found) return found.refused;
    const { ticket } = found;
    const more = (next: number | undefined): string => (next === undefined ? '' : `\n[It goes on at offset ${next}.]`);
    if (id === ticket.id) {
      const page = slice(await ofTicket(deps.table, ticket), offset, limit);
      return yes(`${page.text}${more(page.next)}`);
    }
    if (id === OVERVIEW) {
      const lines = await overview(deps, ticket.orgId, (other) => isNear(ticket, other));
      const page = slice(lines.join('\n'), offset, limit);
      return yes(`${framed(newMark(), page.text)}${more(page.next)}`);
    }
    const trigger = isId('trg', id) ? await ofTrigger(deps.table, ticket, id) : undefined;
    if (trigger === undefined) return no(`There is no ${id} in the discussions of this ticket.`);
    const text = trigger.withdrawn === true ? '(deleted by its author)' : legible(trigger.text).text;
    const page = slice(text, offset, limit);
    const facts = { id, kind: trigger.kind, type: trigger.actor.type, at: new Date(trigger.occurredAt).toISOString() };
    return yes(`${framed(newMark(), page.text, facts)}${more(page.next)}`);
  },
});
