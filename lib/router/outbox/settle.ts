/** What several steps of a sender end in. */
import { ifAllStill } from '../../kernel/if-still.ts';
import { keys } from '../../kernel/keys.ts';
import { tellSource } from '../source/told.ts';
import type { OutboxDeps, PostingDeps } from './deps.ts';
import type { Reason } from './judge.ts';
import { openUndelivered } from './notices.ts';
import { buriedChanges, unchanged } from './outcome.ts';
import type { Posting } from './posting.ts';
import { delayUntil, LONGEST_DELAY_MS } from './timing.ts';

/** Wakes it then; what is too far off for a message has a mark. */
export const wakeAt = async (deps: PostingDeps, { orgId, id }: Posting, at: number): Promise<void> => {
  const now = deps.clock.now();
  if (at - now > LONGEST_DELAY_MS) return;
  await deps.postings.send({ orgId, postingId: id }, { delaySeconds: delayUntil(at, now), tenant: orgId });
};

/** Gives it up, as it was read. */
export const buryPosting = async (
  deps: Pick<OutboxDeps, 'table' | 'clock' | 'log'>,
  posting: Posting,
  reason: Reason,
  tell: boolean,
  guard = unchanged(posting),
): Promise<boolean> => {
  const now = deps.clock.now();
  deps.log.warn('A posting was given up.', { postingId: posting.id, ...reason });
  return ifAllStill(deps.table, [
    { update: keys.posting(posting.orgId, posting.id), changes: buriedChanges(posting, reason, tell, now), if: guard },
    ...(tell ? [openUndelivered(posting, reason, now)] : []),
  ]);
};

/**
 * The provider refuses the account or the installation as a whole: the source is taken out of service, once and with one
 * attention item, and whatever wants to go out through it waits (router-bugs J74).
 */
export const sourceRefuses = async (
  deps: Pick<OutboxDeps, 'table' | 'log'>,
  { orgId, sourceId }: Posting,
  { message }: Reason,
  now: number,
): Promise<void> => {
  const told = await tellSource(deps.table, orgId, sourceId, { at: now, state: 'suspended', reason: message }, now);
  if (told) deps.log.error('A source was taken out of service.', { sourceId, why: message });
};
