/** Scenarios aimed at what people are asked and how it ends. By the name of the guard, as in `PEOPLE_MUTATIONS`. */
import { changeLimits } from '../../lib/execution/change-limits.ts';
import { resumeExecution } from '../../lib/execution/control.ts';
import { readAsk } from '../../lib/execution/rows.ts';
import { set } from '../../lib/kernel/table.ts';
import type { Aim } from './aims.ts';
import type { Scenario } from './scenario.ts';
import { executionIdOf, ORG, type Sim } from './sim-run.ts';

type Base = Omit<Scenario, 'seed'>;

const TTL_MS = 60_000;
const EXPIRING = { permissionType: 'RESTRICTED', permissionTtlSeconds: TTL_MS / 1000 };
const PAY_ONCE: Base['script'] = [[['pay', {}]], [['finish', { result: 'ok' }]]];

/** Acts each time that the run has come to stand in this way, some virtual ms after it has. */
export const each =
  (standing: RegExp, act: (sim: Sim) => Promise<unknown>, afterMs = 500, most = Infinity) =>
  (sim: Sim): void => {
    let times = 0;
    const look = (): void => {
      const stands = [...sim.observed.executions.values()].some((row) => standing.test(String(row.st)));
      if (!stands) return void sim.world.after(500, look);
      if (times++ >= most) return;
      sim.world.after(afterMs, () => {
        void act(sim).then(() => sim.world.after(2_000, look));
      });
    };
    sim.world.after(500, look);
  };

/** The row is changed by a hand that the code knows nothing of. */
const tamper = async (sim: Sim): Promise<void> => {
  for (const item of sim.memory.dump().filter(({ sk }) => sk.startsWith('ASK#'))) {
    if (readAsk(item).state !== 'pending') continue;
    await sim.memory.update({ pk: item.pk, sk: item.sk }, [set('arguments', '{"what":"something harmless"}')]);
  }
};

const at = { orgId: ORG, executionId: executionIdOf(0) };

export const EXPIRES: Base = {
  script: PAY_ONCE,
  config: EXPIRING,
  patienceMs: 2 * TTL_MS,
  people: each(/^WAITING_FOR_PERMISSION$/, (sim) => sim.tick(), TTL_MS + 10_000, 1),
};

/** The clock and two people at the same moment; to the processes that answer them it is still in time. */
export const EXPIRES_WHILE_DECIDED: Base = {
  ...EXPIRES,
  script: [
    [
      ['post', {}],
      ['pay', {}],
    ],
    [['finish', { result: 'ok' }]],
  ],
  people: each(
    /^WAITING_FOR_PERMISSION$/,
    (sim) => Promise.all([sim.tick(), sim.decide(true, false, 20_000), sim.decide(false, false, 20_000)]),
    TTL_MS + 10_000,
  ),
};

export const PAUSES_ON_EXPIRY: Base = {
  ...EXPIRES,
  config: { ...EXPIRING, permissionExpiry: 'pause' },
  people: (sim) => {
    EXPIRES.people?.(sim);
    each(/^PAUSED$/, (late) => late.decide(true), 20_000, 1)(sim);
  },
};

export const PAUSED_WHILE_WAITING: Base = {
  ...EXPIRES_WHILE_DECIDED,
  config: { permissionType: 'RESTRICTED' },
  patienceMs: 5_000,
  people: each(
    /^WAITING_FOR_PERMISSION$/,
    (sim) => Promise.all([sim.pause(), sim.decide(true), sim.resume(), sim.pause().then(() => sim.resume())]),
    500,
  ),
};

export const TERMINATED_WHILE_WAITING: Base = {
  ...PAUSED_WHILE_WAITING,
  people: each(/^WAITING_FOR_PERMISSION$/, (sim) => Promise.all([sim.decide(true), sim.terminate()]), 500),
};

const QUESTION: Base = { script: [[['ask_user', { question: 'Which?' }]], [['finish', { result: 'ok' }]]] };

const LIMITED: Base = {
  script: [[['look', {}]], [['finish', { result: 'ok' }]]],
  config: { maxIterations: 1 },
  patienceMs: 30_000,
  people: each(
    /^ITERATION_LIMIT_EXCEEDED$/,
    async (sim) => {
      await changeLimits(sim.deps(), at, { maxIterations: 9 });
      await resumeExecution(sim.deps(), at);
    },
    500,
    1,
  ),
};

export const PEOPLE_AIMS: { readonly [guard: string]: Aim } = {
  'a decision counts for the call that was shown': {
    base: {
      ...EXPIRES,
      config: { permissionType: 'RESTRICTED' },
      people: each(
        /^WAITING_FOR_PERMISSION$/,
        async (sim) => {
          await tamper(sim);
          await sim.decide(true);
        },
        500,
        1,
      ),
      // Shown again, and nobody decides a second time.
      expects: { status: 'WAITING_FOR_PERMISSION', pays: 0 },
    },
  },
  'a permission can be found when it expires': {
    base: { ...EXPIRES, expects: { pays: 0 } },
  },
  'an expiry is never an approval': { base: { ...EXPIRES, expects: { pays: 0 } } },
  'a decision after its time approves nothing': {
    base: {
      ...EXPIRES,
      clock: false,
      people: each(/^WAITING_FOR_PERMISSION$/, (sim) => sim.decide(true), TTL_MS + 10_000, 1),
      expects: { pays: 0 },
    },
  },
  'nothing expires before its time': {
    base: {
      ...EXPIRES,
      clock: false,
      patienceMs: 20_000,
      people: each(/^WAITING_FOR_PERMISSION$/, (sim) => sim.tick(), 5_000, 1),
      expects: { pays: 1 },
    },
  },
  'an expiry and a decision: one of them stands': { base: EXPIRES_WHILE_DECIDED, seeds: 40 },
  'the pause of an expiry ends with the decision': {
    base: { ...PAUSES_ON_EXPIRY, expects: { pays: 1, maxMs: 110_000 } },
  },
  'a step that stands still outlasts a pause and a resume at the same moment': {
    base: { ...PAUSED_WHILE_WAITING, clock: false },
    at: ['resume_twice', /^(update EXEC claim|visibility|query)/],
  },
  'attention opens with a permission': { base: { script: PAY_ONCE, config: { permissionType: 'RESTRICTED' } } },
  'attention closes with a decision': { base: PAUSED_WHILE_WAITING },
  'attention closes with an answer': { base: QUESTION },
  'attention closes with what is cancelled': { base: TERMINATED_WHILE_WAITING, seeds: 20 },
  'attention closes when a stopped run goes on': { base: LIMITED },
  'attention opens when a run stops': {
    base: { script: LIMITED.script, config: { maxIterations: 1 }, expects: { status: 'ITERATION_LIMIT_EXCEEDED' } },
  },
};
