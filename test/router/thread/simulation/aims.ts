/** Plays aimed at one guard each: they must hold on the source, and fail on a copy of it without the guard. */

import type { Fault } from '../../../simulation/faults.ts';
import { POLICY, said } from '../../support/team.ts';
import { violationsOf } from './judge.ts';
import { byWords, SCENARIOS, type Scenario } from './scenarios.ts';
import { ThreadSim } from './sim.ts';

export interface Aim {
  readonly scenario: Scenario;
  /** Each of these strikes at each call; without them the play is played `seeds` times as it is. */
  readonly kinds?: readonly Fault[];
  readonly seeds?: number;
  readonly faultAt?: (call: number, name: string, seed: number) => Fault | undefined;
}

const named = (name: string): Scenario => {
  const scenario = SCENARIOS[name];
  if (scenario === undefined) throw new Error(`There is no scenario "${name}".`);
  return scenario;
};

const NEVER = 1e12;

/** The last thing that comes does so while the Eval lets go: in each play a little later. */
const atTheEnd: Scenario = {
  plan: {
    events: [
      [0, said('hm', { number: 1 })],
      [NEVER, said('and another', { number: 2 })],
    ],
    decide: byWords,
    people: (sim) => sim.world.after(3_000 + sim.plan.seed * 30, () => sim.inbox.send(1, 0)),
  },
  expected: { triggers: 2 },
};

/** Letting go takes long: the message of what is stored meanwhile meets the lease and dies. */
const lettingGo: Aim = {
  scenario: atTheEnd,
  seeds: 20,
  faultAt: (_, name) => (name === 'update THREAD let go' ? 'slow' : undefined),
};

const twice: Scenario = {
  plan: {
    events: [
      [0, said('hm', { number: 1 })],
      [8_000, said('@baton a question', { number: 2 })],
      [8_005, said('@baton a question', { number: 2 })],
    ],
    decide: byWords,
    modelMs: 10,
  },
  expected: { triggers: 2, answers: 1 },
};

const work: Scenario = {
  plan: { events: [[0, said('@baton work', { number: 1 })]], decide: byWords },
  expected: { triggers: 1, tickets: 1 },
};

/** A stop a moment after the request, while the model thinks about it. */
const stopping: Scenario = {
  plan: {
    events: [
      [0, said('@baton work', { number: 1 })],
      [1_000, said('@baton stop', { number: 2 })],
    ],
    decide: byWords,
  },
  expected: { triggers: 2, openTickets: 0 },
};

const policies: Scenario = {
  plan: {
    ...work.plan,
    people: (sim) => sim.world.after(1_500, () => void sim.policy({ ...POLICY, allow: [] })),
  },
  // What was explicit is inferred by the new one, and taken up by a rule.
  expected: { triggers: 1, tickets: 1 },
};

export const AIMS: { readonly [guard: string]: Aim } = {
  'a lease is let go only if dirty is what was seen': lettingGo,
  'what is stored raises dirty': lettingGo,
  'a commit stands on owner and epoch': { scenario: work, kinds: ['freeze_after', 'lease_expiry'] },
  'a commit stands on the policy': { scenario: policies, seeds: 3 },
  'a commit stands on the revision that was judged': { scenario: named('an edit while it is decided'), seeds: 3 },
  'a commit stands on the version of the subscriptions': { scenario: stopping, seeds: 3 },
  'a stop raises the version of the subscriptions': { scenario: stopping, seeds: 3 },
  'what happened before a stop is not taken up': { scenario: named('a stop beats what was asked before it'), seeds: 3 },
  'a stop comes before the tickets': { scenario: named('a stop beats what was asked before it'), seeds: 3 },
  'tickets come before the model': { scenario: named('two ask for work at once'), seeds: 3 },
  "the holder's own message waits for the end of its lease": {
    scenario: work,
    // A copy comes while the holder works, and then it dies.
    seeds: 30,
    faultAt: (call, name, seed) => {
      if (name === 'getMany' && call % 3 === seed % 3) return 'duplicate';
      return name === 'model' && seed % 2 === 0 && call < 40 ? 'crash_after' : undefined;
    },
  },
  'a copy of a message that is gone passes the Thread on': {
    scenario: work,
    seeds: 12,
    // Deleted while it is claimed; whoever claimed it dies before it has decided.
    faultAt: (call, name) => {
      if (name === 'update THREAD' && call < 8) return 'terminate';
      return name === 'transact decision' && call < 24 ? 'crash_before' : undefined;
    },
  },
  'a holder whose message goes away passes the Thread on': {
    scenario: { ...work, plan: { ...work.plan, modelMs: 25_000 } },
    seeds: 3,
    faultAt: (call, name) => (name === 'model' && call < 30 ? 'terminate' : undefined),
  },
  'nothing is bought under a lease that has ended': {
    scenario: { ...work, expected: { ...work.expected, mostCalls: 1 } },
    seeds: 40,
    faultAt: (call, name, seed) => (call === 5 + (seed % 12) && name !== 'model' ? 'freeze_after' : undefined),
  },
  'a repeat wakes again what is pending': { scenario: work, kinds: ['crash_before', 'lost_response'] },
  'one object is one Trigger': {
    scenario: twice,
    seeds: 40,
    // One of two is stored when the other has long been decided about.
    faultAt: (call, name, seed) => (name === 'transact' && (call + seed) % 3 === 0 ? 'slow' : undefined),
  },
  'a lost message is found by the mark': {
    scenario: { ...work, plan: { ...work.plan, sweep: true, loses: (sent) => sent === 1 } },
    seeds: 2,
  },
  'what was bought is used by the next holder': {
    scenario: { ...work, expected: { ...work.expected, mostCalls: 1 } },
    seeds: 2,
    faultAt: (call, name) => (name === 'transact decision' && call < 40 ? 'crash_before' : undefined),
  },
  'a deletion that comes first is remembered': {
    scenario: { ...named('what is deleted'), expected: { triggers: 2, tickets: 0 } },
    seeds: 3,
  },
};

/** The first thing that does not hold, `undefined` when all does. */
export const firstViolation = async ({ scenario, kinds, seeds = 1, faultAt }: Aim): Promise<string | undefined> => {
  const play = (seed: number, fault?: (call: number, name: string) => Fault | undefined) =>
    new ThreadSim({ ...scenario.plan, seed, ...(fault !== undefined && { faultAt: fault }) }).play();
  const judged = (sim: ThreadSim, when: string): string | undefined => {
    const [found] = violationsOf(sim, { ...scenario.expected, ...(faultAt === undefined ? scenario.smooth : {}) });
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
      const sim = await play(call, (at) => (at === call ? kind : undefined));
      const [found] = violationsOf(sim, scenario.expected);
      if (found !== undefined) return `${kind} at ${call} ${sim.injector.names[call]}: ${found}`;
    }
  }
  return undefined;
};
