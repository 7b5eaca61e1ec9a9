import { describe, expect, it } from 'vitest';
import { FAMILIES } from './child-scenarios.ts';
import { FAULTS, type Fault } from './faults.ts';
import { judge } from './judge.ts';
import { seeded } from './world.ts';

const STRIDE = process.env.SIM_FULL === undefined ? 3 : 1;

/** One fault at every port call of a parent, its children and the effects between them. */
describe.each(Object.entries(FAMILIES))('%s', (_name, base) => {
  it('completes undisturbed', async () => {
    const { sim, violations } = await judge({ seed: 1, ...base });
    expect(violations).toEqual([]);
    expect([...sim.observed.executions.values()].length).toBe(3);
  });

  it.each(FAULTS)('survives one %s at any port call', async (fault) => {
    const calls = (await judge({ seed: 1, ...base })).sim.injector.calls;
    expect(calls).toBeGreaterThan(80);
    const failed: string[] = [];
    // Each kind at every third call, another third for each kind; SIM_FULL=1 strikes all.
    for (let call = FAULTS.indexOf(fault) % STRIDE; call < calls; call += STRIDE) {
      const { sim, violations } = await judge({ seed: 1, ...base, faultAt: (n) => (n === call ? fault : undefined) });
      if (violations.length > 0) failed.push(`call ${call} (${sim.injector.names[call]}): ${violations.join('; ')}`);
    }
    expect(failed).toEqual([]);
  });
});

/** Pairs at places that the seed picks: all of them would be a quarter of a million runs. */
const PAIRED: readonly Fault[] = ['crash_after', 'lost_response', 'retried', 'lease_expiry', 'duplicate', 'terminate'];
const PAIRS_EACH = process.env.SIM_FULL === undefined ? 10 : 25;

describe.each(Object.entries(FAMILIES))('%s', (_name, base) => {
  it.each(PAIRED)(
    'survives %s and any other fault after it',
    async (first) => {
      const calls = (await judge({ seed: 1, ...base })).sim.injector.calls;
      const random = seeded(7);
      const failed: string[] = [];
      for (const second of PAIRED) {
        for (let pair = 0; pair < PAIRS_EACH; pair++) {
          const i = Math.floor(random() * calls);
          const j = i + 1 + Math.floor(random() * (calls + 8 - i));
          const faultAt = (n: number): Fault | undefined => (n === i ? first : n === j ? second : undefined);
          const { violations } = await judge({ seed: pair, ...base, faultAt });
          if (violations.length > 0)
            failed.push(`seed ${pair}, ${first} at ${i}, ${second} at ${j}: ${violations.join('; ')}`);
        }
      }
      expect(failed.slice(0, 10)).toEqual([]);
    },
    120_000,
  );
});
