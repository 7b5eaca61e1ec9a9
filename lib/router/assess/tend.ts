/** A Thread whose message was lost, or that waits: the clock looks again. And what the queue gave up on. */
import { openAttention } from '../../attention/attention.ts';
import { ifAllStill, ifStill } from '../../kernel/if-still.ts';
import { due, keys } from '../../kernel/keys.ts';
import { type Change, eq, exists, type Item, set } from '../../kernel/table.ts';
import type { AssessMessage } from '../message.ts';
import { type ThreadDeps, wakeEval } from '../thread/deps.ts';
import { findThread } from '../thread/find.ts';
import { lookAgainAt, markChanges, parseThreadPk } from '../thread/mark.ts';
import { stuckItem } from './stuck.ts';

const FIRST_BACKOFF_MS = 180_000;
const LONGEST_BACKOFF_MS = 3_600_000;

export type TendDeps = Pick<ThreadDeps, 'table' | 'clock' | 'log' | 'assess'>;

export const isThreadRow = ({ pk, sk }: Item): boolean => sk === 'THREAD' && parseThreadPk(pk) !== undefined;

/** First the mark moves, conditionally and twice as far each time, so that a backlog is not amplified; then the message goes out. */
export const sweepThread = async (deps: TendDeps, found: Item): Promise<void> => {
  const at = parseThreadPk(found.pk);
  const thread = at && (await findThread(deps.table, at.orgId, at.threadId));
  if (at === undefined || thread?.dueSk === undefined) return;
  const now = deps.clock.now();
  // The index was behind: what it showed has come and gone.
  if (due.at(thread.dueSk) > now) return;
  const backoff = Math.min(LONGEST_BACKOFF_MS, (thread.dueBackoff ?? FIRST_BACKOFF_MS) * 2);
  const changes: readonly Change[] = [...markChanges(thread.id, lookAgainAt(now, backoff)), set('dueBackoff', backoff)];
  const seen = eq('dueSk', thread.dueSk);
  if (!(await ifStill(() => deps.table.update(keys.thread(at.orgId, at.threadId), changes, seen)))) return;
  deps.log.warn('A Thread stood still and is assessed again.', at);
  await wakeEval(deps, at);
};

/** The queue gave up on a Thread: people are told, once a day for all of them, and the clock goes on looking. */
export const buryAssessment = async (
  deps: Pick<TendDeps, 'table' | 'clock'>,
  { orgId, threadId }: AssessMessage,
): Promise<void> => {
  const thread = await findThread(deps.table, orgId, threadId);
  // Nothing waits: it was assessed by another message.
  if (thread?.dueSk === undefined) return;
  const now = deps.clock.now();
  const why = 'a Thread could not be assessed again and again; the log of the assess function says why.';
  const item = stuckItem(orgId, now, why);
  // Refused where its Eval came to an end meanwhile.
  await ifAllStill(deps.table, [
    {
      update: keys.thread(orgId, threadId),
      changes: [...markChanges(threadId, lookAgainAt(now, LONGEST_BACKOFF_MS)), set('stuckSince', item.at)],
      if: exists('dueSk'),
    },
    openAttention(item),
  ]);
};
