import type { Delivery } from '../../execution/message.ts';
import { NotYet } from '../../execution/step/deps.ts';
import { keys } from '../../kernel/keys.ts';
import { MessageGone } from '../../kernel/ports.ts';
import { type Change, set } from '../../kernel/table.ts';
import { LeaseLost } from '../../lease/lease.ts';
import { readOrganisation } from '../../tenancy/organisation.ts';
import type { AssessMessage } from '../message.ts';
import { loadPolicy } from '../policy/load-policy.ts';
import type { VersionedPolicy } from '../policy/policy.ts';
import { wakeEval } from '../thread/deps.ts';
import { claimThread, ThreadLease } from '../thread/lease.ts';
import { readThread, type Thread } from '../thread/thread.ts';
import type { Trigger } from '../thread/trigger.ts';
import { type Committed, commitRuling, type Standing } from './commit.ts';
import { type Batch, talk } from './conversation.ts';
import type { AssessDeps } from './deps.ts';
import { leaveOpen } from './forgotten.ts';
import { resume } from './resume.ts';
import type { Ruling } from './rule.ts';
import { sortOut } from './sort-out.ts';
import { halt, LOOK_AGAIN_MS, mended } from './stuck.ts';

/** Triggers of one talk with the model: few enough that it keeps them apart. */
export const MOST_OF_A_BATCH = 10;
/** A talk that begins later would not get to its commits. */
const LEAST_MS = 60_000;
/** Rounds of one claim: more than load can make of one Thread is a fault, and another claim looks again. */
const MOST_TURNS = 40;
const FIRST_WAIT_SECONDS = 5;
const LONGEST_WAIT_SECONDS = 300;
/** A message that comes before the time until which nobody is to claim the Thread dies: clocks differ by less than this. */
const CLOCKS_SECONDS = 2;

/**
 * The one Eval of a Thread: takes the lease, decides what is pending, and goes on until nothing is, also what is stored
 * meanwhile. There is no timer that makes batches: what comes while the model thinks is the next one.
 * @throws NotYet when the message has to come back; it is set to be visible again then
 */
export const assessThread = async (
  deps: AssessDeps,
  message: AssessMessage,
  delivery: Delivery,
  remainingMs: () => number,
): Promise<void> => {
  try {
    await assess(deps, message, delivery, remainingMs);
  } catch (error) {
    if (error instanceof NotYet) throw error;
    // The queue's own time-out is as long as the function may run: too long for people who wait for an answer.
    const seconds = Math.min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** Math.min(10, delivery.receiveCount - 1));
    await quietly(deps, comeBack(deps, message, delivery, seconds));
    throw error;
  }
};

const assess = async (
  deps: AssessDeps,
  message: AssessMessage,
  delivery: Delivery,
  remainingMs: () => number,
): Promise<void> => {
  const claimed = await claimThread(deps, message, delivery, deps.newOwner());
  if (claimed.kind === 'done') return;
  if (claimed.kind === 'later') {
    // A copy, if it is gone: whoever held the Thread by it is done.
    await hide(deps, delivery, claimed.seconds);
    throw new NotYet('The Thread is being assessed.');
  }
  const { thread } = claimed;
  const lease = new ThreadLease(deps, thread, thread.owner ?? '', delivery);
  try {
    // A holder that dies is followed as soon as its lease has ended.
    if (!(await hide(deps, delivery, Math.ceil(deps.settings.leaseMs / 1000) + 1))) {
      // Nothing is begun: it counts as no attempt.
      return await passOn(deps, lease, message, [set('attempts', thread.attempts - 1)]);
    }
    const wait = await turns(deps, lease, thread, remainingMs);
    if (wait === undefined) return;
    await lease.backOff(wait);
    await comeBack(deps, message, delivery, wait);
    throw new NotYet('The model needs time.');
  } catch (error) {
    if (lease.orphaned) return await passOn(deps, lease, message);
    if (error instanceof LeaseLost) throw new NotYet(error.message);
    // Messages that met the lease have died: it must not outlast who held it.
    if (!(error instanceof NotYet)) await quietly(deps, lease.handOver());
    throw error;
  } finally {
    await lease.stop();
  }
};

/** What failed first is what has to be told; the lease ends, and the message comes back, by themselves. */
const quietly = ({ log }: AssessDeps, cleaning: Promise<void>): Promise<void> =>
  cleaning.catch((second: unknown) => log.warn('A Thread could not be given back.', { error: String(second) }));

/**
 * A copy of a message that is deleted already has no safety net: nothing would come back if this holder died. It gives the
 * Thread to a fresh message.
 */
const passOn = async (
  deps: AssessDeps,
  lease: ThreadLease,
  message: AssessMessage,
  changes: readonly Change[] = [],
): Promise<void> => {
  await lease.handOver(changes);
  // Also where it was lost already: one message too many meets a lease and dies, or finds nothing.
  await wakeEval(deps, message);
};

/** @returns false for a copy of a message that was deleted already */
const hide = async ({ assess: queue }: AssessDeps, { receiptHandle }: Delivery, seconds: number): Promise<boolean> => {
  try {
    await queue.changeVisibility(receiptHandle, seconds);
    return true;
  } catch (error) {
    if (!(error instanceof MessageGone)) throw error;
    return false;
  }
};

/** The message is seen again after so many seconds; where it is gone, another one is. */
const comeBack = async (
  deps: AssessDeps,
  message: AssessMessage,
  delivery: Delivery,
  seconds: number,
): Promise<void> => {
  if (!(await hide(deps, delivery, seconds))) await wakeEval(deps, message, seconds + CLOCKS_SECONDS);
};

/** @returns seconds until it is to be tried again; nothing when this claim is at its end */
const turns = async (
  deps: AssessDeps,
  lease: ThreadLease,
  claimed: Thread,
  remainingMs: () => number,
): Promise<number | undefined> => {
  let round = 0;
  const nextRound = (): number => round++;
  for (let turn = 1; ; turn++) {
    if (remainingMs() < LEAST_MS || turn > MOST_TURNS) {
      await lease.handOver();
      await wakeEval(deps, { orgId: claimed.orgId, threadId: claimed.id });
      return undefined;
    }
    const seen = await look(deps, claimed);
    lease.check(seen.thread);
    if (seen.stopped) {
      await lease.park(deps.clock.now() + LOOK_AGAIN_MS);
      return undefined;
    }
    const standing: Standing = { lease, ...seen };
    const { ask, empty, moved } = await sortOut(deps, standing);
    if (empty) {
      if (await lease.release(seen.thread.dirty, mended(seen.thread))) return undefined;
      continue;
    }
    if (moved || ask.length === 0) continue;
    const wait = await decide(deps, standing, claimed, ask.slice(0, MOST_OF_A_BATCH), nextRound, remainingMs);
    if (wait === 'over') return undefined;
    if (wait !== 'on') return wait;
  }
};

/** The row first: whatever is stored after this has raised `dirty` above what is seen here. */
const look = async (
  { table }: AssessDeps,
  { orgId, id }: Thread,
): Promise<{ readonly thread: Thread; readonly policy: VersionedPolicy; readonly stopped: boolean }> => {
  const [[threadItem, organisation], policy] = await Promise.all([
    table.getMany([keys.thread(orgId, id), keys.organisation(orgId)], { consistent: true }),
    loadPolicy(table, orgId),
  ]);
  if (threadItem === undefined) throw new LeaseLost('The Thread is gone.');
  const stopped = organisation !== undefined && readOrganisation(organisation).stopped !== undefined;
  return { thread: readThread(threadItem), policy, stopped };
};

/** One talk and its commits. `on`: look again; `over`: this claim has ended; a number: seconds to wait. */
const decide = async (
  deps: AssessDeps,
  standing: Standing,
  claimed: Thread,
  pending: readonly Trigger[],
  nextRound: () => number,
  remainingMs: () => number,
): Promise<'on' | 'over' | number> => {
  const { lease, thread, policy } = standing;
  const model = await deps.resolveModel(thread.orgId, policy.policy.assessment.model);
  if (model === undefined) {
    await halt(deps, lease, thread, { halt: 'model', message: 'No model account is configured for it.' });
    return 'over';
  }
  const { triggers, bought, basis } = await resume(deps, claimed, standing, model.model, pending);
  const batch: Batch = { thread, triggers, policy, model, bought, basis, nextRound, remainingMs };
  const talked = await talk(deps, lease, batch);
  if (talked.kind === 'halt') {
    await halt(deps, lease, thread, talked.why);
    return 'over';
  }
  if (talked.kind === 'retry') {
    deps.log.warn('The model of the assessment gave no reply.', { threadId: thread.id, message: talked.message });
    return waitFor(claimed, talked.afterMs);
  }
  await commitAll(deps, standing, triggers, talked.rulings);
  return 'on';
};

const waitFor = ({ attempts }: Thread, afterMs: number | undefined): number => {
  const own = Math.min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** Math.min(10, attempts - 1));
  return Math.max(1, afterMs === undefined ? own : Math.ceil(afterMs / 1000));
};

/**
 * What changes the subscriptions comes first: the rest then goes to the ticket by the direct path, as it would have done
 * had it come a moment later.
 */
const ORDER: readonly Ruling['do'][] = ['accept', 'join', 'stop', 'answer', 'ignore'];

const commitAll = async (
  deps: AssessDeps,
  standing: Standing,
  triggers: readonly Trigger[],
  rulings: ReadonlyMap<string, Ruling>,
): Promise<void> => {
  const placeOf = ({ id }: Trigger): number => {
    const ruling = rulings.get(id);
    return ruling === undefined ? ORDER.length : ORDER.indexOf(ruling.do);
  };
  for (const trigger of [...triggers].sort((a, b) => placeOf(a) - placeOf(b))) {
    const ruling = rulings.get(trigger.id);
    const committed = await commitOne(deps, standing, trigger, ruling);
    const changed = ruling?.do === 'accept' || ruling?.do === 'join';
    if (committed === 'stale' || (changed && committed === 'done')) return;
  }
};

const commitOne = async (
  deps: AssessDeps,
  standing: Standing,
  trigger: Trigger,
  ruling: Ruling | undefined,
): Promise<Committed> => {
  if (ruling === undefined) return leaveOpen(deps, standing, trigger);
  const committed = await commitRuling(deps, standing, trigger, ruling);
  return committed === 'impossible' ? leaveOpen(deps, standing, trigger) : committed;
};
