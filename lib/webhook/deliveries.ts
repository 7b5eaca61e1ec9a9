/** What people see of deliveries, and how they have one sent once more. */
import { type AppError, conflict, notFound } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import type { Log, Queue } from '../kernel/ports.ts';
import { and, ConditionFailed, eq, remove, set, type Table } from '../kernel/table.ts';
import { TABLE } from '../names.ts';
import { type Listed, listRows, type PageRequest } from '../tenancy/list-rows.ts';
import { getEndpoint } from './change-endpoint.ts';
import { DELIVERY_VERSION, type Delivery, type DeliveryState, keptUntil, readDelivery } from './delivery.ts';
import type { WebhookMessage } from './message.ts';
import { setMark, stallMark } from './timing.ts';

/** Newest first. @throws AppError 404 */
export const listDeliveries = async (
  deps: { readonly table: Table; readonly log: Log },
  orgId: string,
  webhookId: string,
  state: DeliveryState | undefined,
  page: PageRequest,
): Promise<Listed<Delivery>> => {
  await getEndpoint(deps.table, orgId, webhookId);
  const read = (item: Parameters<typeof readDelivery>[0]): Delivery | undefined => {
    const delivery = readDelivery(item);
    return state === undefined || delivery.state === state ? delivery : undefined;
  };
  return listRows({ ...deps, ...keys.webhookDeliveries(orgId, webhookId), read }, page);
};

/**
 * Sends a delivery that came to rest once more, under its old `webhook-id`, with a day's attempts before it.
 * @throws AppError 404; 409 `webhook_disabled`, `delivery_pending`
 */
export const redeliver = async (
  deps: { readonly table: Table; readonly webhooks: Queue<WebhookMessage> },
  orgId: string,
  webhookId: string,
  deliveryId: string,
  nowMs: number,
): Promise<Delivery> => {
  const endpoint = await getEndpoint(deps.table, orgId, webhookId);
  const key = keys.webhookDelivery(orgId, webhookId, deliveryId);
  const item = await deps.table.get(key, { consistent: true });
  if (item === undefined) throw notFound('delivery');
  const { state } = readDelivery(item);
  if (endpoint.state === 'disabled') {
    throw conflict('webhook_disabled', 'The webhook is disabled: enable it first, with PATCH {"state":"enabled"}.');
  }
  if (state === 'pending') throw pendingAlready();
  try {
    const after = await deps.table.update(
      key,
      [
        set('state', 'pending'),
        set('triedSince', nowMs),
        set('nextAt', nowMs),
        remove('deliveredAt'),
        set(TABLE.ttl, keptUntil(nowMs)),
        ...setMark(stallMark(deliveryId, nowMs)),
      ],
      and(eq('v', DELIVERY_VERSION), eq('state', state)),
    );
    await deps.webhooks.send({ orgId, webhookId, deliveryId }, { delaySeconds: 0, tenant: orgId });
    return readDelivery(after);
  } catch (error) {
    throw error instanceof ConditionFailed ? pendingAlready() : error;
  }
};

const pendingAlready = (): AppError =>
  conflict('delivery_pending', 'The delivery is on its way already; `nextAt` says when it is tried.');
