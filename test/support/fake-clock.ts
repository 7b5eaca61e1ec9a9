import type { Clock } from '../../lib/kernel/ports.ts';

export interface FakeClock extends Clock {
  /** Moves time on and wakes, in order, whoever slept until then. Resolves after the woken had their turn. */
  advance(ms: number): Promise<void>;
}

/** A clock that stands still until a test moves it. */
export const makeFakeClock = (startMs = Date.UTC(2026, 0, 1)): FakeClock => {
  let time = startMs;
  let sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  return {
    now: () => time,
    sleep(ms, signal) {
      if (ms <= 0 || signal?.aborted) return Promise.resolve();
      return new Promise<void>((resolve) => {
        const sleeper = { at: time + ms, wake: resolve };
        sleepers.push(sleeper);
        signal?.addEventListener(
          'abort',
          () => {
            sleepers = sleepers.filter((other) => other !== sleeper);
            resolve();
          },
          { once: true },
        );
      });
    },
    async advance(ms) {
      const until = time + ms;
      for (;;) {
        const next = sleepers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        time = next.at;
        sleepers = sleepers.filter((other) => other !== next);
        next.wake();
        await settle();
      }
      time = until;
      await settle();
    },
  };
};

/** Lets every promise that can go on do so. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
