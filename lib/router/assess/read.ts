/** The tool `read`: what an id on the page stands for, in pages (N6 of the spec, code points). */
import * as z from 'zod';
import { isId } from '../../kernel/ids.ts';
import { keys, LAST } from '../../kernel/keys.ts';
import type { Table, Value } from '../../kernel/table.ts';
import type { ToolSpec } from '../../model/model.ts';
import { pointsOf } from '../points.ts';
import type { VersionedPolicy } from '../policy/policy.ts';
import { findTrigger } from '../thread/find.ts';
import type { Thread } from '../thread/thread.ts';
import { readTrigger, type Trigger } from '../thread/trigger.ts';
import { readReport } from '../ticket/rows.ts';
import type { Ticket } from '../ticket/ticket.ts';
import { bodyOf, excerpt, headOf, scopeText } from './page.ts';
import { LONGEST } from './window.ts';

/** N6. */
export const READ_PAGE = 4_000;
export const LONGEST_READ = 8_000;

export const readTool: ToolSpec = {
  name: 'read',
  description:
    'Shows in full what an id on the page stands for: a message (trg_…), the whole discussion (thr_…), a ticket (tkt_…) or a rule. Long ones come in pages.',
  parameters: {
    type: 'object',
    properties: {
      id: { type: 'string', description: 'As it stands on the page.' },
      offset: { type: 'integer', minimum: 0, description: 'Where to go on; 0 if missing.' },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: LONGEST_READ,
        description: `Characters; ${READ_PAGE} if missing.`,
      },
    },
    required: ['id'],
    additionalProperties: false,
  },
};

const argumentsSchema = z.object({
  id: z.string().min(1).max(200),
  offset: z.int().min(0).nullish(),
  limit: z.int().min(1).nullish(),
});

/** What an Eval may look at: its own Thread, the tickets on its page, the rules. Nothing else of the organisation. */
export interface Readable {
  readonly table: Table;
  readonly thread: Thread;
  readonly tickets: ReadonlyMap<string, Ticket>;
  readonly policy: VersionedPolicy;
  readonly mark: string;
}

/** @param args the raw text that the model wrote; what is wrong with it is said in the answer */
export const read = async (from: Readable, args: string): Promise<string> => {
  const parsed = argumentsSchema.safeParse(jsonOf(args));
  if (!parsed.success) return 'The arguments of read are {"id": "…", "offset": 0}: an id of the page, and a number.';
  const { id } = parsed.data;
  const offset = parsed.data.offset ?? 0;
  const limit = Math.min(parsed.data.limit ?? READ_PAGE, LONGEST_READ);
  const lines = await linesOf(from, id, offset, limit);
  return lines === undefined ? 'There is no such id on this page.' : lines.join('\n');
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const linesOf = async (
  from: Readable,
  id: string,
  offset: number,
  limit: number,
): Promise<readonly string[] | undefined> => {
  const { table, thread, tickets, policy, mark } = from;
  if (id === thread.id) return discussion(from, offset, limit);
  const ticket = tickets.get(id);
  if (ticket !== undefined) return ticketPage(from, ticket, offset, limit);
  const rule = policy.policy.rules.find((one) => one.id === id);
  if (rule !== undefined) return [`Rule ${rule.id}:`, rule.text];
  if (!isId('trg', id)) return undefined;
  const trigger = await findTrigger(table, thread.orgId, thread.id, id);
  if (trigger === undefined) return undefined;
  return [headOf(trigger), ...bodyOf(mark, trigger, offset, limit)];
};

/** Of a whole discussion `offset` counts messages: each is shown whole or not at all, so that no frame is left open. */
const discussion = async (
  { table, thread, mark }: Readable,
  offset: number,
  limit: number,
): Promise<readonly string[]> => {
  const lines: string[] = [];
  let size = 0;
  let number = 0;
  for await (const trigger of messagesOf(table, thread)) {
    if (number++ < offset) continue;
    const shown = [headOf(trigger), ...bodyOf(mark, trigger, 0, LONGEST.window)];
    size += shown.reduce((sum, line) => sum + pointsOf(line).length + 1, 0);
    if (size > limit && lines.length > 0) return [...lines, `It goes on at offset ${number - 1}.`];
    lines.push(...shown);
  }
  return lines.length === 0 ? ['There is nothing behind this offset.'] : lines;
};

async function* messagesOf(table: Table, { orgId, id }: Thread): AsyncGenerator<Trigger> {
  const { pk, prefix } = keys.triggers(orgId, id);
  let after: Value | undefined;
  do {
    const page = await table.query({
      pk,
      from: prefix,
      to: `${prefix}${LAST}`,
      limit: 100,
      consistent: true,
      ...(after !== undefined && { after }),
    });
    yield* page.items.map(readTrigger);
    after = page.next;
  } while (after !== undefined);
}

/** Reports of a ticket that are shown, newest first. */
const MOST_REPORTS = 20;

const ticketPage = async (
  { table, thread, mark }: Readable,
  ticket: Ticket,
  offset: number,
  limit: number,
): Promise<readonly string[]> => {
  const { id, phase, mandate, createdAt, threads } = ticket;
  const page = await table.query({
    ...keys.reports(thread.orgId, id),
    newestFirst: true,
    limit: MOST_REPORTS,
    consistent: true,
  });
  const reports = page.items.map(readReport).map(({ state, text }) => `${state}: ${text}`);
  const elsewhere = threads.filter(({ threadId }) => threadId !== thread.id).length;
  const learned = ticket.learned.length === 0 ? [] : [`What it has learned: ${ticket.learned.join('; ')}`];
  const said = reports.length === 0 ? ['It has not reported yet.'] : reports;
  const text = [ticket.title, `It was asked: ${ticket.asked}`, ...learned, ...said].join('\n\n');
  return [
    `${id} · ${phase} · mandate ${mandate.state}: ${scopeText(mandate)} · opened ${new Date(createdAt).toISOString()}`,
    ...(elsewhere > 0 ? [`It subscribes to ${elsewhere} other discussions.`] : []),
    'What it is about, and its reports, newest first:',
    ...excerpt(mark, text, offset, limit),
  ];
};
