/**
 * What one process knows of the things that are to happen in the same second. It counts what it wakes itself: nobody else is
 * asked, so that knowing costs nothing.
 */
export interface Crowd {
  /** One more is about to be woken. */
  join(now: number): void;
  /**
   * Seconds by which what follows on a wake-up steps aside, for the delay of its messages: the others are woken first, then
   * all go on. 0 where nobody stands behind it.
   * @param dueAt when it was to be woken, ms since the epoch
   */
  aside(dueAt: number, now: number): number;
}

/** A delay is whole seconds rounded up, so that a wait may come a second late with nobody around. */
const LATE_MS = 1_500;
/** By then two hundred in one second have been woken on two cores. */
const ASIDE_SECONDS = 3;

/**
 * @param many so many in one process are a crowd
 * @param withinMs in so short a time
 */
export const makeCrowd = (many: number, withinMs: number): Crowd => {
  /** The latest `many`, oldest first. */
  let joined: readonly number[] = [];
  const isMany = (now: number): boolean => joined.length === many && now - (joined[0] ?? now) < withinMs;
  return {
    join(now) {
      joined = [...joined, now].slice(-many);
    },
    aside: (dueAt, now) => (isMany(now) || now - dueAt >= LATE_MS ? ASIDE_SECONDS : 0),
  };
};
