import { tickExecution } from '../execution/clock.ts';
import { expireAsk } from '../execution/expire.ts';
import { UnreadableRow } from '../kernel/errors.ts';
import type { Item } from '../kernel/table.ts';
import { wakePosting } from '../router/outbox/wake.ts';
import { tickSchedule } from '../schedule/tick.ts';
import { wakeWebhook } from '../webhook/deliver.ts';
import { fires, postings, webhooks } from './core.ts';
import { executionDeps } from './executions.ts';

type Visitor = (found: Item) => Promise<void>;

/** What `tick` does with a row that is due, by the first word of its sort key. */
const VISITORS: { readonly [kind: string]: Visitor } = {
  EXEC: (found) => tickExecution(executionDeps(), found),
  SCHEDULE: (found) => tickSchedule({ ...executionDeps(), fires: fires() }, found),
  DELIVERY: (found) => wakeWebhook({ ...executionDeps(), webhooks: webhooks() }, found),
  GATE: (found) => wakeWebhook({ ...executionDeps(), webhooks: webhooks() }, found),
  POSTING: (found) => wakePosting({ ...executionDeps(), postings: postings() }, found),
  ASK: (found) => expireAsk(executionDeps(), found),
};

/** A kind that nobody here knows was written by a newer version and waits for it, put off further each time. */
export const visitTick: Visitor = async (found) => {
  const kind = found.sk.split('#')[0] ?? '';
  const visit = Object.hasOwn(VISITORS, kind) ? VISITORS[kind] : undefined;
  if (visit === undefined) throw new UnreadableRow(found, 'no such kind of row is due here.');
  await visit(found);
};
