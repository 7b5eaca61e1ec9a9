/** The guards of waits: where their lack has to show. */
import type { Aim } from './aims.ts';
import type { Scenario } from './scenario.ts';
import type { Sim } from './sim-run.ts';

const WAITS: Omit<Scenario, 'seed'> = {
  clock: false,
  script: [[['wait', { seconds: 30 }]], [['pay', {}]], [['finish', { result: 'ok' }]]],
};

/** As soon as the run waits. */
const onceItWaits =
  (act: (sim: Sim) => Promise<unknown>) =>
  (sim: Sim): void => {
    const look = (): void => {
      const waits = [...sim.observed.executions.values()].some((row) => row.st === 'WAIT_STEP');
      if (waits) void act(sim);
      else sim.world.after(500, look);
    };
    sim.world.after(500, look);
  };

export const WAIT_AIMS: { readonly [guard: string]: Aim } = {
  'a wait ends at its time and not before': { base: WAITS, at: ['duplicate', /^(transact|send)$/], seeds: 20 },
  're-send after a wait that died before its send': {
    base: { ...WAITS, script: [[['wait', { seconds: 300 }]], [['finish', { result: 'ok' }]]] },
    at: ['crash_before', /^send$/],
  },
  'who ends a wait sends its step on': { base: { ...WAITS, aside: 3 } },
  'a wait has its mark in the transaction that begins it': {
    base: { ...WAITS, script: [[['wait', { seconds: 7_200 }]], [['finish', { result: 'ok' }]]] },
  },
  'a wait for a message conditions on the inputs counter': {
    base: WAITS,
    at: ['input', /^(put FEED|model)$/],
    seeds: 5,
  },
  'an input for a paused wait is remembered': {
    base: {
      ...WAITS,
      script: [[['wait', { seconds: 800 }]], [['finish', { result: 'ok' }]]],
      patienceMs: 5_000,
      people: onceItWaits(async (sim) => {
        await sim.pause();
        await sim.input();
        await sim.resume();
      }),
      expects: { maxMs: 300_000 },
    },
  },
  'a wait wears no attempts out': {
    base: {
      ...WAITS,
      script: [Array.from({ length: 8 }, () => ['wait', { seconds: 2 }] as const), [['finish', { result: 'ok' }]]],
    },
  },
};
