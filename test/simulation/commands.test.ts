import { expect, it } from 'vitest';
import type { Fault } from './faults.ts';
import { judge } from './judge.ts';
import { BASES, type Base } from './scenarios.ts';
import type { Sim } from './sim-run.ts';

const base = (name: string): Base => {
  const found = BASES[name];
  if (found === undefined) throw new Error(`There is no scenario "${name}".`);
  return found;
};

/** Acts in the second step, one act after the other. */
const acts =
  (...all: readonly ((sim: Sim) => Promise<unknown>)[]) =>
  (sim: Sim): void => {
    for (const [index, act] of all.entries()) sim.world.after(2_080 + index * 700, () => void act(sim));
  };

/** With `sweep`: what an API leaves undone that dies between its row and its send is the sweep's to find. */
const COMMANDS: { readonly [name: string]: Base } = {
  'an answer to a question': base('a question'),
  'two decisions at once and one that is late': base('two permissions in one reply'),
  'pause and two resumes at once': {
    ...base('calls of each effect'),
    people: acts(
      (sim) => sim.pause(),
      (sim) => Promise.all([sim.resume(), sim.resume()]),
    ),
  },
  'an input': { ...base('calls of each effect'), people: acts((sim) => sim.input()) },
  'terminate twice': {
    ...base('calls of each effect'),
    people: acts(
      (sim) => sim.terminate(),
      (sim) => sim.terminate(),
    ),
  },
};

const STRUCK: readonly Fault[] = [
  'crash_before',
  'crash_after',
  'lost_response',
  'retried',
  'throttle',
  'freeze_after',
  'clock_far_ahead',
  'clock_far_behind',
];

it.each(Object.entries(COMMANDS))(
  '%s, with a fault at any port call of the command',
  async (_name, scenario) => {
    const { sim, violations } = await judge({ seed: 1, ...scenario });
    expect(violations).toEqual([]);
    const failed: string[] = [];
    let runs = 0;
    for (const [call, name] of sim.outside.names.entries()) {
      if (name === 'query due') continue;
      for (const fault of STRUCK) {
        const struck = await judge({ seed: 1, ...scenario, outsideFaultAt: (n) => (n === call ? fault : undefined) });
        runs++;
        if (struck.violations.length > 0) failed.push(`${fault} at ${call} (${name}): ${struck.violations.join('; ')}`);
      }
    }
    expect(runs).toBeGreaterThan(4 * STRUCK.length);
    expect(failed).toEqual([]);
  },
  120_000,
);
