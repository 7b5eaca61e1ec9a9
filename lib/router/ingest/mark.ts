/** The mark of a delivery in the `due` index: it stands until the delivery is handled, and `sweep` finds it. */
import { due } from '../../kernel/keys.ts';

/** As long as a good message may take with a few repeats behind it. */
const FIRST_LOOK_MS = 180_000;
const LONGEST_LOOK_MS = 3_600_000;

/** @param looks how often the sweep has been there already: it waits twice as long each time */
export const lookAgain = (deliveryId: string, now: number, looks: number): { duePk: string; dueSk: string } => ({
  duePk: due.pkOf('sweep', deliveryId),
  dueSk: due.sk(now + Math.min(LONGEST_LOOK_MS, FIRST_LOOK_MS * 2 ** looks), deliveryId),
});
