/** The direct path: to the tickets that subscribe, or a stop of them. No model is asked and no mandate changes. */
import { ifAllStill } from '../../kernel/if-still.ts';
import { keys } from '../../kernel/keys.ts';
import { add, and, eq, type Write } from '../../kernel/table.ts';
import { ROW_VERSION } from '../../tenancy/row.ts';
import { loadPolicy } from '../policy/load-policy.ts';
import type { ThreadDeps } from './deps.ts';
import { getThread } from './find.ts';
import { lookAgainAt, markChanges } from './mark.ts';
import { happenedAt, ignored, routeOf } from './route.ts';
import { decisionItem, pendingItem, triggerItem } from './rows.ts';
import type { Thread } from './thread.ts';
import type { Decision, Trigger } from './trigger.ts';

/** The Trigger is what it was when it was handed on. */
export const asHanded = ({ revision, state }: Trigger) => and(eq('revision', revision), eq('state', state));

export const actorOf = ({ sourceId, actor }: Pick<Trigger, 'sourceId' | 'actor'>): string => `${sourceId}:${actor.id}`;

/**
 * Hands on a Trigger whose row says `delivering`, then notes what became of it. It may be called again and at the same
 * time: tickets know what they have, and only one note is taken.
 * @returns its state after that, as this call sees it: `pending` where no ticket takes it and an Eval is owed
 */
export const deliver = async (deps: ThreadDeps, trigger: Trigger): Promise<Trigger['state']> =>
  trigger.gate.stop === true ? obey(deps, trigger) : handOn(deps, trigger);

/** A person has said stop: done first and noted then. Whoever dies between does it again. */
const obey = async (deps: ThreadDeps, trigger: Trigger): Promise<Trigger['state']> => {
  const { orgId, threadId, id: triggerId } = trigger;
  const ticketId = trigger.decision?.ticketId;
  const at = happenedAt(trigger);
  const tickets = await deps.desk.stop({ orgId, threadId, ticketId, by: actorOf(trigger), triggerId, at });
  const now = deps.clock.now();
  const decision: Decision = trigger.decision ?? {
    decision: 'stop',
    reason: trigger.gate.reason,
    policyVersion: trigger.gate.policyVersion,
    at: now,
  };
  const decided: Trigger = { ...trigger, state: 'decided', decision, tickets: [...tickets] };
  await note(deps, trigger, [
    { put: triggerItem(decided), if: asHanded(trigger) },
    { delete: keys.pendingTrigger(orgId, threadId, triggerId) },
    // A decision of an Eval stands in the list already.
    ...(trigger.decision === undefined ? [{ put: decisionItem(deps.ids.next('dec', now), trigger, decision) }] : []),
  ]);
  return 'decided';
};

const handOn = async (deps: ThreadDeps, trigger: Trigger): Promise<Trigger['state']> => {
  // Read before the tickets are asked: one that subscribes after this is not among those that refuse.
  const thread = await getThread(deps.table, trigger.orgId, trigger.threadId);
  const tickets = await deps.desk.fanOut(trigger);
  if (tickets.length > 0) return delivered(deps, trigger, tickets);
  const policy = await loadPolicy(deps.table, trigger.orgId);
  return refused(deps, thread, trigger, policy);
};

const delivered = async (deps: ThreadDeps, trigger: Trigger, tickets: readonly string[]): Promise<Trigger['state']> => {
  const { orgId, threadId, id } = trigger;
  const done: Trigger = { ...trigger, state: 'delivered', tickets: [...tickets] };
  await note(deps, trigger, [
    { put: triggerItem(done), if: asHanded(trigger) },
    // Only an Eval hands on what it has a pointer for.
    ...(trigger.state === 'pending' ? [{ delete: keys.pendingTrigger(orgId, threadId, id) }] : []),
  ]);
  return 'delivered';
};

/** All tickets have ended and none may be revived: it is judged like any other, never silently dropped. */
const refused = async (
  deps: ThreadDeps,
  thread: Thread,
  trigger: Trigger,
  policy: Parameters<typeof routeOf>[3],
): Promise<Trigger['state']> => {
  const now = deps.clock.now();
  const left = { ...trigger, refusedUnder: thread.subscriptions };
  const route = routeOf(thread, left, trigger.gate, policy);
  if (route.to !== 'nobody') {
    const pending: Trigger = { ...left, state: 'pending' };
    await note(deps, trigger, [
      { put: triggerItem(pending), if: asHanded(trigger) },
      { put: pendingItem(pending) },
      {
        update: keys.thread(thread.orgId, thread.id),
        changes: [add('dirty', 1), ...markChanges(thread.id, lookAgainAt(now))],
        if: eq('v', ROW_VERSION),
      },
    ]);
    return 'pending';
  }
  const decided: Trigger = { ...left, state: 'decided', decision: ignored(route.reason, trigger.gate, now) };
  await note(deps, trigger, [
    { put: triggerItem(decided), if: asHanded(trigger) },
    ...(trigger.state === 'pending'
      ? [{ delete: keys.pendingTrigger(trigger.orgId, trigger.threadId, trigger.id) }]
      : []),
  ]);
  return 'decided';
};

/** Refused, it is somebody else's note that stands: of the same hand-over, or of a newer revision. */
const note = async ({ table, log }: ThreadDeps, { id }: Trigger, writes: readonly Write[]): Promise<void> => {
  if (await ifAllStill(table, writes)) return;
  log.debug('A Trigger was noted by somebody else.', { triggerId: id });
};
