import * as z from 'zod';
import { UnreadableRow } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import type { Item, Value } from '../kernel/table.ts';
import { count, time } from './row-fields.ts';

/**
 * The feed of an execution: short-term memory, live view and audit in one. Rows of one step share its `seq`; `n` orders them:
 * what people said before it (0–99), the model's reply (100), the outcomes of its calls (101 and up).
 */
export const REPLY_N = 100;
export const FIRST_CALL_N = REPLY_N + 1;
/** Calls of one reply that are carried out; the model is told about the others. */
export const MAX_CALLS = 64;
/** People's messages that one step reads; later ones wait for the next. */
export const MAX_INPUTS_PER_STEP = 50;

const FEED_VERSION = 1;
const base = { v: z.literal(FEED_VERSION), seq: count, n: count, at: time };

const callSchema = z.object({ id: z.string(), name: z.string(), arguments: z.string() });

/** What a bought reply cost and what it was shown; the same for a step's reply and for a summary. */
const purchase = {
  /** Lease owner that paid for it. */
  buyer: z.string(),
  model: z.string(),
  tokensIn: count,
  tokensOut: count,
  tokensCached: count,
  /** Micro-dollars. */
  cost: count,
  finish: z.string(),
  /** Claims of this seq when it was bought: 1 unless an earlier holder was lost. */
  attempt: count,
  /** First step whose rows were sent, and the step whose summary stood before them. */
  sentFrom: count,
  sentSummary: count.optional(),
  /** SHA-256 of the messages and tools as sent, first 32 hex digits. */
  promptHash: z.string(),
  claimedAt: time,
  askedAt: time,
};

const userSchema = z.object({ ...base, kind: z.literal('user'), content: z.string(), origin: z.string().optional() });
const noteSchema = z.object({ ...base, kind: z.literal('note'), content: z.string(), code: z.string() });
const replySchema = z.object({
  ...base,
  ...purchase,
  kind: z.literal('reply'),
  content: z.string(),
  calls: z.array(callSchema),
  refused: z.boolean().optional(),
  /** Where the whole reply is, when it was too big for a row: here the long arguments are cut. */
  blob: z.string().optional(),
  /** The inputs counters as the prompt contained them: a commit consumes up to here and no further. */
  inputs: count,
  waking: count,
});
const summarySchema = z.object({
  ...base,
  ...purchase,
  kind: z.literal('summary'),
  content: z.string(),
  /** Steps before this one are covered by the summary. */
  upTo: count,
  /** Estimated tokens of the window that is left. */
  windowTokens: count,
});
export const OUTCOMES = ['ok', 'error', 'unknown', 'rejected', 'answered'] as const;
const toolSchema = z.object({
  ...base,
  kind: z.literal('tool'),
  callId: z.string(),
  name: z.string(),
  outcome: z.enum(OUTCOMES),
  content: z.string(),
  /** Where the whole result is, when it was set aside. */
  blob: z.string().optional(),
  startedAt: time,
});

const feedSchema = z.discriminatedUnion('kind', [userSchema, noteSchema, replySchema, summarySchema, toolSchema]);

export type FeedRow = z.infer<typeof feedSchema>;
export type UserRow = z.infer<typeof userSchema>;
export type NoteRow = z.infer<typeof noteSchema>;
export type ReplyRow = z.infer<typeof replySchema>;
export type SummaryRow = z.infer<typeof summarySchema>;
export type ToolRow = z.infer<typeof toolSchema>;
export type Outcome = (typeof OUTCOMES)[number];

/** @throws UnreadableRow */
export const readFeedRow = (item: Item): FeedRow => {
  const parsed = feedSchema.safeParse(item);
  if (!parsed.success) throw new UnreadableRow(item, z.prettifyError(parsed.error));
  return parsed.data;
};

type Unversioned<Row> = Row extends FeedRow ? Omit<Row, 'v'> : never;

export const feedItem = (orgId: string, executionId: string, row: Unversioned<FeedRow>): Item => {
  const present = Object.entries({ ...row, v: FEED_VERSION }).filter(([, value]) => value !== undefined);
  return {
    ...keys.feed(orgId, executionId, row.seq, row.n),
    ...(Object.fromEntries(present) as { [key: string]: Value }),
  };
};
