import { isTerminal } from '../../lib/execution/status.ts';
import { violationsOf } from './checks.ts';
import { simulate } from './play.ts';
import { readExecution } from './reads.ts';
import type { Scenario } from './scenario.ts';
import type { Sim } from './sim-run.ts';

export interface Verdict {
  readonly sim: Sim;
  /** Empty when all invariants held and the run ended as it should. */
  readonly violations: readonly string[];
}

/** Runs a scenario and judges it; unless somebody terminates it, a run has to be COMPLETED in the end. */
export const judge = async (scenario: Scenario): Promise<Verdict> => {
  const sim = await simulate(scenario);
  const violations = violationsOf(sim);
  const terminated = sim.injector.struck.some((strike) => strike.fault === 'terminate') || sim.terminated;
  for (const row of sim.memory.dump().filter((item) => item.sk === 'EXEC')) {
    const { status, reason } = readExecution(row);
    const well = status === (scenario.expects?.status ?? 'COMPLETED') || (terminated && isTerminal(status));
    if (!well) violations.push(`ended ${status} ${reason ?? ''}`);
  }
  return { sim, violations };
};
