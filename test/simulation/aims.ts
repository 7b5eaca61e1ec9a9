/** Where to look for the lack of a guard: the counterexamples of the step protocol as scenarios, most of them a family over seeds. */

import { BOOK_AIMS } from './book-aims.ts';
import { CHILD_AIMS } from './child-aims.ts';
import { type Fault, SKEW_MS } from './faults.ts';
import { PEOPLE_AIMS } from './people-aims.ts';
import type { Scenario } from './scenario.ts';
import { BASES } from './scenarios.ts';
import { BUSY, type Script } from './sim-model.ts';
import type { Sim } from './sim-run.ts';
import { WAIT_AIMS } from './wait-aims.ts';
import { WORKFLOW_AIMS } from './workflow-aims.ts';

type Base = Omit<Scenario, 'seed'>;

export interface Aim {
  readonly base: Base;
  /** Strikes at calls of these names, one at a time in every run; the second pair strikes once after it. */
  readonly at?: readonly [Fault, RegExp];
  readonly then?: readonly [Fault, RegExp];
  readonly seeds?: number;
}

const base = (name: string): Base => {
  const found = BASES[name];
  if (found === undefined) throw new Error(`There is no scenario "${name}".`);
  return { ...found, clock: false };
};

const EFFECTS = base('calls of each effect');
const NOW = base('without a pause between steps');
const BUSY_TWICE = base('a model that is busy twice');
const QUESTION = base('a question');
const PERMISSION = base('two permissions in one reply');
const LOOKS = (steps: number): Script => [
  ...Array.from({ length: steps }, () => [['look', {}] as const]),
  [['finish', { result: 'ok' }] as const],
];

/** Somebody looks every half second and acts as soon as the run waits. */
const whenWaiting =
  (act: (sim: Sim) => Promise<unknown>) =>
  (sim: Sim): void => {
    const look = (): void => {
      const waits = [...sim.observed.executions.values()].some((row) => String(row.st).startsWith('WAITING_'));
      if (waits) void act(sim);
      else sim.world.after(500, look);
    };
    sim.world.after(500, look);
  };

const after =
  (ms: number, act: (sim: Sim) => Promise<unknown>) =>
  (sim: Sim): void => {
    sim.world.after(ms, () => void act(sim));
  };

const sleepThen = (sim: Sim, ms: number): Promise<void> => sim.world.sleep(ms);

/** By the number of the counterexample or the name of the guard, as in `MUTATIONS`. */
export const AIMS: { readonly [guard: string]: Aim } = {
  '1 a later claim reads the reply strongly': { base: QUESTION, seeds: 60 },
  '1 the load is checked for missing rows': { base: { ...NOW, script: LOOKS(12) }, seeds: 20 },
  '2 only a holder with lease left says "unknown"': {
    base: EFFECTS,
    at: ['lease_expiry', /^put STARTED$/],
    seeds: 400,
  },
  'who says "unknown" asks the table, not its own clock': {
    base: {
      ...EFFECTS,
      // Started by the start, step 1 and step 2; whoever takes step 2 over has a clock that is ahead of its holder's.
      skewOf: (process) => (process < 3 ? 0 : 2 * SKEW_MS),
      freezeMs: [25_900, 27_900],
      people: (sim) => {
        for (let ms = 27_500; ms < 31_000; ms += 250) sim.world.after(ms, () => sim.queue.duplicate('step-1'));
      },
    },
    at: ['lease_expiry', /^put STARTED$/],
    then: ['slow', /^tool pay$/],
    seeds: 20,
  },
  'a message before its time by another clock stays in the queue': {
    base: BUSY_TWICE,
    at: ['clock_ahead', /^(model|update EXEC claim)$/],
  },
  '3 a started row that shows my own name is mine': {
    base: { ...EFFECTS, expects: { pays: 1 } },
    at: ['retried', /^put STARTED$/],
  },
  '4 a commit needs RUNNING or PAUSED': { base: EFFECTS, at: ['terminate', /^(put FEED|model)$/], seeds: 5 },
  '4 terminate clears the lease': {
    base: { ...EFFECTS, modelLatencyMs: 120_000 },
    at: ['terminate', /^(put|update|get)/],
  },
  '5 a commit consumes what its prompt contained, not what was loaded': {
    base: { ...EFFECTS, modelLatencyMs: 60 },
    at: ['input', /^(put|query|get|model)/],
    then: ['crash_after', /^put FEED$/],
    seeds: 3,
  },
  '5 the end of a run conditions on the waking inputs of its reply': { base: EFFECTS, at: ['input', /^(put|model)/] },
  '6 parking for input conditions on the inputs counter': {
    base: QUESTION,
    at: ['input', /^(put FEED|model|tool look)$/],
    seeds: 5,
  },
  '7 a decision for a paused execution moves pausedFrom': {
    base: {
      ...PERMISSION,
      patienceMs: 5_000,
      people: whenWaiting(async (sim) => {
        await sim.pause();
        await sim.decide(true);
        await sim.resume();
      }),
    },
  },
  '7 an input for a paused execution moves pausedFrom': {
    base: {
      ...QUESTION,
      patienceMs: 5_000,
      people: whenWaiting(async (sim) => {
        await sim.pause();
        await sim.input();
        await sim.resume();
      }),
      expects: { maxMs: 600_000 },
    },
  },
  '8 every move into RUNNING sets the mark': {
    base: {
      ...EFFECTS,
      clock: true,
      patienceMs: 4 * 3_600_000,
      people: after(300, async (sim) => {
        await sim.pause();
        await sleepThen(sim, 3 * 3_600_000);
        await sim.resume();
      }),
    },
  },
  '9 other claims of a seq are booked at their worst case': { base: EFFECTS, at: ['crash_after', /^model$/] },
  '9 a billed time-out books the worst case': { base: EFFECTS, at: ['lost_response', /^model$/] },
  '9 terminate books what is reserved': { base: EFFECTS, at: ['terminate', /^put FEED$/] },
  '10 a refused claim that shows my own name is a success': {
    base: { ...EFFECTS, expects: { oneClaim: true } },
    at: ['retried', /claim$/],
  },
  '11 waiting wears no attempts out': { base: { ...EFFECTS, troubles: Array.from({ length: 8 }, () => BUSY) } },
  '12 only the released message stands in for a lost send': {
    // One send starts it, six go on, seven come back after "too many requests", one is the sweep's.
    base: { ...EFFECTS, script: LOOKS(6), busyOnce: true, expects: { maxSends: 15 } },
    at: ['sweep', /^(update EXEC|send)$/],
  },
  '13 a message ahead of the row waits': {
    base: { ...EFFECTS, stepDelaySeconds: 1 },
    at: ['slow', /commit$/],
    seeds: 20,
  },
  '14 a refused commit is an error': {
    base: { ...EFFECTS, stepDelaySeconds: 0 },
    at: ['retried', /commit$/],
    then: ['crash_before', /^send$/],
    seeds: 3,
  },
  "15 the holder's own message waits for the end of its lease": {
    base: EFFECTS,
    at: ['duplicate', /^(put|model)/],
    then: ['crash_after', /^(put FEED|model)$/],
    seeds: 5,
  },
  '16 a lease that has ended is not revived, nor committed under': {
    base: {
      ...EFFECTS,
      modelLatencyMs: 120_000,
      // The beats of 10, 20 and 30 s fail, so that the lease ends; nobody claims it, for the execution is paused.
      faultAt: (call, name) => (name === 'update EXEC' && call < 9 ? 'throttle' : undefined),
      people: after(15_000, (sim) => sim.pause()),
      patienceMs: 60_000,
      expects: { noRevival: true },
    },
  },
  '17 a refused fuse is judged again': {
    base: {
      ...EFFECTS,
      config: { maxIterations: 1 },
      expects: { status: 'ITERATION_LIMIT_EXCEEDED' },
    },
    at: ['lease_expiry', /^(update EXEC|transact)$/],
    then: ['crash_after', /^(get|query|update EXEC claim)/],
    seeds: 20,
  },
  '18 the re-send is bound to the message that the commit recorded': {
    base: { ...EFFECTS, script: LOOKS(15), expects: { maxSends: 24 } },
    at: ['sweep', /(commit|put FEED)$/],
    seeds: 3,
  },
  'lease check': {
    base: { ...EFFECTS, modelLatencyMs: 5_000, expects: { maxPurchases: 3 } },
    at: ['sweep', /^(put|model)/],
  },
  'owner fence at commit': { base: EFFECTS, at: ['lease_expiry', /commit$/], seeds: 80 },
  'put if absent of the reply': { base: EFFECTS, at: ['lease_expiry', /^put FEED$/], seeds: 10 },
  'started row before an unsafe call': { base: EFFECTS, at: ['crash_after', /^tool pay$/] },
  'lease left after it was lengthened': {
    base: { ...EFFECTS, modelLatencyMs: 9_500, freezeMs: [50_000, 70_000] },
    at: ['freeze_after', /^visibility$/],
    seeds: 10,
  },
  'lease left before an unsafe call': { base: EFFECTS, at: ['freeze_after', /^put STARTED$/], seeds: 60 },
  'put if absent of an outcome': { base: EFFECTS, at: ['freeze_after', /^tool pay$/], seeds: 20 },
  're-send of seq+1 after a commit that died before its send': { base: NOW, at: ['crash_before', /^send$/] },
  're-send after a release that died before its send': {
    base: { ...BUSY_TWICE, troubles: [{ ...BUSY, retryAfterMs: 120_000 }] },
    at: ['crash_before', /^send$/],
  },
  'attempts fuse': {
    base: {
      ...EFFECTS,
      faultAt: (_, name) => (name === 'put FEED' ? 'throttle' : undefined),
      expects: { status: 'ERROR_PAUSED', maxPurchases: 6 },
    },
  },
  'notBefore holds the next claim': { base: BUSY_TWICE, at: ['sweep', /^(update EXEC|send)$/], seeds: 10 },
  'conditional mark of the sweep': {
    base: {
      ...EFFECTS,
      people: after(700_000, (sim) => Promise.all([sim.sweep(), sim.sweep(), sim.sweep()])),
      expects: { maxSends: 5 },
    },
    at: ['crash_before', /claim$/],
  },
  'conditional decision': {
    base: {
      ...PERMISSION,
      patienceMs: 3_000,
      people: whenWaiting((sim) => Promise.all([sim.decide(true), sim.decide(false), sim.decide(true)])),
    },
    seeds: 20,
  },
  'the visibility of the holder is shortened to the lease': {
    base: { ...EFFECTS, expects: { maxMs: 120_000 } },
    at: ['crash_after', /^model$/],
  },
  'resume conditions on the state it saw': {
    base: {
      ...EFFECTS,
      people: after(1_000, async (sim) => {
        await sim.pause();
        await Promise.all([sim.resume(), sim.terminate(), sim.resume()]);
      }),
    },
    seeds: 30,
  },
  ...PEOPLE_AIMS,
  ...BOOK_AIMS,
  ...WAIT_AIMS,
  ...CHILD_AIMS,
  ...WORKFLOW_AIMS,
};
