import { type Execution, readExecution } from '../../lib/execution/execution.ts';
import { isTerminal } from '../../lib/execution/status.ts';
import { MAX_ATTEMPTS } from '../../lib/execution/step/fuses.ts';
import { DISRUPTIVE } from './faults.ts';
import type { Scenario } from './scenario.ts';
import { HOUR, Sim } from './sim-run.ts';

/** A run asks a person at every call, so it may stand often; this many times is more than any script needs. */
const MAX_ROUNDS = 400;

/** Until all executions stand and the queue is empty, or eight hours of virtual time are over. */
const rest = (sim: Sim): Promise<void> =>
  sim.world.run(sim.world.now + 8 * HOUR, () => {
    if (sim.queue.size > 0) return false;
    for (const row of sim.observed.executions.values()) if (row.st === 'RUNNING') return false;
    return true;
  });

/** A stop is right only where as many attempts as a step has were really struck down. */
const mend = async (sim: Sim, execution: Execution): Promise<void> => {
  const blows = sim.injector.struck.filter(({ fault }) => DISRUPTIVE.has(fault)).length;
  if (blows < MAX_ATTEMPTS) sim.violations.push(`a false stop: ${execution.reason} ${execution.errorMessage}`);
  else await sim.resume(execution.executionId);
};

const answer = async (sim: Sim, execution: Execution): Promise<void> => {
  if (execution.status === 'PAUSED') await sim.resume(execution.executionId);
  if (execution.status === 'WAITING_FOR_INPUT') await sim.input(execution.executionId);
  if (execution.status === 'WAITING_FOR_PERMISSION') await sim.decide(true);
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
    const rows = [...sim.observed.executions.values()].map(readExecution);
    const open = rows.filter((each) => !isTerminal(each.status));
    const expected = scenario.expects?.status;
    if (open.every((each) => each.status === expected) || open.some((each) => each.status === 'RUNNING')) break;
    let done = false;
    void Promise.all(open.map((execution) => answer(sim, execution))).then(() => {
      done = true;
    });
    await sim.world.run(sim.world.now + HOUR, () => done);
  }
  return sim;
};
