import { describe, expect, it } from 'vitest';
import type { Fault } from '../simulation/faults.ts';
import { seeded } from '../simulation/world.ts';
import { violationsOf } from './simulation/judge.ts';
import { SCENARIOS, type Scenario } from './simulation/scenarios.ts';
import { MINUTE, type Plan, ScheduleSim } from './simulation/sim.ts';

const play = async ({ plan }: Scenario, more: Partial<Plan> = {}): Promise<ScheduleSim> =>
  new ScheduleSim({ seed: 1, ...plan, ...more }).play();

const KINDS: readonly Fault[] = [
  'crash_before',
  'crash_after',
  'lost_response',
  'retried',
  'throttle',
  'slow',
  'duplicate',
  // Two ticks at once, a patch, a pause of ten seconds.
  'sweep',
  'input',
  'pause_and_resume',
];

describe.each(Object.entries(SCENARIOS))('%s', (_name, scenario) => {
  it('goes as it should, to the second', async () => {
    const sim = await play(scenario);
    const waits = scenario.plan.schedule.overlap === 'queue';
    expect(violationsOf(sim, { ...scenario.expected, ...(waits ? {} : { lateMs: 500 }) })).toEqual([]);
  });

  it.each(KINDS)('survives one %s at any port call', async (kind) => {
    const { injector } = await play(scenario);
    for (let call = 0; call < injector.calls; call++) {
      const sim = await play(scenario, { seed: call, faultAt: (at) => (at === call ? kind : undefined) });
      const found = violationsOf(sim, scenario.expected);
      expect(found, `${kind} at ${call} ${sim.injector.names[call]}`).toEqual([]);
    }
  });

  it('survives two faults', async () => {
    const { injector } = await play(scenario);
    const random = seeded(7);
    for (let seed = 0; seed < 400; seed++) {
      const pick = (): readonly [number, Fault] => [
        Math.floor(random() * injector.calls),
        KINDS[Math.floor(random() * KINDS.length)] ?? 'slow',
      ];
      const plan = new Map([pick(), pick()]);
      const sim = await play(scenario, { seed, faultAt: (at) => plan.get(at) });
      const expected = { ...scenario.expected, lateMs: (scenario.expected.lateMs ?? 0) + 4 * MINUTE };
      expect(violationsOf(sim, expected), `seed ${seed} ${JSON.stringify([...plan])}`).toEqual([]);
    }
  }, 60_000);
});
