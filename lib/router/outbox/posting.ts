import * as z from 'zod';
import type { Item } from '../../kernel/table.ts';
import { readRow } from '../../tenancy/row.ts';
import { VERBS } from '../mandate/mandate.ts';
import { replyToSchema } from '../thread/trigger.ts';

export const EFFECT_STATES = ['held', 'pending', 'sending', 'sent', 'unknown', 'dead'] as const;
export type EffectState = (typeof EFFECT_STATES)[number];

/** `post`: a comment of its own. `document`: the one comment of a ticket in a Thread, edited in place. */
export const POSTING_KINDS = ['post', 'document', 'review_request'] as const;

/**
 * Something that a ticket (or an answer without one) says or does in a discussion. Written with its cause; `key` is fixed
 * then and equal in every attempt. The mandate is compared when it is written and again when it is sent.
 *
 * Whoever wants a document to change writes `body` or `note` and `desired` and touches nothing else: `state`, lease and
 * what is known of the remote comment are the sender's, and a wish never has to wait for them (docs/adr/0064).
 */
const rowSchema = z.object({
  id: z.string(),
  orgId: z.string(),
  kind: z.enum(POSTING_KINDS),
  sourceId: z.string(),
  threadId: z.string(),
  replyTo: replyToSchema,
  /** Missing: an answer without a ticket. */
  ticketId: z.string().optional(),
  mandateId: z.string().optional(),
  verb: z.enum(VERBS),
  /** Markdown. Of a document: what the ticket last said; while it is empty there is nothing to create. */
  body: z.string().default(''),
  /** Markdown below the body of a document: how the work stands. */
  note: z.string().optional(),
  /** Logins that are asked for a review. */
  reviewers: z.array(z.string()).optional(),
  key: z.string(),
  state: z.enum(EFFECT_STATES).default('pending'),
  reason: z.object({ code: z.string(), message: z.string() }).optional(),
  /** Of the revision that is on its way. */
  attempts: z.int().min(0).default(0),
  owner: z.string().optional(),
  epoch: z.int().min(0).default(0),
  leaseUntil: z.number().optional(),
  notBefore: z.number().optional(),
  /** When the first of the present attempts began: nothing of it can be older than that at the provider. */
  triedAt: z.number().optional(),
  /** Attempts go on for a day from here; later than `createdAt` where a person had it tried again. */
  triedSince: z.number().optional(),
  /** Of a document: the revision wanted and the one that is out. */
  desired: z.int().min(1).optional(),
  sentRevision: z.int().min(0).optional(),
  remoteId: z.string().optional(),
  remoteUrl: z.string().optional(),
  /** Reads that found nothing of an `unknown` one. */
  negatives: z.int().min(0).default(0),
  /** When what it answers was said, if it answers something. */
  askedAt: z.number().optional(),
  /** A person wants it out: breaker and closed discussion do not count. */
  released: z.boolean().optional(),
  /** Time of its open attention item. */
  attentionAt: z.number().optional(),
  createdAt: z.number(),
  sentAt: z.number().optional(),
  duePk: z.string().optional(),
  dueSk: z.string().optional(),
  ttl: z.number().optional(),
});
export type Posting = z.output<typeof rowSchema>;

/** @throws UnreadableRow */
export const readPosting = (item: Item): Posting => readRow(rowSchema, item);

/** True while a document is wanted otherwise than it is out there. */
export const isBehind = ({ kind, desired, sentRevision }: Posting): boolean =>
  kind === 'document' && (desired ?? 0) > (sentRevision ?? 0);

/** A note came before there was anything that it could stand below: nothing is wanted yet. */
export const isBlank = ({ kind, body, remoteId }: Posting): boolean =>
  kind === 'document' && body === '' && remoteId === undefined;

/**
 * Nothing is to be done any more. A document that has to change is never at rest, unless it was given up for good; what a
 * person dropped was one revision of it.
 */
export const isAtRest = (posting: Posting): boolean => {
  if (isBlank(posting)) return true;
  if (posting.state === 'dead') return posting.reason?.code !== DROPPED || !isBehind(posting);
  return posting.state === 'sent' && !isBehind(posting);
};

/** Code of the reason of what a person dropped. */
export const DROPPED = 'dropped';

/** The state that people are shown: what is not at rest any more waits to be sent. */
export const shownState = (posting: Posting): EffectState =>
  (posting.state === 'sent' || posting.state === 'dead') && !isAtRest(posting) ? 'pending' : posting.state;

/** Ids out of a posting's primary key, as the index shows it. */
export const parsePostingPk = (pk: string): { readonly orgId: string; readonly postingId: string } | undefined => {
  const match = /^ORG#([^#]+)#POSTING#([^#]+)$/.exec(pk);
  return match?.[1] !== undefined && match[2] !== undefined ? { orgId: match[1], postingId: match[2] } : undefined;
};
