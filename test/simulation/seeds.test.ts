import { expect, it } from 'vitest';
import { judge } from './judge.ts';
import { randomScenario } from './random.ts';

/** `npm run simulate -- --seeds 100000` runs more of them. */
const SEEDS = 2_000;
const PER_TEST = 500;

it.each(Array.from({ length: SEEDS / PER_TEST }, (_, index) => index * PER_TEST + 1))(
  'holds its invariants for 500 random runs from seed %i',
  async (from) => {
    const failed: string[] = [];
    let faults = 0;
    for (let seed = from; seed < from + PER_TEST; seed++) {
      const { sim, violations } = await judge(randomScenario(seed));
      faults += sim.injector.struck.length;
      if (violations.length > 0) failed.push(`seed ${seed}: ${violations.join('; ')}`);
    }
    expect(failed).toEqual([]);
    expect(faults).toBeGreaterThan(PER_TEST);
  },
  240_000,
);
