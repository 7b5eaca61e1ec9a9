/** Where a Trigger goes once the Gate has spoken. Pure. */
import type { VersionedPolicy } from '../policy/policy.ts';
import type { Thread } from './thread.ts';
import type { Decision, GateVerdict, Trigger } from './trigger.ts';

export type Route =
  /** To the tickets that subscribe, or to the stop of all of them: `delivering` until that is done. */
  | { readonly to: 'tickets' }
  | { readonly to: 'stop' }
  | { readonly to: 'eval' }
  | { readonly to: 'nobody'; readonly reason: string };

type Seen = Pick<Trigger, 'occurredAt' | 'revisedAt' | 'refusedUnder'>;

/** When the newest revision happened. */
export const happenedAt = ({ occurredAt, revisedAt }: Pick<Trigger, 'occurredAt' | 'revisedAt'>): number =>
  revisedAt ?? occurredAt;

/** True where a ticket might take it: somebody subscribes, and not only those who have refused it already. */
export const hasTakers = (
  { tickets, subscriptions }: Pick<Thread, 'tickets' | 'subscriptions'>,
  { refusedUnder }: Pick<Trigger, 'refusedUnder'>,
): boolean => tickets.length > 0 && refusedUnder !== subscriptions;

export const BEFORE_STOP = 'It happened before a person said stop here.';

/**
 * The order is part of the protocol: a person's stop beats everything, what happened before one is not taken up, tickets
 * that subscribe come before any judgement, and only the rest is judged by the class that the Gate gave it.
 */
export const routeOf = (
  thread: Pick<Thread, 'tickets' | 'subscriptions' | 'stoppedAt'>,
  trigger: Seen,
  verdict: GateVerdict,
  { policy }: VersionedPolicy,
): Route => {
  if (verdict.stop === true) return { to: 'stop' };
  if (thread.stoppedAt !== undefined && happenedAt(trigger) <= thread.stoppedAt) {
    return { to: 'nobody', reason: BEFORE_STOP };
  }
  if (hasTakers(thread, trigger)) return { to: 'tickets' };
  if (verdict.class === 'explicit') return { to: 'eval' };
  if (verdict.class === 'ignored') return { to: 'nobody', reason: verdict.reason };
  if (policy.mode === 'off') return { to: 'nobody', reason: 'Inferred events are not looked at: the mode is off.' };
  return { to: 'eval' };
};

/** The decision of code alone, without an Eval. */
export const ignored = (reason: string, verdict: GateVerdict, at: number): Decision => ({
  decision: 'ignore',
  reason,
  policyVersion: verdict.policyVersion,
  at,
});
