import { type Item, set, TransactionRefused, type Write } from '../../kernel/table.ts';
import { LeaseLost } from '../../lease/lease.ts';
import { A, type Execution } from '../execution.ts';
import type { BudgetWarning, StepDeps } from './deps.ts';
import { writeNumbered } from './stop.ts';

/** Share of `maxCostUsd` at which people are warned. The fuse itself counts what is reserved too, and may blow before it. */
const WARN_AT = 0.8;

/** The commit that passes the mark for the first time, or for the first time since the limit was raised. */
const passesMark = (execution: Execution, cost: number): boolean =>
  execution.maxCost > 0 && cost >= execution.maxCost * WARN_AT && execution.budgetWarned !== execution.maxCost;

/**
 * Writes the commit of a step: alone, but for the one in a run's life by which it has spent most of its budget; that one
 * carries the warning.
 * @param cost of the run after this commit, micro-dollars
 * @returns the row as it stands then, where the answer of the write shows it
 */
export const writeCommit = async (
  deps: StepDeps,
  execution: Execution,
  write: Extract<Write, { update: unknown }>,
  cost: number,
  at: number,
): Promise<Item | undefined> => {
  const warningOf = (counted: Execution): BudgetWarning => ({ execution: counted, cost, at });
  const { upper } = deps;
  if (upper.warns === undefined || !passesMark(execution, cost)) {
    return deps.table.update(write.update, write.changes, write.if);
  }
  const marked = { ...write, changes: [...write.changes, set(A.budgetWarned, execution.maxCost)] };
  try {
    const told = await writeNumbered(deps, execution, marked, (counted) => upper.warns?.(warningOf(counted)) ?? []);
    await upper.wakeWarning?.(warningOf(told));
    return undefined;
  } catch (error) {
    if (error instanceof TransactionRefused && error.refused[0] === true)
      throw new LeaseLost('The step was taken over.');
    throw error;
  }
};
