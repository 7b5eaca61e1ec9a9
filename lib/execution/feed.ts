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
  /** Where in its workflow the run stood; missing in plain `goal` runs. */
  place: z.string().optional(),
  /** An answer to the workflow itself (tasks, a choice): no part of the conversation. */
  aside: z.boolean().optional(),
});
/** A step of a workflow that called no model. It stands where a reply would, and what it decided is not decided twice. */
const stepSchema = z.object({
  ...base,
  kind: z.literal('step'),
  content: z.string(),
  place: z.string(),
  /** What it came out with: the label of the edge that it takes. */
  label: z.string().optional(),
  /** It read people's messages up to here; as in a reply. */
  inputs: count,
  attempt: count,
  claimedAt: time,
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

const feedSchema = z.discriminatedUnion('kind', [
  userSchema,
  noteSchema,
  replySchema,
  stepSchema,
  summarySchema,
  toolSchema,
]);

export type FeedRow = z.infer<typeof feedSchema>;
export type UserRow = z.infer<typeof userSchema>;
export type NoteRow = z.infer<typeof noteSchema>;
export type ReplyRow = z.infer<typeof replySchema>;
export type StepRow = z.infer<typeof stepSchema>;
export type SummaryRow = z.infer<typeof summarySchema>;
export type ToolRow = z.infer<typeof toolSchema>;
export type Outcome = (typeof OUTCOMES)[number];

type FieldOf<Row> = Row extends FeedRow ? keyof Row : never;

/**
 * Attribute names of the feed rows, by the names the code uses. A step reads a window of some hundred of these rows and
 * pays for their names each time (docs/adr/0006-short-attribute-names.md).
 */
export const FEED_ATTRIBUTES: { readonly [Field in FieldOf<FeedRow>]: string } = {
  v: 'v',
  seq: 's',
  n: 'n',
  at: 't',
  kind: 'k',
  content: 'c',
  origin: 'o',
  code: 'cd',
  calls: 'ca',
  refused: 'rf',
  blob: 'b',
  inputs: 'in',
  waking: 'wi',
  callId: 'ci',
  name: 'nm',
  outcome: 'oc',
  startedAt: 'st',
  buyer: 'bu',
  model: 'm',
  tokensIn: 'ti',
  tokensOut: 'to',
  tokensCached: 'tc',
  cost: 'co',
  finish: 'f',
  attempt: 'a',
  sentFrom: 'sf',
  sentSummary: 'ss',
  promptHash: 'ph',
  claimedAt: 'cl',
  askedAt: 'as',
  upTo: 'ut',
  windowTokens: 'wt',
  place: 'p',
  aside: 'ad',
  label: 'l',
};
const FIELDS = Object.entries(FEED_ATTRIBUTES);
const FIELD_OF: ReadonlyMap<string, string> = new Map(FIELDS.map(([field, attribute]) => [attribute, field]));

/** The same values under their long names; attributes that nobody knows are left out. */
const longNames = (item: Item): { readonly [field: string]: Value } => {
  const row: { [field: string]: Value } = {};
  for (const attribute of Object.keys(item)) {
    const field = FIELD_OF.get(attribute);
    const value = item[attribute];
    if (field !== undefined && value !== undefined) row[field] = value;
  }
  return row;
};

/** @throws UnreadableRow */
export const readFeedRow = (item: Item): FeedRow => {
  const parsed = feedSchema.safeParse(longNames(item));
  if (!parsed.success) throw new UnreadableRow(item, z.prettifyError(parsed.error));
  return parsed.data;
};

type Unversioned<Row> = Row extends FeedRow ? Omit<Row, 'v'> : never;

export const feedItem = (orgId: string, executionId: string, row: Unversioned<FeedRow>): Item => {
  const values: { readonly [field: string]: Value | undefined } = { ...row, v: FEED_VERSION };
  const item: { [attribute: string]: Value } = {};
  for (const [field, attribute] of FIELDS) {
    const value = values[field];
    if (value !== undefined) item[attribute] = value;
  }
  return { ...keys.feed(orgId, executionId, row.seq, row.n), ...item };
};
