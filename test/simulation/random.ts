import { randomClocks } from './clocks.ts';
import { FAULTS, type Fault } from './faults.ts';
import type { Scenario } from './scenario.ts';
import type { Script } from './sim-model.ts';
import type { Sim } from './sim-run.ts';
import { seeded } from './world.ts';

/** Faults of a random run; ending it for good is drawn apart, else most runs would be short. */
const COMMON = FAULTS.filter((fault) => fault !== 'terminate');
const TOOLS = ['look', 'post', 'pay'] as const;

const pick = <T>(random: () => number, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;

const randomScript = (random: () => number): Script => {
  const steps = 3 + Math.floor(random() * 12);
  const script: (readonly (readonly [string, { readonly [key: string]: unknown }])[])[] = [];
  for (let step = 0; step < steps; step++) {
    const calls = Array.from({ length: 1 + Math.floor(random() * 3) }, () => [pick(random, TOOLS), {}] as const);
    const more = random();
    if (more < 0.08) script.push([...calls, ['ask_user', { question: 'Which?' }]]);
    else if (more < 0.14) script.push([...calls, ['wait', randomWait(random)]]);
    else script.push(calls);
  }
  return [...script, [['finish', { result: 'ok' }]]];
};

/** From a second to an hour: with and without `tick`. */
const randomWait = (random: () => number): { readonly [argument: string]: unknown } => ({
  seconds: Math.ceil(3_600 ** random()),
  ...(random() < 0.5 && { wakeOnInput: false }),
});

/** A longer run of several executions under random faults and people; the seed says everything. */
export const randomScenario = (seed: number): Scenario => {
  const random = seeded(seed ^ 0x5eed);
  const rate = random() < 0.2 ? 0.12 : 0.03 * random();
  const ends = random() < 0.1;
  const faults = seeded(seed * 7 + 1);
  return {
    seed,
    script: randomScript(random),
    executions: 1 + Math.floor(random() * 3),
    stepDelaySeconds: pick(random, [0, 0, 1, 2]),
    modelLatencyMs: pick(random, [0, 60, 2_000, 25_000, 70_000]),
    maxReceiveCount: pick(random, [20, 20, 3]),
    config: {
      ...(random() < 0.25 && { permissionType: 'RESTRICTED' }),
      ...(random() < 0.25 && { contextTokens: 250 }),
    },
    ...randomClocks(seed),
    faultAt: (): Fault | undefined => {
      if (faults() >= rate) return undefined;
      return ends && faults() < 0.05 ? 'terminate' : pick(faults, COMMON);
    },
    people: (sim: Sim) => {
      const act = (): void => {
        const what = sim.world.random();
        if (what < 0.2) void sim.input();
        else if (what < 0.3) void sim.pause();
        else if (what < 0.5) void Promise.all([sim.resume(), sim.resume()]);
        else if (what < 0.7) void Promise.all([sim.decide(true), sim.decide(false)]);
        if (sim.world.random() < 0.8) sim.world.after(sim.world.random() * 20_000, act);
      };
      if (random() < 0.6) sim.world.after(random() * 5_000, act);
    },
  };
};
