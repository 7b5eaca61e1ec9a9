import { ifAllStill } from '../../kernel/if-still.ts';
import { keys } from '../../kernel/keys.ts';
import { and, eq, missing, set, type Write } from '../../kernel/table.ts';
import { ROW_VERSION } from '../../tenancy/row.ts';
import { sameSends } from './claim.ts';
import type { OutboxDeps } from './deps.ts';
import type { Facts, Verdict } from './judge.ts';
import { openMuted } from './notices.ts';
import { heldChanges, unchanged } from './outcome.ts';
import type { Posting } from './posting.ts';
import { HELD_MS } from './timing.ts';

/**
 * Holds a posting back. The one that trips the breaker mutes its Thread and asks for a person, all in one transaction, so
 * that there is one attention item however many are held after it.
 * @returns false when something had moved: it is judged anew
 */
export const holdBack = async (
  deps: OutboxDeps,
  posting: Posting,
  { thread }: Facts,
  { reason, mute }: Extract<Verdict, { do: 'hold' }>,
  now: number,
): Promise<boolean> => {
  const { orgId, id } = posting;
  const writes: Write[] = [
    {
      update: keys.posting(orgId, id),
      changes: heldChanges(posting, reason, now + HELD_MS),
      if: unchanged(posting),
    },
  ];
  if (mute && thread !== undefined) {
    deps.log.warn('A discussion was muted.', { threadId: thread.id });
    writes.push(
      {
        update: keys.thread(orgId, thread.id),
        changes: [set('mutedSince', now)],
        if: and(eq('v', ROW_VERSION), missing('mutedSince'), sameSends(thread.sendCount)),
      },
      openMuted(thread, posting, reason, now),
    );
  }
  return ifAllStill(deps.table, writes);
};
