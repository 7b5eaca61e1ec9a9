/**
 * What was decided becomes so: one transaction per Trigger. It stands on the lease (owner and epoch), on the version of the
 * Thread's subscriptions, on the policy, and on the Trigger being pending in the revision that was judged.
 */
import { keys } from '../../kernel/keys.ts';
import { add, and, type Change, set, TransactionRefused, type Write } from '../../kernel/table.ts';
import { LeaseLost } from '../../lease/lease.ts';
import { policyStands, standingVersion } from '../policy/load-policy.ts';
import type { VersionedPolicy } from '../policy/policy.ts';
import { asHanded, deliver } from '../thread/deliver.ts';
import type { Planned } from '../thread/desk.ts';
import { findThread, findTrigger } from '../thread/find.ts';
import type { ThreadLease } from '../thread/lease.ts';
import { decisionItem, triggerItem } from '../thread/rows.ts';
import type { Thread } from '../thread/thread.ts';
import { isVersion } from '../thread/thread-writes.ts';
import type { Decision, Trigger } from '../thread/trigger.ts';
import { readTicket } from '../ticket/ticket.ts';
import type { AssessDeps } from './deps.ts';
import type { Ruling } from './rule.ts';

/** What everything of one round was decided under. */
export interface Standing {
  readonly lease: ThreadLease;
  readonly thread: Thread;
  readonly policy: VersionedPolicy;
}

export type Committed =
  | 'done'
  /** Somebody edited, withdrew or decided it meanwhile: another one's business. */
  | 'moved'
  /** The policy or the subscriptions moved: nothing else of this round counts any more. */
  | 'stale'
  /** It cannot be meant as it stands: it counts as not decided. */
  | 'impossible';

/** A slot or a counter of somebody else's transaction can be in the way; more often than that it is no race. */
const MAX_TRIES = 8;

export const evalIdOf = ({ lease, thread }: Standing): string => `${thread.id}:${lease.epoch}`;

const decisionOf = (deps: AssessDeps, standing: Standing, ruling: Ruling): Decision => ({
  decision: ruling.do,
  ...(ruling.ruleId !== undefined && { ruleId: ruling.ruleId }),
  reason: ruling.reason,
  policyVersion: standing.policy.version,
  ...(ruling.do === 'ignore' && ruling.wouldAccept === true && { wouldAccept: true }),
  ...(ruling.do === 'join' && { ticketId: ruling.ticket.id }),
  ...(ruling.do === 'stop' && ruling.ticketId !== undefined && { ticketId: ruling.ticketId }),
  evalId: evalIdOf(standing),
  at: deps.clock.now(),
});

/** The Trigger after its decision, and the guards that all of it stands on. */
const decided = (
  deps: AssessDeps,
  { lease, thread, policy }: Standing,
  trigger: Trigger,
  after: Trigger,
  decision: Decision,
  changes: readonly Change[] = [],
): readonly Write[] => {
  const key = keys.thread(thread.orgId, thread.id);
  const fence = and(lease.condition(), isVersion(thread));
  return [
    changes.length === 0 ? { check: key, if: fence } : { update: key, changes, if: fence },
    { put: triggerItem(after), if: asHanded(trigger) },
    policyStands(thread.orgId, policy.version),
    // A stop is still to be obeyed: its pointer stays until it is.
    ...(after.state === 'delivering' ? [] : [{ delete: keys.pendingTrigger(thread.orgId, thread.id, trigger.id) }]),
    { put: decisionItem(deps.ids.next('dec', decision.at), trigger, decision) },
  ];
};

const subscribed = ({ thread }: Standing, ticketId: string, now: number): readonly Change[] => [
  set('tickets', [...new Set([...thread.tickets, ticketId])]),
  add('subscriptions', 1),
  set('updatedAt', now),
];

/**
 * @param trigger as it was judged: pending, with the Gate's verdict of now
 * @throws LeaseLost; whatever the desk and the ports say
 */
export const commitRuling = async (
  deps: AssessDeps,
  standing: Standing,
  trigger: Trigger,
  ruling: Ruling,
  also: readonly Write[] = [],
): Promise<Committed> => {
  switch (ruling.do) {
    case 'accept':
      return commitAcceptance(deps, standing, trigger, ruling);
    case 'join':
      return commitJoin(deps, standing, trigger, ruling);
    case 'answer': {
      const { thread } = standing;
      const planned = deps.desk.answer({ thread, trigger, body: ruling.body });
      return commitPlain(deps, standing, trigger, ruling, planned);
    }
    case 'stop':
      return commitStop(deps, standing, trigger, ruling);
    case 'ignore':
      return commitPlain(deps, standing, trigger, ruling, { writes: also, wake: async () => undefined });
  }
};

const commitPlain = async (
  deps: AssessDeps,
  standing: Standing,
  trigger: Trigger,
  ruling: Ruling,
  planned: Planned,
): Promise<Committed> => {
  const decision = decisionOf(deps, standing, ruling);
  const after: Trigger = { ...trigger, state: 'decided', decision };
  const writes = [...decided(deps, standing, trigger, after, decision), ...planned.writes];
  const committed = await attempt(deps, standing, trigger, () => deps.table.transact(writes));
  if (committed === 'done') await planned.wake();
  return committed === 'refused' ? busy(trigger) : committed;
};

const commitAcceptance = async (
  deps: AssessDeps,
  standing: Standing,
  trigger: Trigger,
  ruling: Extract<Ruling, { do: 'accept' }>,
): Promise<Committed> => {
  const { thread, policy } = standing;
  const { title, mandate, grantedBy } = ruling;
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const planned = await deps.desk.accept({ thread, trigger, policy, title, mandate, grantedBy });
    const { ticketId } = planned;
    const decision: Decision = { ...decisionOf(deps, standing, ruling), ticketId };
    const after: Trigger = { ...trigger, state: 'decided', decision, tickets: [ticketId] };
    const changes = subscribed(standing, ticketId, decision.at);
    const writes = decided(deps, standing, trigger, after, decision, changes);
    const committed = await attempt(deps, standing, trigger, () => planned.start(writes));
    if (committed !== 'refused') return committed;
  }
  return busy(trigger);
};

const commitJoin = async (
  deps: AssessDeps,
  standing: Standing,
  trigger: Trigger,
  ruling: Extract<Ruling, { do: 'join' }>,
): Promise<Committed> => {
  const { thread } = standing;
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    // As it stands now: the page may have shown an older version of it.
    const row = await deps.table.get(keys.ticket(thread.orgId, ruling.ticket.id), { consistent: true });
    const planned = row && (await deps.desk.join({ thread, trigger, ticket: readTicket(row) }));
    if (planned === undefined) return 'impossible';
    const decision = decisionOf(deps, standing, ruling);
    const after: Trigger = { ...trigger, state: 'decided', decision, tickets: [ruling.ticket.id] };
    const changes = subscribed(standing, ruling.ticket.id, decision.at);
    const writes = [...decided(deps, standing, trigger, after, decision, changes), ...planned.writes];
    const committed = await attempt(deps, standing, trigger, () => deps.table.transact(writes));
    if (committed === 'done') await planned.wake();
    if (committed !== 'refused') return committed;
  }
  return busy(trigger);
};

/** Stored, then obeyed: whoever dies between is followed by the next Eval, which finds the pointer. */
const commitStop = async (
  deps: AssessDeps,
  standing: Standing,
  trigger: Trigger,
  ruling: Extract<Ruling, { do: 'stop' }>,
): Promise<Committed> => {
  const decision = decisionOf(deps, standing, ruling);
  const after: Trigger = { ...trigger, state: 'delivering', gate: { ...trigger.gate, stop: true }, decision };
  const writes = decided(deps, standing, trigger, after, decision);
  const committed = await attempt(deps, standing, trigger, () => deps.table.transact(writes));
  if (committed === 'done') await deliver(deps, after);
  return committed === 'refused' ? busy(trigger) : committed;
};

const busy = ({ id }: Trigger): never => {
  throw new Error(`The decision about ${id} was refused each time, and nothing that it stands on had moved.`);
};

const attempt = async (
  deps: AssessDeps,
  standing: Standing,
  trigger: Trigger,
  write: () => Promise<void>,
): Promise<Committed | 'refused'> => {
  try {
    await write();
    return 'done';
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error;
    return explain(deps, standing, trigger);
  }
};

/** Why it was refused, by what stands now. The first write's answer may have been lost: then it is done. */
const explain = async ({ table }: AssessDeps, standing: Standing, trigger: Trigger): Promise<Committed | 'refused'> => {
  const { lease, thread, policy } = standing;
  const [now, row, version] = await Promise.all([
    findThread(table, thread.orgId, thread.id),
    findTrigger(table, thread.orgId, thread.id, trigger.id),
    standingVersion(table, thread.orgId),
  ]);
  if (now === undefined) throw new LeaseLost('The Thread is gone.');
  if (row?.revision === trigger.revision && row.decision?.evalId === evalIdOf(standing)) return 'done';
  lease.check(now);
  if (row?.revision !== trigger.revision || row.state !== trigger.state) return 'moved';
  if (version !== policy.version || now.subscriptions !== thread.subscriptions) return 'stale';
  return 'refused';
};
