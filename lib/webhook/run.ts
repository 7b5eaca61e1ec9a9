/** One attempt at an endpoint whose gate let it in, and what follows from it for delivery, gate and endpoint. */
import { keys } from '../kernel/keys.ts';
import { and, eq, set, TransactionRefused } from '../kernel/table.ts';
import { ROW_VERSION } from '../tenancy/row.ts';
import { attempt, type Prepared } from './attempt.ts';
import type { Delivery } from './delivery.ts';
import type { WebhookDeps } from './deps.ts';
import { attentionFor, type DisabledReason, type Endpoint } from './endpoint.ts';
import { afterFailure, afterSuccess, changeGate, type Gate, isHopeless } from './gate.ts';
import type { WebhookMessage } from './message.ts';
import { bury, recordFailure, recordSuccess } from './record.ts';
import { delayUntil, LONGEST_DELAY_MS } from './timing.ts';

/** Sends what is due within SQS's reach; of later things the row's mark tells `tick`. */
export const wakeAt = async (deps: WebhookDeps, message: WebhookMessage, atMs: number, now: number): Promise<void> => {
  if (atMs - now > LONGEST_DELAY_MS) return;
  await deps.webhooks.send(message, { delaySeconds: delayUntil(atMs, deps.clock.now()), tenant: message.orgId });
};

/**
 * @param gate as it is with the delivery in its place
 * @param until end of that place
 */
export const runAttempt = async (
  deps: WebhookDeps,
  prepared: Prepared,
  gate: Gate,
  delivery: Delivery,
  until: number,
): Promise<void> => {
  const { table } = deps;
  const { orgId, webhookId, deliveryId } = delivery;
  const outcome = await attempt(deps, prepared, delivery);
  if (outcome.ok) {
    await recordSuccess(table, delivery, outcome);
    const after = await changeGate(table, gate, (each) => afterSuccess(each, deliveryId, until, outcome.at));
    // It has just closed: what waits behind it may go.
    if (after !== undefined && after.releasing === after.rev)
      await wakeAt(deps, { orgId, webhookId }, outcome.at, outcome.at);
    return;
  }
  deps.log.warn('A webhook was not delivered.', { webhookId, deliveryId, status: outcome.status, why: outcome.error });
  const spread = deps.random();
  const after = await changeGate(table, gate, (each) => afterFailure(each, deliveryId, until, outcome.at, spread));
  if (after === undefined) return bury(table, delivery, 'The webhook was deleted.', outcome.at);
  const failed = await recordFailure(table, delivery, outcome, after.open, deps.random());
  if (outcome.gone) await disable(deps, prepared.endpoint, 'gone');
  else if (isHopeless(after, outcome.at)) await disable(deps, prepared.endpoint, 'failing');
  if (failed.kind === 'later') await wakeAt(deps, { orgId, webhookId, deliveryId }, failed.atMs, outcome.at);
  if (after.open && after.probeAt !== undefined) await wakeAt(deps, { orgId, webhookId }, after.probeAt, outcome.at);
};

/** Nothing is sent to it any more until a person enables it; they are asked to in the same transaction. */
const disable = async (deps: WebhookDeps, endpoint: Endpoint, reason: DisabledReason): Promise<void> => {
  const now = deps.clock.now();
  const { orgId, id: webhookId } = endpoint;
  const disabled: Endpoint = { ...endpoint, state: 'disabled', reason, disabledAt: now };
  try {
    await deps.table.transact([
      {
        update: keys.webhook(orgId, webhookId),
        changes: [
          set('state', 'disabled'),
          set('reason', reason),
          set('disabledAt', now),
          set('updatedAt', new Date(now).toISOString()),
        ],
        // As it was attempted: a person who has changed the address meanwhile has another one tried.
        if: and(eq('v', ROW_VERSION), eq('state', 'enabled'), eq('url', endpoint.url)),
      },
      ...attentionFor(disabled),
    ]);
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error;
    return;
  }
  deps.log.warn('A webhook was disabled.', { webhookId, reason });
  // What waits behind its gate is given up.
  await wakeAt(deps, { orgId, webhookId }, now, now);
};
