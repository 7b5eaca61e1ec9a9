/** A posting that may be out already: it is looked for, and sent again only after two looks found nothing (B28). */
import { ifStill } from '../../kernel/if-still.ts';
import { keys } from '../../kernel/keys.ts';
import { type Change, set } from '../../kernel/table.ts';
import { type Provider, ProviderError, type RemotePost } from '../channel.ts';
import type { Source } from '../source/source.ts';
import type { OutboxDeps } from './deps.ts';
import type { Facts } from './judge.ts';
import { failureOf, goOnChanges, negativeChanges, sentChanges, unchanged } from './outcome.ts';
import type { Posting } from './posting.ts';
import { buryPosting, sourceRefuses, wakeAt } from './settle.ts';
import { CLOCK_SLACK_MS, HELD_MS, NEGATIVES, setMark } from './timing.ts';

/** Ours, by its mark and by its author: anybody can copy a mark into a comment. */
export const findOwn = (
  posts: readonly RemotePost[],
  key: string,
  { self }: Pick<Source, 'self'>,
): RemotePost | undefined => posts.find((post) => post.key === key && self !== undefined && post.authorId === self.id);

/** @returns false when something had moved: it is judged anew */
export const lookFor = async (
  deps: OutboxDeps,
  posting: Posting,
  { thread }: Facts,
  source: Source,
  now: number,
): Promise<boolean> => {
  const triedAt = posting.triedAt ?? posting.createdAt;
  const provider = await deps.provider(source, { verb: 'read', repositoryId: thread?.repositoryId });
  const change = (changes: readonly Change[]): Promise<boolean> =>
    ifStill(() => deps.table.update(keys.posting(posting.orgId, posting.id), changes, unchanged(posting)));
  if (knowsRepeats(provider, triedAt, now)) {
    // The provider itself drops a repeat with the same key: there is nothing to look for.
    await change([set('state', 'unknown'), set('negatives', NEGATIVES)]);
    return false;
  }
  let posts: readonly RemotePost[];
  try {
    posts = await provider.list(posting.replyTo, triedAt - CLOCK_SLACK_MS);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return lookFailed(deps, posting, error, now, change);
  }
  const found = findOwn(posts, posting.key, source);
  if (found === undefined) {
    const { at, changes } = negativeChanges(posting, now);
    if (!(await change(changes))) return false;
    await wakeAt(deps, posting, at);
    return true;
  }
  deps.log.info('A posting was out already.', { postingId: posting.id, remoteId: found.id });
  const out = sentChanges(posting, found, now);
  if (posting.kind !== 'document') return change(out);
  // Which revision it shows is not known; an edit to the newest one is right in any case.
  const edit = goOnChanges(out, posting.id, now).filter(({ path }) => path !== 'sentRevision');
  if (await change(edit)) await wakeAt(deps, posting, now);
  return true;
};

const knowsRepeats = ({ repeatsWithinMs = 0 }: Provider, triedAt: number, now: number): boolean =>
  now - triedAt < repeatsWithinMs;

const lookFailed = async (
  deps: OutboxDeps,
  posting: Posting,
  error: ProviderError,
  now: number,
  change: (changes: readonly Change[]) => Promise<boolean>,
): Promise<boolean> => {
  const failure = failureOf(posting, error, 'look', now, deps.random());
  if (failure.then === 'bury') return buryPosting(deps, posting, failure.reason, failure.tell);
  if (failure.then === 'source') {
    await sourceRefuses(deps, posting, failure.reason, now);
    return change([set('state', 'unknown'), ...setMark(posting.id, now + HELD_MS)]);
  }
  if (!(await change(failure.changes))) return false;
  await wakeAt(deps, posting, failure.at);
  return true;
};
