import * as z from 'zod';
import type { Item } from '../../kernel/table.ts';
import { readRow } from '../../tenancy/row.ts';
import { mandateSchema } from '../mandate/mandate.ts';
import { replyToSchema } from '../thread/trigger.ts';

export const PHASES = [
  'working',
  'queued',
  'idle',
  'person/answer',
  'person/review',
  'blocked',
  'failed',
  'closed',
] as const;
export type Phase = (typeof PHASES)[number];

/** The six values of a worker's report (spec §4.5, 4.6). */
export const REPORTS = ['progress', 'waiting', 'ready', 'blocked', 'failed', 'dropped'] as const;
export type ReportState = (typeof REPORTS)[number];

/** A Thread that the ticket may speak in, and where its words go there. */
const subscriptionSchema = z.object({ threadId: z.string(), sourceId: z.string(), replyTo: replyToSchema });

/** One unit of authorised work. `version` rises with each change; every write conditions on it. */
const rowSchema = z.object({
  id: z.string(),
  orgId: z.string(),
  title: z.string(),
  phase: z.enum(PHASES),
  mandate: mandateSchema,
  threads: z.array(subscriptionSchema),
  /** Newest last; the last one works now. */
  executionIds: z.array(z.string()),
  /** Which slot it holds while it works. */
  slot: z.enum(['ordinary', 'human']).optional(),
  /** The last report, and how many there were (rows REPORT#n). */
  report: z
    .object({ state: z.enum(REPORTS), on: z.enum(['person', 'event']).optional(), text: z.string(), at: z.number() })
    .optional(),
  reports: z.int().min(0).default(0),
  /** Texts of its last reports of progress, oldest first, for the digest. */
  learned: z.array(z.string()).default([]),
  /** Who asked: as in the mandate; and the Trigger it came from. */
  openedBy: z.string(),
  triggerId: z.string().optional(),
  version: z.int().min(1),
  /** What was asked, in its first words. */
  asked: z.string().default(''),
  /** Why it stands where it stands, for people: the question, what is missing, what stopped it. */
  reason: z.object({ code: z.string(), message: z.string() }).optional(),
  /** The last change of its worker's status that was followed: which execution, and the number of the change. */
  settled: z.object({ executionId: z.string(), changes: z.int() }).optional(),
  /** Micro-dollars that its earlier executions have cost. */
  spent: z.int().min(0).default(0),
  /** How often a person had it tried again. */
  retries: z.int().min(0).default(0),
  /** When a person's stop of it happened; what was said up to then never revives it. */
  stoppedAt: z.number().optional(),
  /** Ended: `closed`, or `failed` for good. A person's message may revive it while the mandate is active. */
  endedAt: z.number().optional(),
  attentionSince: z.number().optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type Ticket = z.output<typeof rowSchema>;

/** @throws UnreadableRow */
export const readTicket = (item: Item): Ticket => readRow(rowSchema, item);
