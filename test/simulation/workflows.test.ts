import { describe, expect, it } from 'vitest';
import { FAULTS, type Fault } from './faults.ts';
import { judge } from './judge.ts';
import { PAIRED } from './pairs.ts';
import { WORKFLOW_BASES } from './workflow-scenarios.ts';
import { seeded } from './world.ts';

/** Runs of each test. Every kind of fault strikes at every nth call, each kind at others; SIM_FULL=1 strikes all. */
const [SINGLES, PAIRS] = process.env.SIM_FULL === undefined ? [200, 50] : [Number.POSITIVE_INFINITY, 500];

describe.each(Object.entries(WORKFLOW_BASES))('%s', (_name, base) => {
  it('comes to its result', async () => {
    const { sim, violations } = await judge({ seed: 1, ...base });
    expect(violations).toEqual([]);
    expect((await sim.execution()).result).toBe(base.expects?.result);
  });

  it('survives one fault of every kind', async () => {
    const { calls } = (await judge({ seed: 1, ...base })).sim.injector;
    expect(calls).toBeGreaterThan(50);
    const stride = Math.max(1, Math.ceil((calls * FAULTS.length) / SINGLES));
    const failed: string[] = [];
    for (const [kind, fault] of FAULTS.entries()) {
      for (let call = kind % stride; call < calls; call += stride) {
        const faultAt = (n: number): Fault | undefined => (n === call ? fault : undefined);
        const { sim, violations } = await judge({ seed: 1, ...base, clock: false, faultAt });
        const where = `${fault} at ${call} (${sim.injector.names[call]})`;
        if (violations.length > 0) failed.push(`${where}: ${violations.join('; ')}`);
      }
    }
    expect(failed.slice(0, 10)).toEqual([]);
  }, 120_000);

  it('survives two faults', async () => {
    const { calls } = (await judge({ seed: 1, ...base })).sim.injector;
    const random = seeded(calls);
    const below = (most: number): number => Math.floor(random() * most);
    const failed: string[] = [];
    for (let pair = 0; pair < PAIRS; pair++) {
      const first = below(calls);
      const second = first + 1 + below(Math.max(1, calls - first));
      const kinds = [PAIRED[below(PAIRED.length)], PAIRED[below(PAIRED.length)]] as const;
      const faultAt = (n: number): Fault | undefined => (n === first ? kinds[0] : n === second ? kinds[1] : undefined);
      const { violations } = await judge({ seed: 1, ...base, clock: false, faultAt });
      if (violations.length > 0)
        failed.push(`${kinds[0]} at ${first}, ${kinds[1]} at ${second}: ${violations.join('; ')}`);
    }
    expect(failed.slice(0, 10)).toEqual([]);
  }, 120_000);
});
