/** What a message about an endpoint's gate does: let go what waits behind it, or try one of them as a probe. */
import { keys } from '../kernel/keys.ts';
import type { Page } from '../kernel/table.ts';
import { prepare } from './attempt.ts';
import { type Delivery, readDelivery } from './delivery.ts';
import type { Target, WebhookDeps } from './deps.ts';
import { disabledSentence } from './endpoint.ts';
import { allReleased, atRest, changeGate, type Gate, goIn, idle, letGo } from './gate.ts';
import { bury, isOver, letDeliveryGo } from './record.ts';
import { runAttempt } from './run.ts';

/** Held deliveries looked at in one go; `getMany` takes 100 keys. */
const PAGE = 100;
/** Let go at once; then a second passes, so that an endpoint that just came back is not overrun. */
const AT_ONCE = 5;
/** Clocks of two machines may differ by so much. */
export const EARLY_MS = 5_000;

export const tendGate = async (deps: WebhookDeps, { endpoint, gate: seen }: Target): Promise<void> => {
  const now = deps.clock.now();
  const isEnabled = endpoint.state === 'enabled';
  const judge = (gate: Gate): Gate => (!isEnabled && gate.open ? letGo(gate, now) : atRest(gate));
  const gate = await changeGate(deps.table, seen, judge);
  if (gate === undefined) return;
  if (gate.open) return probe(deps, { endpoint, gate }, now);
  if (gate.releasing !== undefined) return release(deps, { endpoint, gate }, gate.releasing, now);
};

interface Held {
  readonly deliveries: readonly Delivery[];
  readonly more: boolean;
}

/** What waits, oldest first. Leads to deliveries that wait no more are taken away. */
const readHeld = async ({ table }: WebhookDeps, { orgId, webhookId }: Gate): Promise<Held> => {
  const page: Page = await table.query({ ...keys.allWebhookHeld(orgId, webhookId), limit: PAGE, consistent: true });
  if (page.items.length === 0) return { deliveries: [], more: false };
  const ids = page.items.map((item) => String(item.deliveryId));
  const rows = await table.getMany(
    ids.map((id) => keys.webhookDelivery(orgId, webhookId, id)),
    { consistent: true },
  );
  const found = rows.map((row) => row && readDelivery(row));
  const waits = (delivery: Delivery | undefined): delivery is Delivery =>
    delivery?.state === 'pending' && delivery.held === true;
  const stale = ids.filter((_, index) => !waits(found[index]));
  await Promise.all(stale.map((id) => table.delete(keys.webhookHeld(orgId, webhookId, id))));
  return { deliveries: found.filter(waits), more: page.next !== undefined };
};

const release = async (
  deps: WebhookDeps,
  { endpoint, gate }: Target,
  releasing: number,
  now: number,
): Promise<void> => {
  const { deliveries, more } = await readHeld(deps, gate);
  const { orgId, webhookId } = gate;
  await Promise.all(
    deliveries.map(async (delivery, index) => {
      if (endpoint.state === 'disabled') {
        return bury(deps.table, delivery, disabledSentence(endpoint, delivery.lastError), now);
      }
      const delaySeconds = Math.floor(index / AT_ONCE);
      if (!(await letDeliveryGo(deps.table, delivery, now + delaySeconds * 1000, now))) return;
      const message = { orgId, webhookId, deliveryId: delivery.deliveryId };
      await deps.webhooks.send(message, { delaySeconds, tenant: orgId });
    }),
  );
  if (more) await deps.webhooks.send({ orgId, webhookId }, { delaySeconds: PAGE / AT_ONCE, tenant: orgId });
  else await changeGate(deps.table, gate, (each) => allReleased(each, releasing));
};

const probe = async (deps: WebhookDeps, { endpoint, gate }: Target, now: number): Promise<void> => {
  // A copy of an earlier wake-up: the one for this probe is under way.
  if ((gate.probeAt ?? 0) > now + EARLY_MS) return;
  const { deliveries } = await readHeld(deps, gate);
  const over = deliveries.filter((delivery) => isOver(delivery, now));
  await Promise.all(
    over.map((delivery) =>
      bury(deps.table, delivery, delivery.lastError ?? 'The webhook did not answer for a day.', now),
    ),
  );
  const waiting = deliveries.filter((delivery) => !over.includes(delivery));
  // Another one each time: an event that the receiver alone cannot take must not stand for its health.
  const chosen = waiting[gate.probes % Math.max(1, waiting.length)];
  if (chosen === undefined) {
    await changeGate(deps.table, gate, (each) => idle(each, now));
    return;
  }
  const prepared = await prepare(deps, endpoint);
  const entered = await goIn(deps.table, gate, chosen.deliveryId, Math.max(now, gate.probeAt ?? 0), true);
  if (entered.kind === 'in') await runAttempt(deps, prepared, entered.gate, chosen, entered.until);
};
