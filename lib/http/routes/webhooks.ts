import * as z from 'zod';
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  patchEndpoint,
  rotateSecret,
} from '../../webhook/change-endpoint.ts';
import { listDeliveries, redeliver } from '../../webhook/deliveries.ts';
import { DELIVERY_STATES, type Delivery } from '../../webhook/delivery.ts';
import { DISABLED_REASONS, type Endpoint, EVENT_TYPES } from '../../webhook/endpoint.ts';
import { listEndpoints } from '../../webhook/list-endpoints.ts';
import { type Call, defineRoute, type Route } from '../define-route.ts';
import { listBody, listOf, pageQuery } from '../paging.ts';
import { demandChange, time } from './fields.ts';

const url = z
  .string()
  .min(1)
  .max(2_000)
  .describe('https, on the public internet; http or a private host only where the operator allows it.');
const events = z.array(z.enum(EVENT_TYPES)).min(1).max(EVENT_TYPES.length);
const description = z.string().max(1_000);
const headers = z
  .record(z.string(), z.string())
  .describe('Sent with every delivery. The values can be written, never read.');
const state = z.enum(['enabled', 'disabled']);

const changes = z.strictObject({
  url: url.optional(),
  events: events.optional(),
  description: description.optional(),
  headers: headers.optional(),
  state: state.optional(),
});

const webhookView = z
  .object({
    id: z.string(),
    url: z.string(),
    events: z.array(z.string()),
    description: z.string().optional(),
    headers: z.array(z.string()).describe('Names of the custom headers.'),
    state,
    reason: z.enum(DISABLED_REASONS).optional().describe('Why it is disabled.'),
    disabledAt: time.optional(),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Webhook' });

const secret = z
  .string()
  .describe('`whsec_…` for a library of Standard Webhooks. In this answer and never shown again.');

const deliveryView = z
  .object({
    id: z.string().describe('The `webhook-id` of every attempt.'),
    eventId: z.string(),
    type: z.string(),
    sequence: z.number(),
    state: z.enum(DELIVERY_STATES),
    attempts: z.number(),
    createdAt: time,
    nextAt: time
      .optional()
      .describe('Missing while the webhook fails altogether: then one delivery at a time is tried.'),
    lastAttemptAt: time.optional(),
    deliveredAt: time.optional(),
    response: z.object({ status: z.number(), excerpt: z.string().optional() }).optional(),
    error: z.string().optional(),
  })
  .meta({ id: 'WebhookDelivery' });

const iso = (ms: number): string => new Date(ms).toISOString();

const webhookJson = ({ headerNames, disabledAt, ...endpoint }: Endpoint) => ({
  ...endpoint,
  headers: headerNames,
  ...(disabledAt !== undefined && { disabledAt: iso(disabledAt) }),
});

const deliveryJson = (delivery: Delivery): z.input<typeof deliveryView> => {
  const { deliveryId: id, eventId, type, sequence, attempts, nextAt, lastAttemptAt, deliveredAt } = delivery;
  const { lastStatus: status, excerpt, lastError } = delivery;
  return {
    id,
    eventId,
    type,
    sequence,
    state: delivery.state,
    attempts,
    createdAt: iso(delivery.at),
    ...(nextAt !== undefined && { nextAt: iso(nextAt) }),
    ...(lastAttemptAt !== undefined && { lastAttemptAt: iso(lastAttemptAt) }),
    ...(deliveredAt !== undefined && { deliveredAt: iso(deliveredAt) }),
    ...(status !== undefined && { response: { status, ...(excerpt !== undefined && { excerpt }) } }),
    ...(lastError !== undefined && { error: lastError }),
  };
};

const endpointDeps = ({ deps }: Pick<Call<unknown, unknown, unknown>, 'deps'>) => ({ ...deps, ...deps.webhooks });
const common = { tag: 'Webhooks', scope: 'admin' } as const;

export const webhookRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    method: 'POST',
    path: '/v1/webhooks',
    operationId: 'createWebhook',
    summary: 'Have events sent to an address, signed as Standard Webhooks. The secret is in this answer alone.',
    body: z.strictObject({ url, events, description: description.optional(), headers: headers.optional() }),
    responses: { 201: webhookView.extend({ secret }).meta({ id: 'NewWebhook' }) },
    idempotent: 'secret',
    handler: async (call) => {
      const { principal, body, now, record } = call;
      const made = await createEndpoint(endpointDeps(call), principal.orgId, body, principal.keyId, now, record);
      return { body: { ...webhookJson(made), secret: made.secret } };
    },
  }),
  defineRoute({
    ...common,
    method: 'GET',
    path: '/v1/webhooks',
    operationId: 'listWebhooks',
    summary: 'List webhooks, newest first. No secret is shown.',
    query: z.strictObject(pageQuery),
    responses: { 200: listOf(webhookView) },
    handler: async ({ deps, principal, page }) => {
      const at = page('webhooks');
      const { items, ...rest } = await listEndpoints(deps, principal.orgId, at);
      return { body: listBody(at, { items: items.map(webhookJson), ...rest }) };
    },
  }),
  defineRoute({
    ...common,
    method: 'GET',
    path: '/v1/webhooks/{webhookId}',
    operationId: 'getWebhook',
    summary: 'Get a webhook.',
    responses: { 200: webhookView },
    problems: [404],
    handler: async ({ deps, principal, params }) => ({
      body: webhookJson(await getEndpoint(deps.table, principal.orgId, params.webhookId)),
    }),
  }),
  defineRoute({
    ...common,
    method: 'PATCH',
    path: '/v1/webhooks/{webhookId}',
    operationId: 'patchWebhook',
    summary: 'Change a webhook. `state: enabled` also has everything that waits tried at once; `disabled` gives it up.',
    body: changes,
    responses: { 200: webhookView },
    problems: [404, 409],
    handler: async (call) => {
      const { principal, params, body, now } = call;
      demandChange(body, changes);
      return {
        body: webhookJson(await patchEndpoint(endpointDeps(call), principal.orgId, params.webhookId, body, now)),
      };
    },
  }),
  defineRoute({
    ...common,
    method: 'DELETE',
    path: '/v1/webhooks/{webhookId}',
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook and its secret. Nothing is sent to it any more.',
    responses: { 204: null },
    problems: [404],
    handler: async (call) => {
      await deleteEndpoint(endpointDeps(call), call.principal.orgId, call.params.webhookId);
      return {};
    },
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: '/v1/webhooks/{webhookId}/rotate-secret',
    operationId: 'rotateWebhookSecret',
    summary: 'Make a new secret. The old one signs beside it for 24 hours.',
    responses: { 200: webhookView.extend({ secret, previousUntil: time }).meta({ id: 'RotatedWebhook' }) },
    problems: [404, 409],
    idempotent: 'secret',
    handler: async (call) => {
      const { principal, params, now, record } = call;
      const made = await rotateSecret(endpointDeps(call), principal.orgId, params.webhookId, now, record);
      return { body: { ...webhookJson(made), secret: made.secret, previousUntil: made.previousUntil } };
    },
  }),
  defineRoute({
    ...common,
    method: 'GET',
    path: '/v1/webhooks/{webhookId}/deliveries',
    operationId: 'listWebhookDeliveries',
    summary: 'List deliveries of the last 30 days, newest first.',
    query: z.strictObject({ ...pageQuery, state: z.enum(DELIVERY_STATES).optional() }),
    responses: { 200: listOf(deliveryView) },
    problems: [404],
    handler: async ({ deps, principal, params: { webhookId }, query, page }) => {
      const at = page(`webhooks/${webhookId}/deliveries?state=${query.state ?? ''}`);
      const { items, ...rest } = await listDeliveries(deps, principal.orgId, webhookId, query.state, at);
      return { body: listBody(at, { items: items.map(deliveryJson), ...rest }) };
    },
  }),
  defineRoute({
    ...common,
    method: 'POST',
    path: '/v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver',
    operationId: 'redeliverWebhook',
    summary: 'Send a delivery that was made or given up once more, under the same webhook-id.',
    responses: { 202: deliveryView },
    problems: [404, 409],
    handler: async (call) => {
      const { principal, params, now } = call;
      const { webhookId, deliveryId } = params;
      return { body: deliveryJson(await redeliver(endpointDeps(call), principal.orgId, webhookId, deliveryId, now)) };
    },
  }),
];
