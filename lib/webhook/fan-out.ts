import type { Effect } from '../effect/effect.ts';
import { readAsk } from '../execution/rows.ts';
import { allPages } from '../execution/step/load.ts';
import { keys } from '../kernel/keys.ts';
import type { Clock, Log, Queue } from '../kernel/ports.ts';
import { ConditionFailed, missing, type Table } from '../kernel/table.ts';
import { legible } from '../tenancy/list-rows.ts';
import { type Delivery, newDeliveryItem, readDelivery } from './delivery.ts';
import { type Endpoint, readEndpoint, wants } from './endpoint.ts';
import { askedEvents, askedTypeOf, eventOf, type WebhookEvent } from './events.ts';
import type { WebhookMessage } from './message.ts';

export interface FanOutDeps {
  readonly table: Table;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly webhooks: Queue<WebhookMessage>;
}

/** All endpoints of an organisation that can be read; one that cannot hides none of the others. */
const endpointsOf = async ({ table, log }: FanOutDeps, orgId: string): Promise<Endpoint[]> => {
  const items = await allPages(table, { ...keys.webhooks(orgId), consistent: true });
  return items.flatMap((item) => legible(log, readEndpoint)(item) ?? []);
};

const eventsFor = async (
  deps: FanOutDeps,
  effect: Effect,
  endpoints: readonly Endpoint[],
): Promise<readonly WebhookEvent[]> => {
  const asked = askedTypeOf(effect);
  const event = eventOf(effect);
  // What was asked is read only where somebody wants to know.
  if (asked === undefined || effect.step === undefined || !endpoints.some((each) => wants(each, asked))) return [event];
  const { executionId } = event.data as { readonly executionId: string };
  const query = { ...keys.asksOf(effect.orgId, executionId, effect.step), consistent: true };
  return [event, ...askedEvents(effect, (await allPages(deps.table, query)).map(readAsk))];
};

/** The row as it stands: made now, or by an earlier try. */
const putOnce = async (deps: FanOutDeps, endpoint: Endpoint, event: WebhookEvent): Promise<Delivery> => {
  const item = newDeliveryItem(endpoint.orgId, endpoint.id, event, deps.clock.now());
  try {
    await deps.table.put(item, missing('pk'));
    return readDelivery(item);
  } catch (error) {
    if (!(error instanceof ConditionFailed) || error.item === undefined) throw error;
    return readDelivery(error.item);
  }
};

const handOut = async (deps: FanOutDeps, endpoint: Endpoint, event: WebhookEvent): Promise<void> => {
  const { orgId, webhookId, deliveryId, state, attempts } = await putOnce(deps, endpoint, event);
  // An earlier try may have died between its row and its message.
  if (state !== 'pending' || attempts > 0) return;
  await deps.webhooks.send({ orgId, webhookId, deliveryId }, { delaySeconds: 0, tenant: orgId });
};

/**
 * Makes a delivery of each event for each endpoint that wants it, and wakes it. It may run again: rows are put if absent
 * under ids that event and endpoint determine.
 * @throws when a row or message could not be written: the effect is not done then, and comes again
 */
export const fanOut = async (deps: FanOutDeps, effect: Effect): Promise<void> => {
  const endpoints = (await endpointsOf(deps, effect.orgId)).filter(({ state }) => state === 'enabled');
  if (endpoints.length === 0) return;
  const events = await eventsFor(deps, effect, endpoints);
  const results = await Promise.allSettled(
    events.flatMap((event) =>
      endpoints.filter((each) => wants(each, event.type)).map((each) => handOut(deps, each, event)),
    ),
  );
  for (const result of results) if (result.status === 'rejected') throw result.reason;
};
