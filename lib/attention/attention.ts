import { createHash } from 'node:crypto';
import * as z from 'zod';
import { UnreadableRow } from '../kernel/errors.ts';
import { makeIds } from '../kernel/ids.ts';
import { keys } from '../kernel/keys.ts';
import type { Item, Key, Write } from '../kernel/table.ts';
import { TABLE } from '../names.ts';

/** What can wait for a person. */
export const ATTENTION_KINDS = [
  'permission',
  'question',
  'error',
  'iteration_limit',
  'budget',
  'organisation_budget',
  'webhook_disabled',
  'schedule_stopped',
  'source_stopped',
  'thread_muted',
  'effect_undelivered',
  'assessment_stopped',
  'trigger_undecided',
  'ticket_answer',
  'ticket_review',
  'ticket_blocked',
  'ticket_failed',
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

const ATTENTION_VERSION = 1;

const actionSchema = z.object({
  label: z.string(),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: z.string(),
  body: z.record(z.string(), z.json()).optional(),
});

const rowSchema = z.object({
  v: z.literal(ATTENTION_VERSION),
  attentionId: z.string(),
  orgId: z.string(),
  /** Any word: rows of kinds that a newer version writes are shown by an older one too. */
  kind: z.string(),
  subjectType: z.string(),
  subjectId: z.string(),
  /** The run it is about, where the subject is something smaller. */
  executionId: z.string().optional(),
  question: z.string(),
  url: z.string(),
  /** Milliseconds since the epoch. */
  since: z.int().min(0).max(8_640_000_000_000_000),
  actions: z.array(actionSchema),
  /** Seconds since the epoch; the table removes it some time after. */
  [TABLE.ttl]: z.number().optional(),
});
export type Attention = z.infer<typeof rowSchema>;

/** A request that settles the item or is a step towards it, to be sent exactly as it is. */
export type AttentionAction = z.infer<typeof actionSchema>;

/** @throws UnreadableRow */
export const readAttention = (item: Item): Attention => {
  const parsed = rowSchema.safeParse(item);
  if (!parsed.success) throw new UnreadableRow(item, z.prettifyError(parsed.error));
  return parsed.data;
};

/**
 * What makes an item the same item. Whoever closes it knows all of this without a read, so `at` is a time that the cause's
 * own row keeps: when the run stopped, when the permission was asked for.
 */
export interface Cause {
  readonly orgId: string;
  readonly kind: AttentionKind;
  readonly subject: { readonly type: string; readonly id: string };
  /** Milliseconds since the epoch; items are listed in its order and shown since then. */
  readonly at: number;
}

export interface NewAttention extends Cause {
  readonly executionId?: string | undefined;
  /** A sentence for a person. */
  readonly question: string;
  /** API path of the subject. */
  readonly url: string;
  readonly actions: readonly AttentionAction[];
  /** When it is moot by itself, milliseconds since the epoch: the end of a day's budget. */
  readonly until?: number | undefined;
}

/** `att_`, the time of the cause, and a hash of the rest in place of chance: the same cause makes the same id. */
export const attentionIdOf = ({ orgId, kind, subject, at }: Cause): string =>
  makeIds(() =>
    createHash('sha256').update(`${orgId} ${kind} ${subject.type} ${subject.id}`).digest().subarray(0, 10),
  ).next('att', at);

const keyOf = (cause: Cause): Key => keys.attention(cause.orgId, attentionIdOf(cause));

const LONGEST_QUESTION = 1_000; // characters

/**
 * For the transaction of the cause: opens the item. Nothing is asked of the row, so that the cause can never be refused
 * for it; opened twice it is one item.
 */
export const openAttention = (item: NewAttention): Write => ({
  put: {
    ...keyOf(item),
    v: ATTENTION_VERSION,
    attentionId: attentionIdOf(item),
    orgId: item.orgId,
    kind: item.kind,
    subjectType: item.subject.type,
    subjectId: item.subject.id,
    ...(item.executionId !== undefined && { executionId: item.executionId }),
    question: item.question.slice(0, LONGEST_QUESTION),
    url: item.url,
    since: item.at,
    actions: item.actions.map(({ body, ...action }) => ({ ...action, ...(body !== undefined && { body }) })),
    ...(item.until !== undefined && { [TABLE.ttl]: Math.floor(item.until / 1000) }),
  },
});

/** For the transaction that ends the cause. Closing what is not open is no error. */
export const closeAttention = (cause: Cause): Write => ({ delete: keyOf(cause) });
