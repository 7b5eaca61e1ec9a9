import { expect, it } from 'vitest';
import { DEAD_LETTER, DISRUPTIVE, type Fault } from './faults.ts';
import { judge } from './judge.ts';
import type { Scenario } from './scenario.ts';
import { BASES } from './scenarios.ts';

const base = BASES['a queue that gives up at once'];
if (base === undefined) throw new Error('The scenario is missing.');
const scenario: Scenario = { seed: 1, ...base, clock: false };

const STRUCK: readonly Fault[] = [
  ...DISRUPTIVE,
  'retried',
  'resume_twice',
  'input',
  'terminate',
  'clock_far_ahead',
  'clock_far_behind',
];

/** Strikes each call of the dead-letter consumer in a run. */
const strikeConsumer = async (
  disturbed: Scenario & Required<Pick<Scenario, 'faultAt'>>,
): Promise<{ readonly runs: number; readonly failed: readonly string[] }> => {
  const { sim } = await judge(disturbed);
  const failed: string[] = [];
  let runs = 0;
  for (const [call, name] of sim.injector.names.entries()) {
    if (!name.startsWith(DEAD_LETTER)) continue;
    for (const fault of STRUCK) {
      const faultAt = (n: number, at: string) => (n === call ? fault : disturbed.faultAt(n, at));
      const { violations } = await judge({ ...disturbed, faultAt });
      runs++;
      if (violations.length > 0) failed.push(`${fault} at ${call} (${name}): ${violations.join('; ')}`);
    }
  }
  return { runs, failed };
};

it.each(['crash_after', 'lease_expiry'] as const)(
  'a message that came back once after %s, and any fault of the consumer that judges it',
  async (first) => {
    const { calls } = (await judge(scenario)).sim.injector;
    const failed: string[] = [];
    let runs = 0;
    for (let call = 0; call < calls; call++) {
      const faultAt = (n: number): Fault | undefined => (n === call ? first : undefined);
      const result = await strikeConsumer({ ...scenario, faultAt });
      runs += result.runs;
      failed.push(...result.failed.map((text) => `${first} at ${call}, ${text}`));
    }
    expect(runs).toBeGreaterThan(calls * STRUCK.length);
    expect(failed).toEqual([]);
  },
  120_000,
);

it('a step without attempts left, and any fault of the consumer that writes its reason', async () => {
  const { runs, failed } = await strikeConsumer({
    ...scenario,
    faultAt: (_, name) => (name === 'put FEED' ? 'throttle' : undefined),
    expects: { status: 'ERROR_PAUSED' },
  });
  expect(runs).toBeGreaterThan(5 * STRUCK.length);
  expect(failed).toEqual([]);
}, 120_000);
