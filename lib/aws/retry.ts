import { setTimeout as pause } from 'node:timers/promises';

export interface Retry {
  /** Tries in all, the first included. */
  readonly attempts: number;
  readonly baseMs: number;
  readonly capMs: number;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
}

/** Eight tries wait 2.6 s in all at worst and half of that on average, which fits in the 30 s lease of a step. */
export const CONFLICT_RETRY: Retry = { attempts: 8, baseMs: 25, capMs: 1000, sleep: pause, random: Math.random };

/**
 * Repeats `work` while it fails with an error that `again` accepts. The pause is drawn from zero up to an exponentially
 * growing bound ("full jitter"), so that those who collided once do not collide again.
 * @throws the last error
 */
export const retrying = async <T>(
  work: () => Promise<T>,
  again: (error: unknown) => boolean,
  retry: Retry,
): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= retry.attempts || !again(error)) throw error;
      await retry.sleep(backoffMs(attempt, retry));
    }
  }
};

/** @param attempt how many tries have failed, from 1 */
export const backoffMs = (attempt: number, { baseMs, capMs, random }: Retry): number =>
  random() * Math.min(capMs, baseMs * 2 ** (attempt - 1));
