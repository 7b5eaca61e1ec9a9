import type { Fault } from './faults.ts';
import { judge } from './judge.ts';
import { BASES } from './scenarios.ts';

/** Kinds that change what the protocol sees; the others (slow, throttle, …) pair in the random runs. */
export const PAIRED: readonly Fault[] = [
  'crash_after',
  'lost_response',
  'retried',
  'lease_expiry',
  'duplicate',
  'resume_twice',
  'input',
  'terminate',
];

/** A disturbed run makes a few calls more than the clean one. */
const MORE_CALLS = 8;

/**
 * Every pair of faults at every pair of port calls, without a clock; `first` is the earlier fault of the pair. Where the run
 * is over before the second could strike, it is the run with the first alone: that one is judged once for all of them.
 * @returns in `struck` the names of the calls that the second fault met
 */
export const judgePairs = async (
  first: Fault,
  seconds: readonly Fault[] = PAIRED,
  name = 'calls of each effect',
): Promise<{ readonly runs: number; readonly failed: readonly string[]; readonly struck: ReadonlySet<string> }> => {
  const base = BASES[name];
  if (base === undefined) throw new Error('The scenario is missing.');
  const calls = (await judge({ seed: 1, ...base })).sim.injector.calls;
  const failed: string[] = [];
  const struck = new Set<string>();
  let runs = 0;
  for (let i = 0; i < calls; i++) {
    const alone = await judge({ seed: 1, ...base, clock: false, faultAt: (n) => (n === i ? first : undefined) });
    runs++;
    if (alone.violations.length > 0) failed.push(`${first} at ${i} alone: ${alone.violations.join('; ')}`);
    const end = Math.min(calls + MORE_CALLS, alone.sim.injector.calls);
    for (const second of seconds) {
      for (let j = i + 1; j < end; j++) {
        const faultAt = (n: number): Fault | undefined => (n === i ? first : n === j ? second : undefined);
        const { sim, violations } = await judge({ seed: 1, ...base, clock: false, faultAt });
        runs++;
        for (const strike of sim.injector.struck) if (strike.fault === second) struck.add(strike.name);
        if (violations.length > 0) failed.push(`${first} at ${i}, ${second} at ${j}: ${violations.join('; ')}`);
      }
    }
  }
  return { runs, failed, struck };
};
