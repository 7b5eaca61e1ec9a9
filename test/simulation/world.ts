/** Virtual time under a seeded scheduler: whoever waits is woken in the order of time, and nothing else moves meanwhile. */

/** mulberry32: small, fast, the same everywhere. */
export const seeded = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

interface Waiting {
  readonly at: number;
  readonly order: number;
  readonly wake: () => void;
  cancelled: boolean;
}

export class World {
  now = Date.UTC(2026, 0, 1);
  readonly random: () => number;
  #order = 0;
  readonly #waiting: Waiting[] = [];

  constructor(seed: number) {
    this.random = seeded(seed);
  }

  /** Calls back in `ms` of virtual time. */
  after(ms: number, wake: () => void): () => void {
    const entry: Waiting = { at: this.now + Math.max(0, Math.round(ms)), order: this.#order++, wake, cancelled: false };
    // A binary heap would be faster for thousands; a run has some ten waiting at once.
    let index = this.#waiting.length;
    while (index > 0) {
      const before = this.#waiting[index - 1];
      if (before === undefined || before.at > entry.at || (before.at === entry.at && before.order > entry.order))
        index--;
      else break;
    }
    this.#waiting.splice(index, 0, entry);
    return () => {
      entry.cancelled = true;
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.after(ms, resolve);
      signal?.addEventListener(
        'abort',
        () => {
          cancel();
          resolve();
        },
        { once: true },
      );
    });
  }

  /** Runs until `until` says so or virtual time passes `untilMs`. */
  async run(untilMs: number, until: () => boolean): Promise<void> {
    await settle();
    while (!until()) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      if (next.cancelled) continue;
      if (next.at > untilMs) {
        this.#waiting.unshift(next);
        this.now = untilMs;
        return;
      }
      this.now = next.at;
      next.wake();
      await settle();
    }
  }
}

const TURNS_AT_ONCE = 64;
const waiting: (() => void)[] = [];
let queued = 0;

const turn = (): void => {
  queued--;
  waiting.shift()?.();
};

/**
 * Every promise that can go on does so: before it calls an immediate, Node lets all of them go on, and judges those that
 * failed unheard. Immediates are queued many at a time, for after each queue of them the loop asks the system for news.
 */
export const settle = (): Promise<void> =>
  new Promise((resolve) => {
    waiting.push(resolve);
    if (queued < waiting.length) {
      for (let more = 0; more < TURNS_AT_ONCE; more++) setImmediate(turn);
      queued += TURNS_AT_ONCE;
    }
  });
