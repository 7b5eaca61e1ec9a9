import { UnreadableRow } from '../kernel/errors.ts';
import { ifStill } from '../kernel/if-still.ts';
import { due } from '../kernel/keys.ts';
import { eq, type Item, remove, set } from '../kernel/table.ts';
import { type ScheduleDeps, sendAsk, sendFire } from './announce.ts';
import { isSoon, markTimeWhenAsked, nextBackoff } from './mark.ts';
import { parseSchedulePk } from './message.ts';
import { findSchedule } from './schedule.ts';

/**
 * Sends the message of an occurrence that is soon, with the delay that hits its second. First the mark moves behind it,
 * conditionally: of two ticks at once one sends, and each further round for one that does not move waits twice as long.
 */
export const tickSchedule = async (deps: ScheduleDeps, found: Item): Promise<void> => {
  const at = parseSchedulePk(found.pk);
  if (at === undefined) throw new UnreadableRow(found, 'it has the key of no schedule.');
  const seen = await findSchedule(deps.table, at);
  // The index was behind: what it showed has come and gone.
  if (seen?.dueSk === undefined || seen.dueSk !== found.dueSk) return;
  const now = deps.clock.now();
  const active = seen.state === 'ACTIVE';
  const soon = active && isSoon(seen, now);
  const backoff = soon ? nextBackoff(seen, now) : 0;
  const mark = markTimeWhenAsked(seen, now);
  const changes =
    mark === undefined
      ? [remove('duePk'), remove('dueSk'), remove('backoff')]
      : [set('dueSk', due.sk(mark + backoff, seen.id)), set('backoff', backoff)];
  const moved = await ifStill(() =>
    deps.table.update({ pk: found.pk, sk: found.sk }, changes, eq('dueSk', seen.dueSk ?? '')),
  );
  if (!moved) return;
  if (active && seen.pending !== undefined) await sendAsk(deps, seen);
  if (soon) await sendFire(deps, seen, now);
};
