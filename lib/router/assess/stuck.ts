/** An Eval that cannot go on without a person, or before a time: people are told once a day, and the clock looks again. */
import { closeAttention, type NewAttention, openAttention } from '../../attention/attention.ts';
import { dayOf, startOfDay } from '../../kernel/day.ts';
import { remove, set } from '../../kernel/table.ts';
import type { Besides, ThreadLease } from '../thread/lease.ts';
import type { Thread } from '../thread/thread.ts';
import type { Halt } from './buy.ts';
import type { AssessDeps } from './deps.ts';

/** A budget that was raised or an account that was mended is noticed after this long, whoever does it. */
export const LOOK_AGAIN_MS = 15 * 60_000;

/** One item for all Threads of a day: what is broken is the account, not the Thread. */
const cause = (orgId: string, at: number) => ({
  orgId,
  kind: 'assessment_stopped' as const,
  subject: { type: 'organisation', id: orgId },
  at,
});

const item = (orgId: string, at: number, message: string): NewAttention => ({
  ...cause(orgId, at),
  question: `Triggers wait and cannot be assessed: ${message}`,
  url: '/v1/threads',
  actions: [],
});

/** The budget has an item of its own. */
export const halt = async (deps: AssessDeps, lease: ThreadLease, thread: Thread, why: Halt): Promise<void> => {
  const now = deps.clock.now();
  const again = now + LOOK_AGAIN_MS;
  deps.log.warn('An assessment has to wait.', { threadId: thread.id, why: why.halt, message: why.message });
  if (why.halt === 'budget') return lease.park(again);
  const at = startOfDay(dayOf(now));
  // In one transaction: an item that no Thread remembers would never be closed.
  const told = openAttention(item(thread.orgId, at, why.message));
  await lease.park(again, { changes: [set('stuckSince', at)], writes: [told] });
};

/** With the end of an Eval that came through: what was broken works. */
export const mended = ({ orgId, stuckSince }: Thread): Besides =>
  stuckSince === undefined
    ? {}
    : { changes: [remove('stuckSince')], writes: [closeAttention(cause(orgId, stuckSince))] };

/** For the dead letters: the queue gave up. */
export const stuckItem = (orgId: string, now: number, message: string): NewAttention =>
  item(orgId, startOfDay(dayOf(now)), message);
