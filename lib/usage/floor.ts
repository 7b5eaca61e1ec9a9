import type { Outlet } from '../effect/deliver.ts';
import type { At } from '../execution/get.ts';
import { type BudgetDeps, giveBack } from '../execution/step/daily-budget.ts';
import type { UpperFloors } from '../execution/step/deps.ts';
import { UnreadableRow } from '../kernel/errors.ts';
import type { Log } from '../kernel/ports.ts';
import { rollUp } from './roll-up.ts';

/** Brings the books of one run up to date. It may be called at any time and again. */
export const settleBooks = async (deps: BudgetDeps, at: At): Promise<void> => {
  const execution = await rollUp(deps, at);
  if (execution !== undefined) await giveBack(deps, execution);
};

/** Once a minute while a run runs. What is lost here is made good by the next minute or the next change of status. */
export const usageFloor = (deps: BudgetDeps): UpperFloors => ({
  writes: () => [],
  wake: async () => undefined,
  committed: (execution) => settleBooks(deps, execution),
});

/** Before a change of status is told: an effect stays until it is delivered, so that the last totals are never missed. */
export const booksFirst =
  (deps: BudgetDeps & { readonly log: Log }, then: Outlet): Outlet =>
  async (effect) => {
    const { executionId } = JSON.parse(effect.detail) as { readonly executionId?: unknown };
    try {
      if (typeof executionId === 'string') await settleBooks(deps, { orgId: effect.orgId, executionId });
    } catch (error) {
      // A row of a newer writer is that one's to roll up; the event does not wait for it.
      if (!(error instanceof UnreadableRow)) throw error;
      deps.log.error('A run cannot be rolled up.', { executionId, error });
    }
    await then(effect);
  };
