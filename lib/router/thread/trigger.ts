import * as z from 'zod';
import type { Item } from '../../kernel/table.ts';
import { readRow } from '../../tenancy/row.ts';

/** `direct`: it went to the tickets that subscribe to its Thread, with the class it has besides as `gate.class`. */
export const CLASSES = ['explicit', 'inferred', 'ignored'] as const;
export type Class = (typeof CLASSES)[number];

export const DECISIONS = ['accept', 'join', 'answer', 'ignore', 'stop'] as const;
export type DecisionKind = (typeof DECISIONS)[number];

export const ACTOR_TYPES = ['user', 'bot', 'app', 'anonymous'] as const;

/**
 * Where an answer to this Trigger goes: stored with it and never chosen by a model. `thread` is the provider's own address
 * of the discussion (GitHub: `<repository id>/issues/<number>`), `root` the message in it that is answered (a review
 * comment's root, a chat's topic), if the provider has such.
 */
export const replyToSchema = z.object({ thread: z.string(), root: z.string().optional() });
export type ReplyTo = z.infer<typeof replyToSchema>;

export const gateSchema = z.object({
  class: z.enum(CLASSES),
  /** The row of the policy that decided, in words: `admission[2]`, `allow`, `default`. */
  row: z.string(),
  reason: z.string(),
  policyVersion: z.int().min(0),
  /** A listed person has named us and said stop. */
  stop: z.boolean().optional(),
});
export type GateVerdict = z.infer<typeof gateSchema>;

export const decisionSchema = z.object({
  decision: z.enum(DECISIONS),
  ruleId: z.string().optional(),
  reason: z.string(),
  policyVersion: z.int().min(0),
  /** It would have opened a ticket in mode `auto`. */
  wouldAccept: z.boolean().optional(),
  ticketId: z.string().optional(),
  evalId: z.string().optional(),
  at: z.number(),
});
export type Decision = z.infer<typeof decisionSchema>;

/** One event that somebody might want something with. Its id comes from the object it tells of: an edit is a revision. */
const rowSchema = z.object({
  id: z.string(),
  orgId: z.string(),
  threadId: z.string(),
  sourceId: z.string(),
  /** What the gate's `scope` is compared with: GitHub's event name, a chat's id. */
  scope: z.string(),
  /** `comment`, `issue`, `pull_request`, `review`, `check`, `message`, `ticket_phase` … */
  kind: z.string(),
  actor: z.object({
    id: z.string(),
    type: z.enum(ACTOR_TYPES),
    login: z.string().optional(),
    /** GitHub's author_association of the author of the text; never an authority by itself. */
    association: z.string().optional(),
  }),
  /** Who wrote the text, where another one edited it. */
  authorId: z.string().optional(),
  text: z.string(),
  url: z.string().optional(),
  /** Rises with each edit; what was decided about an older one is not decided about this. */
  revision: z.int().min(1),
  /** When the newest revision happened, where that is later than `occurredAt`; and whether it is an edit. */
  revisedAt: z.number().optional(),
  edited: z.boolean().optional(),
  withdrawn: z.boolean().optional(),
  replyTo: replyToSchema,
  /** Numeric id of the repository, as text. */
  repositoryId: z.string().optional(),
  /** `pending`: for an Eval. `delivered`: fanned out to `tickets`. `decided`: by gate or Eval. */
  state: z.enum(['pending', 'delivering', 'delivered', 'decided', 'withdrawn']),
  gate: gateSchema,
  decision: decisionSchema.optional(),
  tickets: z.array(z.string()).optional(),
  /** Version of the Thread's subscriptions under which no ticket took it: only another one is asked again. */
  refusedUnder: z.int().min(0).optional(),
  /** Evals that have left it out so far. */
  rounds: z.int().min(0).default(0),
  deliveryId: z.string(),
  occurredAt: z.number(),
  receivedAt: z.number(),
});
export type Trigger = z.output<typeof rowSchema>;

/** @throws UnreadableRow */
export const readTrigger = (item: Item): Trigger => readRow(rowSchema, item);

/** What a channel makes of a delivery; `lib/router/thread/store.ts` makes a row of it. */
export type NewTrigger = Pick<
  Trigger,
  'sourceId' | 'scope' | 'kind' | 'actor' | 'text' | 'replyTo' | 'deliveryId' | 'occurredAt'
> & {
  /** Names the object within its source for good: `issue_comment/123`. Two deliveries about one object are one Trigger. */
  readonly objectId: string;
  readonly authorId?: string | undefined;
  readonly url?: string | undefined;
  readonly repositoryId?: string | undefined;
};
