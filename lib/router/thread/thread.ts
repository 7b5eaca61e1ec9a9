import * as z from 'zod';
import type { Item } from '../../kernel/table.ts';
import { readRow } from '../../tenancy/row.ts';
import { replyToSchema } from './trigger.ts';

/**
 * An ordered discussion: one issue, one pull request, one topic of a chat. It carries the lease of its one Eval: `owner`,
 * `epoch` (rises with each claim and fences every write of a holder) and `dirty` (rises with each Trigger that is stored;
 * the lease is only released if it is what the holder has seen, else it goes on).
 */
const rowSchema = z.object({
  id: z.string(),
  orgId: z.string(),
  sourceId: z.string(),
  /** The provider's own name of it, for good: `gh:<repository id>:issue:<number>`. Others that lead here are ALIAS rows. */
  key: z.string(),
  title: z.string(),
  url: z.string().optional(),
  repositoryId: z.string().optional(),
  replyTo: replyToSchema,
  /** State of what is discussed, as the provider last told it. */
  subject: z.object({ state: z.enum(['open', 'closed', 'merged', 'gone']), at: z.number() }).optional(),
  dirty: z.int().min(0).default(0),
  epoch: z.int().min(0).default(0),
  owner: z.string().optional(),
  leaseUntil: z.number().optional(),
  /** The message that the holder of the lease works on: it stays in the queue until the holder is done. */
  leaseMessage: z.string().optional(),
  /** Not to be claimed before: the model asked for time. */
  notBefore: z.number().optional(),
  /** Claims since the last Eval that came to its end. */
  attempts: z.int().min(0).default(0),
  /** Since when its Eval cannot go on without a person; the time of the attention item. */
  stuckSince: z.number().optional(),
  /** When a person last said stop here: what happened up to then is not taken up any more. */
  stoppedAt: z.number().optional(),
  /** Rises when a ticket subscribes or leaves: what was decided under another version is decided anew. */
  subscriptions: z.int().min(0).default(0),
  /** Tickets that subscribe; the mirror of the SUB rows, at most as many as fit. */
  tickets: z.array(z.string()).default([]),
  /** Times of the last replies that went out here, newest last; the breaker counts them. */
  sends: z.array(z.number()).default([]),
  /** Rises with each reply that is counted: nobody else has sent one since it was read. */
  sendCount: z.int().min(0).optional(),
  /** Muted by the breaker since. */
  mutedSince: z.number().optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
  duePk: z.string().optional(),
  dueSk: z.string().optional(),
  /** How far the clock put the mark off last, ms. */
  dueBackoff: z.number().optional(),
});
export type Thread = z.output<typeof rowSchema>;

/** @throws UnreadableRow */
export const readThread = (item: Item): Thread => readRow(rowSchema, item);

/** What a channel knows of the discussion that a Trigger belongs to. */
export type NewThread = Pick<Thread, 'key' | 'title' | 'replyTo'> & {
  readonly url?: string | undefined;
  readonly repositoryId?: string | undefined;
  /** Further keys that mean this discussion, from now on. */
  readonly aliases?: readonly string[] | undefined;
};
