import type { WebhookSim } from './sim.ts';

/** What must hold when everything has come to rest and every receiver is well again. */
export const violationsOf = (sim: WebhookSim, events: readonly string[], endpoints: readonly string[]): string[] => {
  const found = sim.surprises.map((error) => `an unexpected error: ${String(error)}`);
  for (const endpoint of endpoints) {
    const mine = sim.hits.filter((hit) => hit.endpoint === endpoint);
    for (const event of events) {
      const told = mine.filter((hit) => hit.eventId === event);
      if (!told.some(({ status }) => status >= 200 && status < 300)) found.push(`${endpoint} never heard of ${event}`);
      if (new Set(told.map(({ webhookId }) => webhookId)).size > 1) found.push(`${endpoint}: ${event} under two ids`);
    }
    if (new Set(mine.map(({ webhookId }) => webhookId)).size > events.length) found.push(`${endpoint}: too many ids`);
  }
  for (const { deliveryId, state } of sim.deliveries()) {
    if (state !== 'delivered') found.push(`${deliveryId} is ${state} in the end`);
  }
  if (sim.rows('HELD#').length > 0) found.push('a delivery is still led to from behind a gate');
  for (const item of sim.memory.dump()) {
    if (item.duePk !== undefined) found.push(`${item.sk} still has a mark`);
    if (item.sk === 'EFFECT' && item.state !== 'sent') found.push(`${item.pk} is ${String(item.state)}`);
  }
  return found;
};
