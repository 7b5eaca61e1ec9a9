/** For the clock and the dead letters. */
import { ifStill } from '../../kernel/if-still.ts';
import { due } from '../../kernel/keys.ts';
import { eq, type Item, set } from '../../kernel/table.ts';
import type { PostingMessage } from '../message.ts';
import type { PostingDeps } from './deps.ts';
import { parsePostingPk } from './posting.ts';
import { findPosting } from './read.ts';
import { buryPosting } from './settle.ts';
import { delayUntil, markAt, STALL_MS } from './timing.ts';

/**
 * For `tick` and `sweep`: wakes a posting whose mark has come, on time or because its message was lost. First the mark
 * moves, conditionally, then the message goes out.
 */
export const wakePosting = async (deps: PostingDeps, found: Item): Promise<void> => {
  const message = parsePostingPk(found.pk);
  if (message === undefined || typeof found.dueSk !== 'string') return;
  const now = deps.clock.now();
  const at = due.at(found.dueSk);
  const mark = markAt(message.postingId, Math.max(now, at) + STALL_MS);
  const moved = await ifStill(() =>
    deps.table.update(
      { pk: found.pk, sk: found.sk },
      [set('duePk', mark.duePk), set('dueSk', mark.dueSk)],
      // Rows of a newer version carry such marks too and keep their meaning when they are moved on.
      eq('dueSk', String(found.dueSk)),
    ),
  );
  if (moved) await deps.postings.send(message, { delaySeconds: delayUntil(at, now), tenant: message.orgId });
};

/**
 * The queue gave up on a message: the posting is kept as `dead`, with an attention item. One that somebody is at, that is
 * in doubt or at rest already is left to its mark.
 */
export const buryPostingMessage = async (
  deps: Pick<PostingDeps, 'table' | 'clock' | 'log'>,
  { orgId, postingId }: PostingMessage,
): Promise<void> => {
  deps.log.error('A posting could not be handled.', { postingId });
  const posting = await findPosting(deps.table, orgId, postingId);
  if (posting === undefined || (posting.state !== 'pending' && posting.state !== 'held')) return;
  const message = 'The worker failed on it again and again.';
  await buryPosting(deps, posting, { code: 'worker_failed', message }, true);
};
