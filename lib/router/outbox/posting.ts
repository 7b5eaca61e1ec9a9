import * as z from 'zod';
import type { Item } from '../../kernel/table.ts';
import { readRow } from '../../tenancy/row.ts';
import { VERBS } from '../mandate/mandate.ts';
import { replyToSchema } from '../thread/trigger.ts';

export const EFFECT_STATES = ['held', 'pending', 'sending', 'sent', 'unknown', 'dead'] as const;
export type EffectState = (typeof EFFECT_STATES)[number];

/**
 * Something that a ticket (or an answer without one) says or does in a discussion. Written with its cause; `key` is fixed
 * then and equal in every attempt. The mandate is compared when it is written and again when it is sent.
 */
const rowSchema = z.object({
  id: z.string(),
  orgId: z.string(),
  /** `document`: the one comment of a ticket in a Thread, edited in place. `post`: a comment of its own. `review_request`, `reaction` … */
  kind: z.enum(['post', 'document', 'review_request']),
  sourceId: z.string(),
  threadId: z.string(),
  replyTo: replyToSchema,
  /** Missing: an answer without a ticket. */
  ticketId: z.string().optional(),
  mandateId: z.string().optional(),
  verb: z.enum(VERBS),
  /** Markdown. */
  body: z.string(),
  key: z.string(),
  state: z.enum(EFFECT_STATES),
  reason: z.object({ code: z.string(), message: z.string() }).optional(),
  attempts: z.int().min(0).default(0),
  owner: z.string().optional(),
  epoch: z.int().min(0).default(0),
  leaseUntil: z.number().optional(),
  notBefore: z.number().optional(),
  /** Of a document: the revision wanted and the one that is out. */
  desired: z.int().min(1).optional(),
  sentRevision: z.int().min(0).optional(),
  remoteId: z.string().optional(),
  remoteUrl: z.string().optional(),
  /** Reads that found nothing of an `unknown` one. */
  negatives: z.int().min(0).default(0),
  createdAt: z.number(),
  sentAt: z.number().optional(),
  duePk: z.string().optional(),
  dueSk: z.string().optional(),
  ttl: z.number().optional(),
});
export type Posting = z.output<typeof rowSchema>;

/** @throws UnreadableRow */
export const readPosting = (item: Item): Posting => readRow(rowSchema, item);
