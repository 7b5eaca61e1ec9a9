/** What becomes of a row of the `due` index that the clock cannot deal with: of a newer version, damaged, or failing each time. */
import { ifStill } from '../kernel/if-still.ts';
import { due } from '../kernel/keys.ts';
import { eq, type Item, set } from '../kernel/table.ts';
import { METRICS } from '../names.ts';
import type { ExecutionDeps } from './step/deps.ts';

export type DueDeps = Pick<ExecutionDeps, 'table' | 'clock' | 'log' | 'metrics'>;

/** A row that fails for a moment is tried in each round so long, with no write: a busy table needs no more of them. */
const PATIENCE_MS = 180_000;
const FIRST_DISTANCE_MS = 60_000;
/** Code that reads the row again finds it after an hour at the latest. */
const LONGEST_DISTANCE_MS = 3_600_000;

/**
 * Moves the mark of a row whose visit failed beyond the round, twice as far each time. Of the row nothing but the mark is
 * touched, and only where it stands as it was found: a visit that failed after it had moved the mark keeps it.
 * It never fails; a mark that was not moved is found by the next round.
 * @param upTo how far the round looks, ms
 */
export const putOff = async (deps: DueDeps, found: Item, upTo: number): Promise<void> => {
  const { pk, sk, dueSk } = found;
  if (typeof dueSk !== 'string') return;
  const times = due.timesPutOff(dueSk);
  if (times === 0 && due.at(dueSk) > deps.clock.now() - PATIENCE_MS) return;
  const at = upTo + Math.min(LONGEST_DISTANCE_MS, FIRST_DISTANCE_MS * 2 ** times);
  try {
    const moved = await ifStill(() =>
      deps.table.update({ pk, sk }, [set('dueSk', due.putOff(dueSk, at))], eq('dueSk', dueSk)),
    );
    if (!moved) return;
    deps.metrics.count(METRICS.putOff);
    deps.log.error('A due row fails again and again: its mark was put off.', { pk, sk, times: times + 1, at });
  } catch (error) {
    deps.log.warn('A due row that failed could not be put off.', { error: String(error) });
  }
};
