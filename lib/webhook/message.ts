import * as z from 'zod';

/**
 * Wake-up on the effect queue: about one delivery or, without `deliveryId`, about the endpoint's gate.
 * `bounces`: how often it met an endpoint whose places were all taken; it waits longer each time.
 */
export const webhookMessageSchema = z.strictObject({
  orgId: z.string().min(1),
  webhookId: z.string().min(1),
  deliveryId: z.string().min(1).optional(),
  bounces: z.int().min(1).max(1_000).optional(),
});
export type WebhookMessage = z.infer<typeof webhookMessageSchema>;

/** Ids out of the key of a delivery or a gate, as the index shows it. */
export const parseWebhookKey = (pk: string, sk: string): WebhookMessage | undefined => {
  const match = /^ORG#([^#]+)#WEBHOOK#([^#]+)$/.exec(pk);
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  const endpoint = { orgId: match[1], webhookId: match[2] };
  if (sk === 'GATE') return endpoint;
  return sk.startsWith('DELIVERY#') ? { ...endpoint, deliveryId: sk.slice('DELIVERY#'.length) } : undefined;
};
