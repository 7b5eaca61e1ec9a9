/** What people do with the outbox. */

import { conflict, notFound } from '../../kernel/errors.ts';
import { ifAllStill } from '../../kernel/if-still.ts';
import { keys, owner } from '../../kernel/keys.ts';
import { and, type Change, eq, exists, remove, set, type Table, type Write } from '../../kernel/table.ts';
import { type Listed, listRows, type PageRequest } from '../../tenancy/list-rows.ts';
import { ROW_VERSION } from '../../tenancy/row.ts';
import { readThread, type Thread } from '../thread/thread.ts';
import type { PostingDeps } from './deps.ts';
import { closeMuted, closeUndelivered } from './notices.ts';
import { unchanged } from './outcome.ts';
import { DROPPED, type EffectState, isBlank, type Posting, readPosting, shownState } from './posting.ts';
import { findPosting } from './read.ts';
import { wakeAt } from './settle.ts';
import { dropMark, FRESH_MS, setMark } from './timing.ts';

export interface PostingFilter {
  readonly state?: EffectState | undefined;
  readonly ticketId?: string | undefined;
  readonly threadId?: string | undefined;
}

const fits = (posting: Posting, { state, ticketId, threadId }: PostingFilter): boolean =>
  !isBlank(posting) &&
  (state === undefined || shownState(posting) === state) &&
  (ticketId === undefined || posting.ticketId === ticketId) &&
  (threadId === undefined || posting.threadId === threadId);

/** Newest first; a document is as old as its ticket. */
export const listPostings = (
  { table, log }: Pick<PostingDeps, 'table' | 'log'>,
  orgId: string,
  filter: PostingFilter,
  page: PageRequest,
): Promise<Listed<Posting>> => {
  const read = (row: Parameters<typeof readPosting>[0]): Posting | undefined => {
    const posting = readPosting(row);
    return fits(posting, filter) ? posting : undefined;
  };
  return listRows({ table, log, pk: owner.postings(orgId), index: 'byOwner', prefix: 'eff_', read }, page);
};

/** @throws AppError 404 */
export const getPosting = async (table: Table, orgId: string, postingId: string): Promise<Posting> => {
  const posting = await findPosting(table, orgId, postingId);
  if (posting === undefined) throw notFound('effect');
  return posting;
};

const refuse = (posting: Posting, wanted: string, allowed: string): Error => {
  const state = shownState(posting);
  return conflict(
    'wrong_state',
    `The effect is ${state}${posting.reason === undefined ? '' : ` (${posting.reason.code})`}; only one that is ${allowed} can be ${wanted}.`,
    { state, wanted },
  );
};

const changedMeanwhile = () => conflict('changed_meanwhile', 'The effect moved at the same moment. Look at it again.');

/** A person wants it out now. */
const goNow = (posting: Posting, now: number): readonly Change[] => [
  set('state', 'pending'),
  set('released', true),
  set('triedSince', now),
  set('attempts', 0),
  set('negatives', 0),
  remove('reason'),
  remove('notBefore'),
  remove('attentionAt'),
  remove('ttl'),
  ...setMark(posting.id, now + FRESH_MS),
];

const readThreadOf = async (table: Table, posting: Posting): Promise<Thread | undefined> => {
  const item = await table.get(keys.thread(posting.orgId, posting.threadId), { consistent: true });
  return item && readThread(item);
};

/** The Thread may speak again. `afresh`: what it has said counts no more. */
const unmuteWrites = (thread: Thread | undefined, afresh: boolean): readonly Write[] =>
  thread?.mutedSince === undefined
    ? []
    : [
        {
          update: keys.thread(thread.orgId, thread.id),
          changes: [remove('mutedSince'), ...(afresh ? [set('sends', [])] : [])],
          if: and(eq('v', ROW_VERSION), exists('pk'), eq('mutedSince', thread.mutedSince)),
        },
        ...closeMuted(thread),
      ];

const change = async (
  deps: PostingDeps,
  posting: Posting,
  changes: readonly Change[],
  beside: readonly Write[],
): Promise<Posting> => {
  const { orgId, id } = posting;
  const update: Write = { update: keys.posting(orgId, id), changes, if: unchanged(posting) };
  if (!(await ifAllStill(deps.table, [update, ...beside]))) throw changedMeanwhile();
  return getPosting(deps.table, orgId, id);
};

/**
 * Tries once more what was given up, or what may be out and is not found: then a second comment is the person's choice.
 * The mandate is compared as ever.
 * @throws AppError 404, 409
 */
export const retryPosting = async (deps: PostingDeps, orgId: string, postingId: string): Promise<Posting> => {
  const posting = await getPosting(deps.table, orgId, postingId);
  const shown = shownState(posting);
  if (shown !== 'dead' && shown !== 'unknown') throw refuse(posting, 'tried again', 'dead or unknown');
  const now = deps.clock.now();
  const next = await change(deps, posting, goNow(posting, now), closeUndelivered(posting));
  await wakeAt(deps, posting, now);
  return next;
};

/**
 * Lets go what is held. Held by the breaker, its Thread may speak again, and what else is held there follows.
 * @throws AppError 404, 409
 */
export const releasePosting = async (deps: PostingDeps, orgId: string, postingId: string): Promise<Posting> => {
  const posting = await getPosting(deps.table, orgId, postingId);
  if (posting.state !== 'held') throw refuse(posting, 'released', 'held');
  const now = deps.clock.now();
  const thread = await readThreadOf(deps.table, posting);
  const next = await change(deps, posting, goNow(posting, now), unmuteWrites(thread, true));
  await wakeAt(deps, posting, now);
  await wakeOthers(deps, next);
  return next;
};

/** Looked through at once; what is not among them follows by its mark within the hour. */
const MOST_OTHERS = 100;

const wakeOthers = async (deps: PostingDeps, { orgId, id, threadId }: Posting): Promise<void> => {
  const { items } = await listPostings(deps, orgId, { state: 'held', threadId }, { limit: MOST_OTHERS });
  const now = deps.clock.now();
  await Promise.all(items.filter((other) => other.id !== id).map((other) => wakeAt(deps, other, now)));
};

/**
 * A person has taken a source up again: what waited for it goes out now. A message that is lost is made good by the mark of
 * its posting.
 */
export const wakeHeldOf = async (deps: PostingDeps, orgId: string, sourceId: string): Promise<void> => {
  const { items } = await listPostings(deps, orgId, { state: 'held' }, { limit: MOST_OTHERS });
  const now = deps.clock.now();
  const waiting = items.filter((each) => each.sourceId === sourceId && each.reason?.code === 'source');
  await Promise.all(waiting.map((each) => wakeAt(deps, each, now)));
};

/**
 * It does not go out; of a document only this revision does not. What a person drops in a muted Thread takes the mute with it: they have seen it.
 * @throws AppError 404, 409
 */
export const dropPosting = async (deps: PostingDeps, orgId: string, postingId: string): Promise<Posting> => {
  const posting = await getPosting(deps.table, orgId, postingId);
  const { state } = posting;
  const shown = shownState(posting);
  if (shown === 'sending' || shown === 'sent' || (shown === 'dead' && posting.reason?.code === DROPPED)) {
    throw refuse(posting, 'dropped', 'held, pending, unknown or dead');
  }
  const held = state === 'held' && posting.reason?.code === 'breaker';
  const changes = [
    set('state', 'dead'),
    set('reason', { code: DROPPED, message: 'A person dropped it.' }),
    ...(posting.desired === undefined ? [] : [set('sentRevision', posting.desired)]),
    remove('attentionAt'),
    ...dropMark,
  ];
  const beside = held ? unmuteWrites(await readThreadOf(deps.table, posting), false) : [];
  return change(deps, posting, changes, [...closeUndelivered(posting), ...beside]);
};
