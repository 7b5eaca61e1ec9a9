/** Plays aimed at one guard each: they must hold on the source, and fail on a copy of it without the guard. */
import type { Fault } from '../../simulation/faults.ts';
import { violationsOf } from './judge.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';
import { MINUTE, ScheduleSim } from './sim.ts';

export interface Aim {
  readonly scenario: Scenario;
  /** Each of these strikes at each call; without them the play is played `seeds` times as it is. */
  readonly kinds?: readonly Fault[];
  /** Strikes at the call after that. */
  readonly then?: Fault;
  readonly seeds?: number;
  readonly faultAt?: (call: number, name: string, seed: number) => Fault | undefined;
}

const named = (name: keyof typeof SCENARIOS): Scenario => {
  const scenario = SCENARIOS[name];
  if (scenario === undefined) throw new Error(`There is no scenario "${name}".`);
  return scenario;
};

const setBack: Scenario = {
  plan: {
    schedule: {},
    firstAfterMs: 20_000,
    runMs: 5_000,
    lastsMs: 10 * MINUTE,
    people: (sim) => {
      sim.world.after(30_000, () => void sim.patch({ startAt: sim.startAt + 20 * MINUTE }));
      sim.world.after(40_000, () => void sim.patch({ startAt: sim.startAt }));
    },
  },
  expected: { count: 1, runs: [0] },
};

const paused: Scenario = {
  plan: {
    schedule: { every: 'PT5M' },
    firstAfterMs: 20_000,
    runMs: 5_000,
    lastsMs: 10 * MINUTE,
    people: (sim) => sim.world.after(15_000, () => void sim.pause()),
  },
  expected: { count: 0, state: 'PAUSED' },
};

/** Down from the fourth minute to the thirtieth: what was due after 5 to 25 minutes is missed. */
const outage = (misfire: 'fire-once' | 'skip', maxRuns: number): Scenario['plan'] => ({
  schedule: { every: 'PT5M', maxRuns, overlap: 'allow', misfire },
  firstAfterMs: 10_000,
  runMs: 5_000,
  outage: [4 * MINUTE, 28 * MINUTE],
  lastsMs: 60 * MINUTE,
});

const expiring: Scenario = {
  plan: {
    schedule: { every: 'PT5M', overlap: 'allow' },
    firstAfterMs: 10_000,
    runMs: 5_000,
    lastsMs: 40 * MINUTE,
    people: (sim) => sim.world.after(MINUTE, () => void sim.patch({ expiresAt: sim.startAt + 10 * MINUTE })),
  },
  expected: { count: 2, runs: [0, 5 * MINUTE] },
};

/** The run ends between the look at it and the note that the next one is queued behind it. */
const endingAtOnce: Aim = {
  scenario: {
    plan: {
      ...named('a run ends as the next is due').plan,
      schedule: { every: 'PT5M', maxRuns: 2, overlap: 'queue' },
      runMs: 5 * MINUTE,
      runJitterMs: 1_500,
    },
    expected: { count: 2, runs: [0, 5 * MINUTE], lateMs: 150_000, alone: true },
  },
  seeds: 40,
  faultAt: (_, name) => (name === 'put SCHEDULE' ? 'slow' : undefined),
};

export const AIMS: { readonly [guard: string]: Aim } = {
  'the run and the row stand on the version that was read': {
    scenario: named('every five minutes, overlaps allowed'),
    // A patch lands between the reading and the transaction.
    kinds: ['input'],
    then: 'slow',
  },
  'what passes stands on the version that was read': endingAtOnce,
  'the end of a run raises the version': {
    ...endingAtOnce,
    // Its wake-up is lost besides: only the tick is left, which must find that something is queued.
    faultAt: (call, name, seed) =>
      name === 'put SCHEDULE' ? 'slow' : name === 'send fire' && (call + seed) % 2 === 0 ? 'crash_before' : undefined,
  },
  'the end of a run sets the mark': {
    scenario: {
      plan: {
        schedule: { every: 'PT15M', maxRuns: 2, overlap: 'queue' },
        firstAfterMs: 30_000,
        runMs: 17 * MINUTE,
        lastsMs: 50 * MINUTE,
      },
      // The first ends after 17 minutes; a tick comes within one.
      expected: { count: 2, runs: [0, 15 * MINUTE], lateMs: 200_000, alone: true },
    },
    kinds: ['crash_before', 'throttle'],
  },
  'the id of a run comes from its due time': { scenario: setBack, seeds: 3 },
  'what has run in an earlier life is passed over': { scenario: setBack, seeds: 3 },
  'a lost message is found by the mark': { scenario: named('once, soon'), kinds: ['crash_before', 'lost_response'] },
  'the tick leaves a mark behind the due time': { scenario: named('once, far'), kinds: ['crash_before'] },
  'only who has written the next occurrence sends it': {
    // Of each occurrence a message, of each end one, and some of the tick.
    scenario: { ...named('every minute'), expected: { count: 4, sends: 15 } },
    seeds: 8,
    faultAt: (call, name, seed) => (name === 'get SCHEDULE' && (call + seed) % 4 === 0 ? 'duplicate' : undefined),
  },
  'a paused schedule rests': {
    scenario: paused,
    seeds: 10,
    // The message that was sent before the pause comes late.
    faultAt: (_, name) => (name === 'get SCHEDULE' ? 'slow' : undefined),
  },
  'a run that waits for a mend does not count as running': {
    scenario: named('a run that waits for a mend is not in the way'),
    seeds: 2,
  },
  'the queued one waits for the end of the run': { scenario: named('one is queued behind a long run'), seeds: 2 },
  'maxRuns ends it': { scenario: named('every five minutes, overlaps allowed'), seeds: 2 },
  'expiresAt ends it': { scenario: expiring, seeds: 2 },
  'one late run for all that was missed': {
    scenario: {
      plan: outage('fire-once', 3),
      expected: { count: 3, runs: [0, 25 * MINUTE, 30 * MINUTE], lateMs: 4 * MINUTE },
    },
    kinds: ['crash_before', 'duplicate'],
  },
  'skip starts nothing late': {
    scenario: { plan: outage('skip', 2), expected: { count: 2, runs: [0, 30 * MINUTE] } },
    kinds: ['crash_before', 'duplicate'],
  },
};

/** The first thing that does not hold, `undefined` when all does. */
export const firstViolation = async ({
  scenario,
  kinds,
  then,
  seeds = 1,
  faultAt,
}: Aim): Promise<string | undefined> => {
  const play = (seed: number, fault?: (call: number, name: string) => Fault | undefined) =>
    new ScheduleSim({ ...scenario.plan, seed, ...(fault !== undefined && { faultAt: fault }) }).play();
  const judged = (sim: ScheduleSim, when: string): string | undefined => {
    const [found] = violationsOf(sim, scenario.expected);
    return found && `${when}: ${found}`;
  };
  for (let seed = 1; seed <= (kinds === undefined ? seeds : 1); seed++) {
    const sim = await play(seed, faultAt && ((call, name) => faultAt(call, name, seed)));
    const found = judged(sim, `seed ${seed}`);
    if (found !== undefined) return found;
  }
  const calls = kinds === undefined ? 0 : (await play(1)).injector.calls;
  for (const kind of kinds ?? []) {
    for (let call = 0; call < calls; call++) {
      const sim = await play(call, (at) => (at === call ? kind : at === call + 1 ? then : undefined));
      const found = judged(sim, `${kind} at ${call} ${sim.injector.names[call]}`);
      if (found !== undefined) return found;
    }
  }
  return undefined;
};
