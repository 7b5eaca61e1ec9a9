import type { Execution } from '../../lib/execution/execution.ts';
import { isTerminal } from '../../lib/execution/status.ts';
import { MAX_ATTEMPTS } from '../../lib/execution/step/fuses.ts';
import { closeBooks } from './book-checks.ts';
import { DISRUPTIVE } from './faults.ts';
import { attentionMirrors } from './people-checks.ts';
import { readExecution } from './reads.ts';
import type { Scenario } from './scenario.ts';
import { HOUR, Sim } from './sim-run.ts';

/** A run asks a person at every call, so it may stand often; this many times is more than any script needs. */
const MAX_ROUNDS = 400;

/** With a clock the sweep finds effects whose message was lost. */
const effectsPending = (sim: Sim): boolean =>
  sim.scenario.clock !== false && sim.memory.dump().some(({ sk, state }) => sk === 'EFFECT' && state === 'pending');

/** Until all executions stand and the queue is empty, or eight hours of virtual time are over. */
const rest = (sim: Sim): Promise<void> =>
  sim.world.run(sim.world.now + 8 * HOUR, () => {
    if (sim.underWay > 0 || effectsPending(sim)) return false;
    for (const row of sim.observed.executions.values()) {
      if (row.st === 'RUNNING' || (row.st === 'WAIT_STEP' && sim.scenario.clock !== false)) return false;
    }
    return true;
  });

/** A stop is right only where as many attempts as a step has were really struck down. */
const mend = async (sim: Sim, execution: Execution): Promise<void> => {
  const blows = sim.injector.struck.filter(({ fault }) => DISRUPTIVE.has(fault)).length;
  if (blows < MAX_ATTEMPTS) sim.violations.push(`a false stop: ${execution.reason} ${execution.errorMessage}`);
  else await sim.resume(execution.executionId);
};

const decide = async (sim: Sim): Promise<void> => {
  if (sim.scenario.decidedTwice !== true) return sim.decide(sim.scenario.approves?.(sim.decisions.length) ?? true);
  await Promise.all([sim.decide(true), sim.decide(true)]);
  await sim.world.sleep(40);
  await sim.decide(false, true);
};

/** SQS delays no longer: such a wait is woken by `tick` alone. */
const LONGEST_DELAY_MS = 900_000;

/** Where no clock runs, a long wait gets one tick a minute before its time; a short one has to end by its message. */
const waitOn = async (sim: Sim, { waitUntil, since, executionId }: Execution): Promise<void> => {
  if (waitUntil === undefined || sim.scenario.clock !== false) return;
  if (waitUntil - since <= LONGEST_DELAY_MS) sim.violations.push(`3: the wait of ${executionId} stood still`);
  await sim.world.sleep(Math.max(0, waitUntil - sim.world.now - 60_000));
  await sim.tick();
};

const answer = async (sim: Sim, execution: Execution): Promise<void> => {
  if (execution.status === 'PAUSED') await sim.resume(execution.executionId);
  if (execution.status === 'WAIT_STEP') await waitOn(sim, execution);
  if (execution.status === 'WAITING_FOR_INPUT') await sim.input(execution.executionId);
  if (execution.status === 'WAITING_FOR_PERMISSION') await decide(sim);
  if (execution.status === 'ERROR_PAUSED') await mend(sim, execution);
};

/** Runs a scenario to its end and plays the person who answers whatever it waits for. */
export const simulate = async (scenario: Scenario): Promise<Sim> => {
  const sim = new Sim(scenario);
  await sim.start();
  for (let round = 0; round < MAX_ROUNDS && sim.violations.length === 0; round++) {
    await rest(sim);
    if (scenario.patienceMs !== undefined && round < 3) {
      await sim.world.run(sim.world.now + scenario.patienceMs, () => false);
      await rest(sim);
    }
    sim.violations.push(...attentionMirrors(sim));
    const rows = [...sim.observed.executions.values()].map(readExecution);
    const open = rows.filter((each) => !isTerminal(each.status));
    const expected = scenario.expects?.status;
    if (open.every((each) => each.status === expected) || open.some((each) => each.status === 'RUNNING')) break;
    let done = false;
    void Promise.all(open.map((execution) => answer(sim, execution))).then(() => {
      done = true;
    });
    await sim.world.run(sim.world.now + 8 * HOUR, () => done);
  }
  await closeBooks(sim);
  return sim;
};
