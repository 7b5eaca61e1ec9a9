/** A worker's run that ends its turns, and the guards around that: where their lack has to show. */
import type { Aim } from './aims.ts';
import type { Mutation } from './mutate.ts';
import { each } from './people-aims.ts';
import type { Scenario } from './scenario.ts';
import type { Sim } from './sim-run.ts';

type Base = Omit<Scenario, 'seed'>;

export const TURNS: Base = {
  ticket: true,
  script: [
    [['look', {}]],
    [
      ['pay', {}],
      ['hand_in', { what: 'first' }],
    ],
    [
      ['post', {}],
      ['hand_in', { what: 'second' }],
    ],
    [['finish', { result: 'ok' }]],
  ],
};

/** Somebody pauses a run between its turns, says something and lets it go on. */
export const PAUSED_BETWEEN_TURNS: Base = {
  ...TURNS,
  patienceMs: 5_000,
  people: each(
    /^WAITING_FOR_INPUT$/,
    async (sim: Sim) => {
      await sim.pause();
      await sim.input();
      await sim.resume();
    },
    500,
    1,
  ),
};

export const TURN_AIMS: { readonly [guard: string]: Aim } = {
  'the end of a turn conditions on the waking inputs of its reply': {
    base: { ...TURNS, clock: false },
    at: ['input', /^(put|model|tool)/],
  },
  'a message begins the next turn': { base: { ...TURNS, clock: false, expects: { pays: 1, status: 'COMPLETED' } } },
  'a message to a run that is paused between its turns is remembered': {
    base: { ...PAUSED_BETWEEN_TURNS, expects: { maxMs: 120_000 } },
  },
  'a turn that ends while somebody pauses is over all the same': {
    base: { ...TURNS, clock: false },
    at: ['pause', /^(put FEED|tool hand_in|transact)$/],
  },
};

export const TURN_MUTATIONS: readonly Mutation[] = [
  {
    guard: 'the end of a turn conditions on the waking inputs of its reply',
    file: 'lib/execution/step/turn-end.ts',
    find: ', eq(A.wakingInputs, waking))',
    put: ')',
  },
  {
    guard: 'a message begins the next turn',
    file: 'lib/execution/input.ts',
    find: '    beginsTurn(execution, input) ||\n',
    put: '',
  },
  {
    guard: 'a message to a run that is paused between its turns is remembered',
    file: 'lib/execution/input.ts',
    find: "  if (turn.length > 0) return [set(A.pausedFrom, 'RUNNING' satisfies Status), ...turn];\n",
    put: '  if (turn.length > 0) return turn;\n',
  },
  {
    guard: 'a turn that ends while somebody pauses is over all the same',
    file: 'lib/execution/step/turn-end.ts',
    find: "if (seen.status === 'PAUSED') await deps.table.update(key, remembers, guard);",
    put: "if (seen.status === 'PAUSED') await deps.table.update(key, common, guard);",
  },
];
