import { type ChaosSpec, parseChaos } from './chaos-spec.ts';

/** Faults on purpose, from one seeded source, so that a seed and the same order of calls give the same faults. */
export interface Chaos {
  /** A batch as it is delivered: some messages twice, perhaps in another order. Every message comes at least once. */
  deliveries<T>(messages: readonly T[]): T[];
  /** How long this delivery is held back, milliseconds; mostly 0. */
  deliveryDelayMs(): number;
  /** Whether this call is throttled. */
  throttles(): boolean;
  /** Whether this write meets a conflicting transaction. */
  conflicts(): boolean;
  /** Whether the caller dies at this call: before it is applied, or after it and before the answer. */
  kills(): 'before' | 'after' | undefined;
  /** A whole number from 0 to `below` - 1. */
  pick(below: number): number;
}

/** @param text `BATON_CHAOS`. @throws Error naming the part that cannot be read */
export function createChaos(text: string): Chaos {
  return chaosOf(parseChaos(text));
}

function chaosOf(spec: ChaosSpec): Chaos {
  const random = mulberry32(spec.seed);
  // A probability of 0 draws nothing, so that one kind of fault does not shift the sequence of another.
  const happens = (probability: number): boolean => probability > 0 && random() < probability;
  const pick = (below: number): number => Math.floor(random() * below);
  return {
    deliveries(messages) {
      const out = messages.flatMap((message) => (happens(spec.duplicate) ? [message, message] : [message]));
      if (happens(spec.reorder)) shuffle(out, pick);
      return out;
    },
    deliveryDelayMs: () => (happens(spec.delay) ? spec.delaySeconds * 1000 : 0),
    throttles: () => happens(spec.throttle),
    conflicts: () => happens(spec.conflict),
    kills: () => (happens(spec.kill) ? (pick(2) === 0 ? 'before' : 'after') : undefined),
    pick,
  };
}

/** Fisher-Yates. */
function shuffle<T>(list: T[], pick: (below: number) => number): void {
  for (let last = list.length - 1; last > 0; last--) {
    const other = pick(last + 1);
    [list[last], list[other]] = [list[other] as T, list[last] as T];
  }
}

/** A small seeded generator, uniform in [0, 1). @see https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
