import { describe, expect, it } from 'vitest';
import { FAULTS, type Fault } from './faults.ts';
import { judge } from './judge.ts';
import {
  EXPIRES,
  EXPIRES_WHILE_DECIDED,
  PAUSED_WHILE_WAITING,
  PAUSES_ON_EXPIRY,
  TERMINATED_WHILE_WAITING,
} from './people-aims.ts';
import type { Base } from './scenarios.ts';
import { BASES } from './scenarios.ts';

const SCENARIOS: { readonly [name: string]: Base } = {
  'a permission that nobody decides in time': EXPIRES,
  'an expiry at the moment of two decisions': EXPIRES_WHILE_DECIDED,
  'an expiry that pauses, and a decision after it': PAUSES_ON_EXPIRY,
  'paused, resumed and decided while it waits for two permissions': PAUSED_WHILE_WAITING,
  'terminated and decided while it waits': TERMINATED_WHILE_WAITING,
};

/** Kinds that change what a step that parks, or one that a decision woke, finds when it goes on. */
const PAIRED: readonly Fault[] = ['crash_after', 'lost_response', 'lease_expiry', 'duplicate'];
/** Faults that are further apart meet a run that has healed; the random runs have those too. */
const NEAR = process.env.SIM_FULL === undefined ? 3 : 6;

describe.each(Object.entries(SCENARIOS))('%s', (_name, base) => {
  it.each(FAULTS)(
    'survives one %s at any port call',
    async (fault) => {
      const calls = (await judge({ seed: 1, ...base })).sim.injector.calls;
      expect(calls).toBeGreaterThan(15);
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

describe.each(['two permissions in one reply', 'an expiry at the moment of two decisions'])('%s', (name) => {
  const base = BASES[name] ?? SCENARIOS[name];
  it.each(PAIRED)(
    'survives %s and any other fault soon after it, at any port call',
    async (first) => {
      if (base === undefined) throw new Error('The scenario is missing.');
      const calls = (await judge({ seed: 1, ...base })).sim.injector.calls;
      const failed: string[] = [];
      for (const second of PAIRED) {
        for (let i = 0; i < calls; i++) {
          for (let j = i + 1; j <= i + NEAR; j++) {
            const faultAt = (n: number): Fault | undefined => (n === i ? first : n === j ? second : undefined);
            const { violations } = await judge({ seed: 1, ...base, clock: false, faultAt });
            if (violations.length > 0) failed.push(`${first} at ${i}, ${second} at ${j}: ${violations.join('; ')}`);
          }
        }
      }
      expect(failed.slice(0, 10)).toEqual([]);
    },
    240_000,
  );
});
