/** What the messages of webhooks on the effect queue do. */
import { ifStill } from '../kernel/if-still.ts';
import { due, keys } from '../kernel/keys.ts';
import type { Clock, Queue } from '../kernel/ports.ts';
import { eq, type Item, type Table } from '../kernel/table.ts';
import { prepare } from './attempt.ts';
import { type Delivery, readDelivery } from './delivery.ts';
import type { Target, WebhookDeps } from './deps.ts';
import { disabledSentence, readEndpoint } from './endpoint.ts';
import { goIn, readGate } from './gate.ts';
import { parseWebhookKey, type WebhookMessage } from './message.ts';
import { bury, hold } from './record.ts';
import { runAttempt } from './run.ts';
import { EARLY_MS, tendGate } from './tend.ts';
import { delayUntil, setMark, stallMark } from './timing.ts';

/**
 * Handles one message. It may come twice, late or for something that is long over; what is due is found in the rows.
 * @throws what table, parameter store or queue say: the message comes back
 */
export const handleWebhookMessage = async (deps: WebhookDeps, message: WebhookMessage): Promise<void> => {
  const { orgId, webhookId, deliveryId } = message;
  const [organisation, endpointItem, gateItem, deliveryItem] = await deps.table.getMany(
    [
      keys.organisation(orgId),
      keys.webhook(orgId, webhookId),
      keys.webhookGate(orgId, webhookId),
      ...(deliveryId === undefined ? [] : [keys.webhookDelivery(orgId, webhookId, deliveryId)]),
    ],
    { consistent: true },
  );
  // Somebody holds the whole organisation; the marks bring everything back.
  if (organisation?.stopped !== undefined) return;
  const target = endpointItem && gateItem && { endpoint: readEndpoint(endpointItem), gate: readGate(gateItem) };
  if (deliveryId === undefined) return target && tendGate(deps, target);
  if (deliveryItem === undefined) return;
  const delivery = readDelivery(deliveryItem);
  if (delivery.state !== 'pending') return;
  if (target === undefined) return bury(deps.table, delivery, 'The webhook was deleted.', deps.clock.now());
  if (target.endpoint.state === 'disabled') {
    const why = disabledSentence(target.endpoint, delivery.lastError);
    return bury(deps.table, delivery, why, deps.clock.now());
  }
  await deliver(deps, target, delivery, message);
};

const deliver = async (
  deps: WebhookDeps,
  { endpoint, gate }: Target,
  delivery: Delivery,
  message: WebhookMessage,
): Promise<void> => {
  const now = deps.clock.now();
  // Behind the gate it is the gate's; before its time this is a copy, and the right message is under way.
  if (delivery.held === true || (delivery.nextAt ?? 0) > now + EARLY_MS) return;
  const prepared = await prepare(deps, endpoint);
  const entered = await goIn(deps.table, gate, delivery.deliveryId, now);
  switch (entered.kind) {
    case 'in':
      return runAttempt(deps, prepared, entered.gate, delivery, entered.until);
    case 'deleted':
      return bury(deps.table, delivery, 'The webhook was deleted.', now);
    case 'busy':
      return bounce(deps, message, entered.well);
    case 'shut':
      // Closed again since it was read: tried again like any other.
      if (!(await hold(deps.table, delivery, now))) await bounce(deps, message, true);
      return;
    case 'twice':
  }
};

const LONGEST_BOUNCE_SECONDS = 60;
/** So often it comes back after a second where the endpoint is well: the crowd before it is through soon. */
const SHORT_BOUNCES = 4;

/** Comes back in a moment, later each time: a crowd before a slow endpoint must not keep the workers busy. */
const bounce = async (deps: WebhookDeps, message: WebhookMessage, isWell: boolean): Promise<void> => {
  const bounces = Math.min(1_000, (message.bounces ?? 0) + 1);
  const most = Math.min(LONGEST_BOUNCE_SECONDS, 2 ** Math.max(0, isWell ? bounces - SHORT_BOUNCES : bounces));
  const delaySeconds = 1 + Math.floor(deps.random() * most);
  await deps.webhooks.send({ ...message, bounces }, { delaySeconds, tenant: message.orgId });
};

interface ClockDeps {
  readonly table: Table;
  readonly clock: Pick<Clock, 'now'>;
  readonly webhooks: Queue<WebhookMessage>;
}

/**
 * For `tick` and `sweep`: wakes a delivery or gate whose mark has come, on time or because its message was lost. First the mark
 * moves, conditionally, then the message goes out.
 */
export const wakeWebhook = async (deps: ClockDeps, found: Item): Promise<void> => {
  const message = parseWebhookKey(found.pk, found.sk);
  if (message === undefined || typeof found.dueSk !== 'string') return;
  const now = deps.clock.now();
  const at = due.at(found.dueSk);
  const moved = await ifStill(() =>
    deps.table.update(
      { pk: found.pk, sk: found.sk },
      setMark(stallMark(message.deliveryId ?? message.webhookId, Math.max(now, at))),
      // Only rows of a known version carry marks of ours; a newer one keeps its meaning when it is moved on.
      eq('dueSk', String(found.dueSk)),
    ),
  );
  if (moved) await deps.webhooks.send(message, { delaySeconds: delayUntil(at, now), tenant: message.orgId });
};

/** The queue gave up on a message. A gate is looked at again by its mark; a delivery is kept, as `dead`. */
export const buryWebhook = async (
  deps: Pick<WebhookDeps, 'table' | 'clock' | 'log'>,
  { orgId, webhookId, deliveryId }: WebhookMessage,
): Promise<void> => {
  deps.log.error('A webhook could not be handled.', { webhookId, deliveryId });
  if (deliveryId === undefined) return;
  const item = await deps.table.get(keys.webhookDelivery(orgId, webhookId, deliveryId), { consistent: true });
  if (item === undefined) return;
  await bury(deps.table, readDelivery(item), 'The worker failed on it again and again.', deps.clock.now());
};
