/** What code alone can say about what is pending: the Gate of now, tickets that subscribe, a person's stop. */
import { ifAllStill, ifStill } from '../../kernel/if-still.ts';
import { keys } from '../../kernel/keys.ts';
import { add, and, eq, set } from '../../kernel/table.ts';
import { policyStands } from '../policy/load-policy.ts';
import { findSource } from '../source/find.ts';
import { asHanded, deliver } from '../thread/deliver.ts';
import { judgeTrigger } from '../thread/gate.ts';
import { happenedAt, routeOf } from '../thread/route.ts';
import { triggerItem } from '../thread/rows.ts';
import { isVersion } from '../thread/thread-writes.ts';
import { readTrigger, type Trigger } from '../thread/trigger.ts';
import { commitRuling, type Standing } from './commit.ts';
import type { AssessDeps } from './deps.ts';

/** Pointers that are looked at in one round. */
const MOST_POINTERS = 50;

export interface Sorted {
  /** For the model, oldest first, with the Gate's verdict of now. */
  readonly ask: readonly Trigger[];
  /** Nothing was pending when it was read. */
  readonly empty: boolean;
  /** Something was done by code that the round's view of the Thread may not show: read again. */
  readonly moved: boolean;
}

/** @param standing the Thread as it was read before: what is stored later has raised `dirty` above what it shows */
export const sortOut = async (deps: AssessDeps, standing: Standing): Promise<Sorted> => {
  const { orgId, id: threadId } = standing.thread;
  const page = await deps.table.query({
    ...keys.pendingTriggers(orgId, threadId),
    limit: MOST_POINTERS,
    consistent: true,
  });
  if (page.items.length === 0) return { ask: [], empty: true, moved: false };
  const ids = page.items.map(({ sk }) => sk.slice(sk.indexOf('#') + 1));
  const rows = await deps.table.getMany(
    ids.map((id) => keys.trigger(orgId, threadId, id)),
    { consistent: true },
  );
  const ask: Trigger[] = [];
  let moved = false;
  for (const [index, pointer] of page.items.entries()) {
    const trigger = rows[index] === undefined ? undefined : readTrigger(rows[index]);
    if (trigger === undefined || (trigger.state !== 'pending' && trigger.state !== 'delivering')) {
      // Only the pointer that was seen: an edit may have put another one meanwhile.
      await ifStill(() => deps.table.delete(pointer, eq('revision', pointer.revision as number)));
      continue;
    }
    const left = await byCode(deps, standing, trigger);
    if (left === undefined) moved = true;
    else ask.push(left);
  }
  return { ask, empty: false, moved };
};

/** @returns the Trigger where a model has to be asked */
const byCode = async (deps: AssessDeps, standing: Standing, seen: Trigger): Promise<Trigger | undefined> => {
  const { thread, policy } = standing;
  if (seen.state === 'delivering') {
    await deliver(deps, seen);
    return undefined;
  }
  const source = await findSource(deps.table, thread.orgId, seen.sourceId);
  const gate = judgeTrigger(deps, policy, source, seen);
  const trigger: Trigger = { ...seen, gate };
  const route = routeOf(thread, trigger, gate, policy);
  switch (route.to) {
    case 'eval':
      return trigger;
    case 'tickets':
      await deliver(deps, trigger);
      return undefined;
    case 'stop':
      await stop(deps, standing, trigger);
      return undefined;
    case 'nobody':
      await commitRuling(deps, standing, trigger, { do: 'ignore', reason: route.reason });
      return undefined;
  }
};

/** It was no stop when it was stored and is one by the policy of now. */
const stop = async (deps: AssessDeps, { lease, thread, policy }: Standing, trigger: Trigger): Promise<void> => {
  const stopping: Trigger = { ...trigger, state: 'delivering' };
  const stopped = await ifAllStill(deps.table, [
    {
      update: keys.thread(thread.orgId, thread.id),
      changes: [set('stoppedAt', happenedAt(trigger)), add('subscriptions', 1)],
      if: and(lease.condition(), isVersion(thread)),
    },
    { put: triggerItem(stopping), if: asHanded(trigger) },
    policyStands(thread.orgId, policy.version),
  ]);
  // Else the next round sees why.
  if (stopped) await deliver(deps, stopping);
};
