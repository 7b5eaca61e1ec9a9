import { createHash } from 'node:crypto';
import * as z from 'zod';
import { UnreadableRow } from '../kernel/errors.ts';
import { makeIds } from '../kernel/ids.ts';
import { keys } from '../kernel/keys.ts';
import type { Item } from '../kernel/table.ts';
import { TABLE } from '../names.ts';
import type { WebhookEvent } from './events.ts';
import { stallMark } from './timing.ts';

export const DELIVERY_VERSION = 1;

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Attempts go on for so long, counted from the event or from the redelivery that a person asked for. */
export const TRIED_FOR_MS = 86_400_000;
const KEPT_SECONDS = 30 * 86_400;

const deliverySchema = z.object({
  v: z.literal(DELIVERY_VERSION),
  /** Also the `webhook-id`: the same in every attempt. */
  deliveryId: z.string(),
  orgId: z.string(),
  webhookId: z.string(),
  eventId: z.string(),
  type: z.string(),
  sequence: z.number(),
  /** The exact text that is signed and sent. */
  body: z.string(),
  state: z.enum(DELIVERY_STATES),
  /** When the event happened, ms. */
  at: z.number(),
  triedSince: z.number(),
  attempts: z.number(),
  nextAt: z.number().optional(),
  /** Behind the open gate, without a mark; a row `HELD#…` leads to it. */
  held: z.boolean().optional(),
  lastAttemptAt: z.number().optional(),
  lastStatus: z.number().optional(),
  lastError: z.string().optional(),
  excerpt: z.string().optional(),
  deliveredAt: z.number().optional(),
  duePk: z.string().optional(),
  dueSk: z.string().optional(),
});
export type Delivery = z.infer<typeof deliverySchema>;

/** @throws UnreadableRow */
export const readDelivery = (item: Item): Delivery => {
  const parsed = deliverySchema.safeParse(item);
  if (!parsed.success) throw new UnreadableRow(item, z.prettifyError(parsed.error));
  return parsed.data;
};

/** The same event and endpoint make the same id, however often the event is handed out; ids sort by the event's time. */
export const deliveryIdOf = (event: WebhookEvent, webhookId: string): string =>
  makeIds(() => createHash('sha256').update(`${event.id} ${webhookId}`).digest().subarray(0, 10)).next('dlv', event.at);

/** When the table may remove what was written at `now`, seconds since the epoch. */
export const keptUntil = (now: number): number => Math.floor(now / 1000) + KEPT_SECONDS;

export const newDeliveryItem = (orgId: string, webhookId: string, event: WebhookEvent, now: number): Item => {
  const deliveryId = deliveryIdOf(event, webhookId);
  const { id, type, sequence, at, data } = event;
  return {
    ...keys.webhookDelivery(orgId, webhookId, deliveryId),
    v: DELIVERY_VERSION,
    deliveryId,
    orgId,
    webhookId,
    eventId: id,
    type,
    sequence,
    body: JSON.stringify({ id, type, createdAt: new Date(at).toISOString(), sequence, data }),
    state: 'pending',
    at,
    triedSince: now,
    attempts: 0,
    nextAt: now,
    [TABLE.ttl]: keptUntil(now),
    ...stallMark(deliveryId, now),
  };
};
