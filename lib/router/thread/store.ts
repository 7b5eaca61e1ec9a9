import { derivedId } from '../../kernel/ids.ts';
import { ifAllStill } from '../../kernel/if-still.ts';
import { keys } from '../../kernel/keys.ts';
import { add, and, eq, exists, missing, set, type Write } from '../../kernel/table.ts';
import { slice } from '../points.ts';
import { loadPolicy } from '../policy/load-policy.ts';
import type { VersionedPolicy } from '../policy/policy.ts';
import { findSource } from '../source/find.ts';
import type { Source } from '../source/source.ts';
import { BUSY, MAX_TRIES } from './busy.ts';
import { deliver } from './deliver.ts';
import { type ThreadDeps, wakeEval } from './deps.ts';
import { type Known, lookUp } from './find.ts';
import { judgeTrigger } from './gate.ts';
import { lookAgainAt, markChanges } from './mark.ts';
import { happenedAt, ignored, type Route, routeOf } from './route.ts';
import { aliasItem, objectAlias, pendingItem, triggerItem } from './rows.ts';
import type { NewThread, Thread } from './thread.ts';
import { threadWrites } from './thread-writes.ts';
import type { GateVerdict, NewTrigger, Trigger } from './trigger.ts';

export interface NewEvent {
  readonly thread: NewThread;
  readonly trigger: NewTrigger;
  /** It tells of another text of something that was there before. */
  readonly edited: boolean;
}

export interface StoredTrigger {
  readonly triggerId: string;
  readonly threadId: string;
  readonly state: Trigger['state'];
}

/** A row holds 400 KB; a code point takes four bytes at most. What is longer is cut: nobody writes that by hand. */
const MOST_TEXT = 60_000;

/**
 * Makes an event a Trigger of its Thread, once per object however often and in whatever order it is told: an edit is a
 * revision, an older state changes nothing, and nor does an edit that leaves the text as it was. One transaction stores
 * it, with the pointer and the mark that an Eval is owed where one is; then it is acted upon.
 *
 * Whoever calls has to call again until it returns: what it did not get to is made good then, and only then where the
 * Trigger goes to tickets or is a stop. A repeat is harmless.
 * @throws Error when others changed the Thread each time that it was read; whatever the ports and the desk say
 */
export const storeTrigger = async (deps: ThreadDeps, orgId: string, event: NewEvent): Promise<StoredTrigger> => {
  const { sourceId, objectId } = event.trigger;
  const threadKeys = [event.thread.key, ...(event.thread.aliases ?? [])];
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const [known, policy, source] = await Promise.all([
      lookUp(deps.table, { orgId, sourceId, threadKeys, objectId }),
      loadPolicy(deps.table, orgId),
      findSource(deps.table, orgId, sourceId),
    ]);
    const stored =
      known.trigger === undefined
        ? await storeNew(deps, orgId, event, known, policy, source)
        : await revise(deps, event, known, known.trigger, policy, source);
    if (stored !== undefined) return act(deps, stored);
  }
  throw new Error(BUSY);
};

/** What follows the transaction. It is done again by whoever finds the Trigger so. */
const act = async (deps: ThreadDeps, trigger: Trigger): Promise<StoredTrigger> => {
  const { id: triggerId, threadId, orgId } = trigger;
  let state = trigger.state;
  if (state === 'delivering') state = await deliver(deps, trigger);
  if (state === 'pending') await wakeEval(deps, { orgId, threadId });
  return { triggerId, threadId, state };
};

const stateOf = (route: Route): Trigger['state'] => {
  if (route.to === 'nobody') return 'decided';
  return route.to === 'eval' ? 'pending' : 'delivering';
};

/** The Trigger as it stands after the Gate. A stop that was obeyed already is not obeyed again because it is edited. */
const judged = (
  trigger: Trigger,
  thread: Pick<Thread, 'tickets' | 'subscriptions' | 'stoppedAt'>,
  verdict: GateVerdict,
  policy: VersionedPolicy,
  now: number,
): { readonly trigger: Trigger; readonly route: Route } => {
  const again = trigger.gate.stop === true && verdict.stop === true;
  const route: Route = again ? { to: 'nobody', reason: 'obeyed' } : routeOf(thread, trigger, verdict, policy);
  const { decision, ...rest } = trigger;
  const kept = again ? decision : undefined;
  const decided = kept ?? (route.to === 'nobody' ? ignored(route.reason, verdict, now) : undefined);
  return {
    route,
    trigger: { ...rest, gate: verdict, state: stateOf(route), ...(decided !== undefined && { decision: decided }) },
  };
};

const UNJUDGED: GateVerdict = { class: 'ignored', row: 'default', reason: '', policyVersion: 0 };

const storeNew = async (
  deps: ThreadDeps,
  orgId: string,
  { thread: named, trigger: given, edited }: NewEvent,
  known: Known,
  policy: VersionedPolicy,
  source: Source | undefined,
): Promise<Trigger | undefined> => {
  const now = deps.clock.now();
  const { objectId, text, ...rest } = given;
  const { sourceId, occurredAt } = given;
  const threadId = known.thread?.id ?? deps.ids.next('thr', now);
  // The object was deleted before anybody heard of it: it is shown as what it is, and nobody acts upon it.
  const gone = known.object?.gone !== undefined;
  const draft: Trigger = {
    ...rest,
    id: derivedId('trg', occurredAt, `${orgId} ${sourceId} ${objectId}`),
    orgId,
    threadId,
    text: slice(text, 0, MOST_TEXT).text,
    revision: 1,
    ...(edited && { edited }),
    state: 'pending',
    gate: UNJUDGED,
    rounds: 0,
    receivedAt: now,
  };
  const verdict = judgeTrigger(deps, policy, source, draft);
  const place = known.thread ?? { tickets: [], subscriptions: 0 };
  const { trigger, route } = gone
    ? { trigger: { ...draft, gate: verdict, state: 'withdrawn' as const, withdrawn: true }, route: undefined }
    : judged(draft, place, verdict, policy, now);
  const objectKey = objectAlias(orgId, sourceId, objectId);
  return commit(deps, trigger, [
    ...threadWrites(known, { orgId, sourceId, threadId, named, now }, changesOf(trigger, route, now)),
    { put: triggerItem(trigger), if: missing('pk') },
    {
      put: aliasItem(objectKey, { ...known.object, threadId, triggerId: trigger.id }),
      if: gone ? and(exists('gone'), missing('triggerId')) : missing('pk'),
    },
    ...pointer(trigger),
  ]);
};

/** A row that an Eval finds the Trigger by. */
const pointer = (trigger: Trigger): readonly Write[] =>
  trigger.state === 'pending' ? [{ put: pendingItem(trigger) }] : [];

/**
 * What the Thread's row notes beside: that an Eval is owed, or that a person has said stop. A stop raises the version of
 * the subscriptions too, so that no Eval under way opens a ticket for what happened before it.
 */
const changesOf = (trigger: Trigger, route: Route | undefined, now: number) => {
  if (route?.to === 'eval') return [add('dirty', 1), ...markChanges(trigger.threadId, lookAgainAt(now))];
  return route?.to === 'stop' ? [set('stoppedAt', happenedAt(trigger)), add('subscriptions', 1)] : [];
};

/** Later states of an object win; of one moment, an edit stands above what it edits, and texts have an order of their own. */
const isNewer = (seen: Trigger, next: { readonly at: number; readonly edited: boolean; readonly text: string }) => {
  const before = [happenedAt(seen), Number(seen.edited ?? false)] as const;
  if (next.at !== before[0]) return next.at > before[0];
  if (Number(next.edited) !== before[1]) return next.edited;
  return next.text > seen.text;
};

/**
 * A newer state of an object that is known. Nothing is written where it is not newer.
 * @returns the Trigger as it stands then; `undefined` when it has to be read again
 */
const revise = async (
  deps: ThreadDeps,
  { thread: named, trigger: given, edited }: NewEvent,
  known: Known,
  seen: Trigger,
  policy: VersionedPolicy,
  source: Source | undefined,
): Promise<Trigger | undefined> => {
  const next = { at: given.occurredAt, edited, text: slice(given.text, 0, MOST_TEXT).text };
  if (known.thread === undefined) throw new Error(`The Thread ${seen.threadId} of a Trigger is missing.`);
  if (seen.state === 'withdrawn' || !isNewer(seen, next)) return seen;
  // A stop is obeyed before what became of its text is looked at.
  if (seen.state === 'delivering' && seen.gate.stop === true) {
    await deliver(deps, seen);
    return undefined;
  }
  const now = deps.clock.now();
  const moment = { revisedAt: next.at, ...(edited && { edited }) };
  // Only the time is noted, so that a state between the two which comes later does not win.
  if (next.text === seen.text) {
    const same: Trigger = { ...seen, ...moment };
    return commit(deps, same, [{ put: triggerItem(same), if: asSeen(seen) }]);
  }
  const { refusedUnder: _, tickets: __, ...kept } = seen;
  const draft: Trigger = {
    ...kept,
    ...moment,
    actor: given.actor,
    ...(given.authorId !== undefined && { authorId: given.authorId }),
    text: next.text,
    revision: seen.revision + 1,
    replyTo: given.replyTo,
    deliveryId: given.deliveryId,
    rounds: 0,
  };
  const verdict = judgeTrigger(deps, policy, source, draft);
  const { trigger, route } = judged(draft, known.thread, verdict, policy, now);
  const place = { orgId: seen.orgId, sourceId: seen.sourceId, threadId: seen.threadId, named, now };
  return commit(deps, trigger, [
    ...threadWrites(known, place, changesOf(trigger, route, now)),
    { put: triggerItem(trigger), if: asSeen(seen) },
    ...(trigger.state === 'pending'
      ? pointer(trigger)
      : [{ delete: keys.pendingTrigger(seen.orgId, seen.threadId, seen.id) }]),
  ]);
};

/** Nobody has decided or changed it since it was read. */
const asSeen = ({ revision, state, rounds, revisedAt }: Trigger) =>
  and(
    eq('revision', revision),
    eq('state', state),
    eq('rounds', rounds),
    revisedAt === undefined ? missing('revisedAt') : eq('revisedAt', revisedAt),
  );

const commit = async (
  { table }: ThreadDeps,
  trigger: Trigger,
  writes: readonly Write[],
): Promise<Trigger | undefined> => {
  // Else another delivery was faster, a ticket has subscribed, somebody has decided: read and judged again.
  return (await ifAllStill(table, writes)) ? trigger : undefined;
};
