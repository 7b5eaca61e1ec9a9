import { type ClockRange, FAR_SKEW_MS, SKEW_MS } from './faults.ts';
import { seeded } from './world.ts';

export type SkewOf = (process: number) => number;

const byTurns =
  (even: number, odd: number): SkewOf =>
  (process) =>
    process % 2 === 0 ? even : odd;

/** Clocks of the processes of a run, in the order of their birth: whoever takes a step over has another one than its holder. */
export const CLOCKS: { readonly [name: string]: SkewOf } = {
  '2 s ahead and 2 s behind by turns': byTurns(SKEW_MS, -SKEW_MS),
  '2 s behind and 2 s ahead by turns': byTurns(-SKEW_MS, SKEW_MS),
  'more than half a lease ahead and right by turns': byTurns(FAR_SKEW_MS, 0),
  'right and more than half a lease ahead by turns': byTurns(0, FAR_SKEW_MS),
};

/**
 * Every process has a clock of its own, mostly up to 2 s off; one in twenty is further off, by up to 18 s, all of a run on
 * the same side, and there they stay wherever they jump: two of them differ by 20 s at most, which is what is promised.
 */
export const randomClocks = (seed: number): { readonly skewOf: SkewOf; readonly clockRange: ClockRange } => {
  const random = seeded(seed * 13 + 5);
  const side = random() < 0.5 ? 1 : -1;
  return {
    skewOf: () => Math.round(random() < 0.05 ? side * random() * FAR_SKEW_MS : (random() * 2 - 1) * SKEW_MS),
    clockRange: side === 1 ? [-SKEW_MS, FAR_SKEW_MS] : [-FAR_SKEW_MS, SKEW_MS],
  };
};
