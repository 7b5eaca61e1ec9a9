import * as z from 'zod';
import type { Item } from '../../kernel/table.ts';
import { readRow } from '../../tenancy/row.ts';

/**
 * `received`: stored, not looked at yet. `resolved`: it made or changed triggers, or told the state of a thread. `dropped`:
 * read and of no concern (`reason`). `duplicate`: known already. `failed`: could not be resolved; a person may look.
 */
export const VERDICTS = ['received', 'resolved', 'dropped', 'duplicate', 'failed'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** One request of a provider. Ingest writes it with a wake-up and nothing more; the resolver makes Triggers of it. */
const rowSchema = z.object({
  id: z.string(),
  orgId: z.string(),
  sourceId: z.string(),
  /** The provider's id of this delivery; repeats carry the same. */
  providerId: z.string(),
  /** The provider's name of the event (`issue_comment`) and, where it has one, the action. */
  event: z.string(),
  action: z.string().optional(),
  verdict: z.enum(VERDICTS),
  /** Why: a word for programs, then words for people. */
  reason: z.object({ code: z.string(), message: z.string() }).optional(),
  /** Key of the raw body in the bucket; missing where nothing is to be read (a duplicate). */
  body: z.string().optional(),
  bytes: z.int().min(0),
  /** Request headers that the reading needs, lower case. */
  headers: z.record(z.string(), z.string()),
  triggerIds: z.array(z.string()).default([]),
  threadIds: z.array(z.string()).default([]),
  /** Milliseconds since the epoch. */
  receivedAt: z.number(),
  handledAt: z.number().optional(),
  attempts: z.int().min(0).default(0),
  duePk: z.string().optional(),
  dueSk: z.string().optional(),
  ttl: z.number().optional(),
});
export type Delivery = z.output<typeof rowSchema>;

/** @throws UnreadableRow */
export const readDelivery = (item: Item): Delivery => readRow(rowSchema, item);

/** Repeats are known for this long (spec, "dedupe"; Lark repeats for 7 hours, people redeliver for days). */
export const REMEMBERED_DAYS = 30;
