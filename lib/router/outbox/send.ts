import { ifStill } from '../../kernel/if-still.ts';
import { keys } from '../../kernel/keys.ts';
import { and, type Change, ConditionFailed, eq } from '../../kernel/table.ts';
import { type Provider, ProviderError } from '../channel.ts';
import type { PostingMessage } from '../message.ts';
import { type Claimed, claim } from './claim.ts';
import type { OutboxDeps } from './deps.ts';
import { holdBack } from './hold.ts';
import { type Facts, judge, type Verdict } from './judge.ts';
import { lookFor } from './look.ts';
import { failureOf, goOnChanges, heldChanges, sentChanges, stillHeldBy, unchanged } from './outcome.ts';
import type { Posting } from './posting.ts';
import { findPosting, readFacts } from './read.ts';
import { render } from './render.ts';
import { buryPosting, sourceRefuses, wakeAt } from './settle.ts';
import { ATTEMPT_MS, dropMark, HELD_MS, setMark } from './timing.ts';

/** So often what moved under a sender is judged anew within one message; then the message comes back later. */
const ROUNDS = 4;

/**
 * Does what is to be done about one posting now. Any message may come twice, late, or not at all: the row decides.
 * @throws what table, queue or the store of secrets say: the message comes back
 */
export const sendPosting = async (deps: OutboxDeps, { orgId, postingId }: PostingMessage): Promise<void> => {
  const organisation = await deps.table.get(keys.organisation(orgId), { consistent: true });
  // Somebody holds the whole organisation; the mark brings the posting back.
  if (organisation?.stopped !== undefined) return;
  for (let round = 0; round < ROUNDS; round++) {
    const posting = await findPosting(deps.table, orgId, postingId);
    if (posting === undefined) return;
    const facts = await readFacts(deps, posting);
    const now = deps.clock.now();
    if (await act(deps, posting, facts, judge(posting, facts, now), now)) return;
  }
  throw new Error(`What ${postingId} depends on moves all the time.`);
};

/** @returns false when something had moved: it is judged anew */
const act = async (
  deps: OutboxDeps,
  posting: Posting,
  facts: Facts,
  verdict: Verdict,
  now: number,
): Promise<boolean> => {
  const change = (changes: readonly Change[]): Promise<boolean> =>
    ifStill(() => deps.table.update(keys.posting(posting.orgId, posting.id), changes, unchanged(posting)));
  switch (verdict.do) {
    case 'rest':
      return posting.dueSk === undefined ? true : change(dropMark);
    case 'wait':
      return verdict.until === undefined ? true : change(setMark(posting.id, verdict.until));
    case 'hold':
      return holdBack(deps, posting, facts, verdict, now);
    case 'bury':
      return buryPosting(deps, posting, verdict.reason, verdict.tell);
    case 'look':
      return lookFor(deps, posting, facts, verdict.source, now);
    case 'send':
      return attempt(deps, posting, facts, verdict, now);
  }
};

const attempt = async (
  deps: OutboxDeps,
  posting: Posting,
  facts: Facts,
  verdict: Extract<Verdict, { do: 'send' }>,
  now: number,
): Promise<boolean> => {
  // Before the claim: a store of secrets that is busy costs no attempt.
  const provider = await deps.provider(verdict.source, {
    verb: posting.verb,
    repositoryId: facts.thread?.repositoryId,
    until: now + ATTEMPT_MS,
  });
  const claimed = await claim(deps.table, posting, facts, verdict, deps.newOwner(), now);
  if (claimed === undefined) return false;
  try {
    const remote = await carryOut(provider, claimed.posting, verdict.how);
    await recordSent(deps, claimed, remote);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    await recordFailure(deps, claimed, error, verdict.how);
  }
  return true;
};

const carryOut = async (
  provider: Provider,
  posting: Posting,
  how: 'create' | 'edit' | 'request',
): Promise<{ readonly id: string; readonly url?: string | undefined } | undefined> => {
  if (how === 'request') {
    await provider.requestReview(posting.replyTo, posting.reviewers ?? []);
    return undefined;
  }
  if (how === 'create' || posting.remoteId === undefined) {
    return provider.post(posting.replyTo, render(posting), posting.key);
  }
  await provider.edit(posting.replyTo, posting.remoteId, render(posting), posting.key);
  return undefined;
};

/** A crash before this leaves the lease; when that is over it is looked for. */
const recordSent = async (
  deps: OutboxDeps,
  { posting, owner, epoch }: Claimed,
  remote: { readonly id: string; readonly url?: string | undefined } | undefined,
): Promise<void> => {
  const now = deps.clock.now();
  const key = keys.posting(posting.orgId, posting.id);
  const held = stillHeldBy(owner, epoch);
  const changes = sentChanges(posting, remote, now);
  try {
    await deps.table.update(
      key,
      changes,
      posting.desired === undefined ? held : and(held, eq('desired', posting.desired)),
    );
    return;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    // Taken over after its lease, or already recorded by this very write, whose answer was lost.
    if (posting.desired === undefined || error.item?.owner !== owner) return;
  }
  // It is wanted otherwise by now: level, not edge, so the newest revision goes out next whatever lay between.
  const moved = await ifStill(() => deps.table.update(key, goOnChanges(changes, posting.id, now), held));
  if (moved) await wakeAt(deps, posting, now);
};

const recordFailure = async (
  deps: OutboxDeps,
  { posting, owner, epoch }: Claimed,
  error: ProviderError,
  how: 'create' | 'edit' | 'request',
): Promise<void> => {
  const now = deps.clock.now();
  const guard = stillHeldBy(owner, epoch);
  const failure = failureOf(posting, error, how, now, deps.random());
  if (failure.then === 'bury') {
    await buryPosting(deps, posting, failure.reason, failure.tell, guard);
    return;
  }
  const key = keys.posting(posting.orgId, posting.id);
  if (failure.then === 'source') {
    await sourceRefuses(deps, posting, failure.reason, now);
    const reason = { code: 'source', message: failure.reason.message };
    await ifStill(() => deps.table.update(key, heldChanges(posting, reason, now + HELD_MS), guard));
    return;
  }
  deps.log.warn('A posting was not sent.', { postingId: posting.id, kind: error.kind, why: error.message });
  const moved = await ifStill(() => deps.table.update(key, failure.changes, guard));
  if (moved) await wakeAt(deps, posting, failure.at);
};
