import { describe, expect, it } from 'vitest';
import { FAULTS, type Fault } from './faults.ts';
import { judge } from './judge.ts';
import type { Base } from './scenarios.ts';
import { PAUSED_BETWEEN_TURNS, TURNS } from './turn-aims.ts';

const SCENARIOS: { readonly [name: string]: Base } = {
  "a worker's turns": TURNS,
  "a worker's turns without a pause between steps": { ...TURNS, stepDelaySeconds: 0 },
  'paused between two turns': PAUSED_BETWEEN_TURNS,
};

describe.each(Object.entries(SCENARIOS))('%s', (_name, base) => {
  it('stands between its turns and goes on with each message', async () => {
    const { sim, violations } = await judge({ seed: 1, ...base });
    expect(violations).toEqual([]);
    expect(sim.effects.map(({ tool }) => tool).sort()).toEqual(['hand_in', 'hand_in', 'look', 'pay', 'post']);
    const stood = sim.observed.observations.filter(({ from, to }) => to.pd === 'over' && from?.sq !== to.sq);
    expect(stood).toHaveLength(2);
    expect(stood[0]?.to).toMatchObject({ st: 'WAITING_FOR_INPUT', rs: 'turn_over', sq: 3 });
    expect(stood[0]?.to.duePk).toBeUndefined();
  });

  it.each(FAULTS)(
    'survives one %s at any port call',
    async (fault) => {
      const calls = (await judge({ seed: 1, ...base })).sim.injector.calls;
      expect(calls).toBeGreaterThan(20);
      const failed: string[] = [];
      for (let call = 0; call < calls; call++) {
        const faultAt = (n: number): Fault | undefined => (n === call ? fault : undefined);
        const { sim, violations } = await judge({ seed: 1, ...base, clock: false, faultAt });
        if (violations.length > 0) failed.push(`call ${call} (${sim.injector.names[call]}): ${violations.join('; ')}`);
      }
      expect(failed).toEqual([]);
    },
    60_000,
  );
});

it('without a ticket the same call ends nothing', async () => {
  const { sim, violations } = await judge({ seed: 1, ...TURNS, ticket: false });
  expect(violations).toEqual([]);
  expect(sim.observed.observations.some(({ to }) => to.st === 'WAITING_FOR_INPUT')).toBe(false);
});
