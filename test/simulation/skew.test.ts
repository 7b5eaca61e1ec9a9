import { describe, expect, it } from 'vitest';
import { CLOCKS, randomClocks } from './clocks.ts';
import { FAR_SKEW_MS, type Fault, Process } from './faults.ts';
import { judge } from './judge.ts';
import { judgePairs } from './pairs.ts';
import { BASES } from './scenarios.ts';

/** Kinds after which somebody with another clock judges the row. */
const HANDED_OVER: readonly Fault[] = ['crash_after', 'freeze_after', 'duplicate'];

/** The same runs as under right clocks, each process with a clock that differs from the last one's. */
describe.each(Object.entries(CLOCKS))('clocks %s', (_clocks, skewOf) => {
  it.each(Object.entries(BASES))(
    '%s survives one fault at any port call',
    async (_name, base) => {
      const clean = await judge({ seed: 1, ...base, clock: false, skewOf });
      expect(clean.violations).toEqual([]);
      const failed: string[] = [];
      for (const fault of HANDED_OVER) {
        for (let call = 0; call < clean.sim.injector.calls; call++) {
          const faultAt = (n: number): Fault | undefined => (n === call ? fault : undefined);
          const { sim, violations } = await judge({ seed: 1, ...base, clock: false, skewOf, faultAt });
          const name = sim.injector.names[call];
          if (violations.length > 0) failed.push(`${fault} at ${call} (${name}): ${violations.join('; ')}`);
        }
      }
      expect(failed).toEqual([]);
    },
    120_000,
  );
});

/** A clock that jumps in the middle of a step, with a change of the holder before or after it. */
it.each(['clock_far_ahead', 'clock_far_behind'] as const)(
  'survives %s before and after a change of hands',
  async (jump) => {
    const before = await judgePairs(jump, ['crash_after', 'lease_expiry']);
    const crash = await judgePairs('crash_after', [jump]);
    expect([...before.failed, ...crash.failed].slice(0, 10)).toEqual([]);
  },
  120_000,
);

it('clocks of a random run differ by what is promised and no more, wherever they jump', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const { skewOf, clockRange } = randomClocks(seed);
    const clocks = Array.from({ length: 20 }, (_, process) => new Process('m', skewOf(process), clockRange));
    for (const clock of clocks) for (const ms of [-FAR_SKEW_MS, FAR_SKEW_MS, FAR_SKEW_MS]) clock.jump(ms);
    for (const clock of clocks.slice(10)) clock.jump(-2 * FAR_SKEW_MS);
    const skews = clocks.map(({ skewMs }) => skewMs);
    expect(Math.max(...skews) - Math.min(...skews)).toBe(20_000);
  }
});
