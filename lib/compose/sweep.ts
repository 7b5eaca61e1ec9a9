import { sweepEffect } from '../effect/deliver.ts';
import { parseEffectPk } from '../effect/effect.ts';
import { sweepExecution } from '../execution/clock.ts';
import { parseExecutionPk } from '../kernel/keys.ts';
import type { Item } from '../kernel/table.ts';
import { isThreadRow, sweepThread } from '../router/assess/tend.ts';
import { parseDeliveryKey, sweepDelivery } from '../router/ingest/tend.ts';
import { isSlots, sweepSlots } from '../router/ticket/repair.ts';
import { wakeWebhook } from '../webhook/deliver.ts';
import { parseWebhookKey } from '../webhook/message.ts';
import { assess, inbox, log, webhooks } from './core.ts';
import { executionDeps } from './executions.ts';

interface Visitor {
  readonly isMine: (found: Item) => boolean;
  readonly visit: (found: Item) => Promise<void>;
}

/** What `sweep` does with a row whose mark has come, by its key. */
const VISITORS: readonly Visitor[] = [
  {
    isMine: ({ pk }) => parseExecutionPk(pk) !== undefined,
    visit: (found) => sweepExecution(executionDeps(), found),
  },
  { isMine: ({ pk }) => parseEffectPk(pk) !== undefined, visit: (found) => sweepEffect(executionDeps(), found) },
  {
    isMine: ({ pk, sk }) => parseWebhookKey(pk, sk) !== undefined,
    visit: (found) => wakeWebhook({ ...executionDeps(), webhooks: webhooks() }, found),
  },
  {
    isMine: ({ pk, sk }) => parseDeliveryKey(pk, sk) !== undefined,
    visit: (found) => sweepDelivery({ ...executionDeps(), inbox: inbox() }, found),
  },
  { isMine: isSlots, visit: (found) => sweepSlots(executionDeps(), found) },
  { isMine: isThreadRow, visit: (found) => sweepThread({ ...executionDeps(), assess: assess() }, found) },
];

/** A kind that nobody here knows was written by a newer version and waits for it. */
export const visitSweep = async (found: Item): Promise<void> => {
  const visitor = VISITORS.find(({ isMine }) => isMine(found));
  if (visitor === undefined) log.warn('A due row is of no known kind.', { kind: found.sk.split('#')[0] ?? '' });
  else await visitor.visit(found);
};
