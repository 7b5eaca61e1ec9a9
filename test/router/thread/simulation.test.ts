import { describe, expect, it } from 'vitest';
import type { Fault } from '../../simulation/faults.ts';
import { seeded } from '../../simulation/world.ts';
import { violationsOf } from './simulation/judge.ts';
import { SCENARIOS, type Scenario } from './simulation/scenarios.ts';
import { type Plan, ThreadSim } from './simulation/sim.ts';

const play = async ({ plan }: Scenario, more: Partial<Plan> = {}): Promise<ThreadSim> =>
  new ThreadSim({ seed: 1, ...plan, ...more }).play();

const KINDS: readonly Fault[] = [
  'crash_before',
  'crash_after',
  'lost_response',
  'retried',
  'freeze_after',
  'duplicate',
  // A policy that is saved anew.
  'input',
];

/** A clock that jumps, and a message that somebody else was done with: of the scenarios in which a Thread is held longest. */
const HELD: readonly Fault[] = ['clock_far_ahead', 'clock_far_behind', 'terminate'];
const HELD_LONGEST = ['a listed person asks, and goes on talking', 'a stop beats what was asked before it'];

const PAIRED: readonly Fault[] = [...KINDS, 'slow', 'throttle'];

describe.each(Object.entries(SCENARIOS))('I2, I5, I6, I13, I21: %s', (name, scenario) => {
  it('goes as it should', async () => {
    expect(violationsOf(await play(scenario), { ...scenario.expected, ...scenario.smooth })).toEqual([]);
  });

  it.each(HELD_LONGEST.includes(name) ? [...KINDS, ...HELD] : KINDS)(
    'survives one %s at any port call',
    async (kind) => {
      const { injector } = await play(scenario);
      for (let call = 0; call < injector.calls; call++) {
        const sim = await play(scenario, { seed: call, faultAt: (at) => (at === call ? kind : undefined) });
        const found = violationsOf(sim, scenario.expected);
        expect(found, `${kind} at ${call} ${sim.injector.names[call]}`).toEqual([]);
      }
    },
    60_000,
  );

  it('survives two faults', async () => {
    const { injector } = await play(scenario);
    const random = seeded(7);
    for (let seed = 0; seed < 50; seed++) {
      const pick = (): readonly [number, Fault] => [
        Math.floor(random() * injector.calls),
        PAIRED[Math.floor(random() * PAIRED.length)] ?? 'slow',
      ];
      const plan = new Map([pick(), pick()]);
      const sim = await play(scenario, { seed, faultAt: (at) => plan.get(at) });
      expect(violationsOf(sim, scenario.expected), `seed ${seed} ${JSON.stringify([...plan])}`).toEqual([]);
    }
  }, 60_000);
});
