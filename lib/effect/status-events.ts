import { nextNumber } from '../execution/numbered.ts';
import type { BudgetWarning, StatusChange, UpperFloors } from '../execution/step/deps.ts';
import type { Log, Queue } from '../kernel/ports.ts';
import type { Item } from '../kernel/table.ts';
import { BUS } from '../names.ts';
import { type EffectMessage, effectIdOf, effectItem } from './effect.ts';

/** Every event of an execution has a number of its own; a transaction that is tried again makes the same id. */
const idOf = (event: StatusChange | BudgetWarning): string => {
  const { execution, at } = event;
  const what = 'to' in event ? `${event.from} ${event.to}` : 'budget';
  return effectIdOf(`${execution.orgId} ${execution.executionId} ${nextNumber(execution)} ${what} ${at}`);
};

const warningItem = (warning: BudgetWarning): Item => {
  const { execution, cost, at } = warning;
  const { orgId, executionId, agentId } = execution;
  const detail = { executionId, agentId, costUsd: cost / 1e6, maxCostUsd: execution.maxCost / 1e6 };
  return effectItem({
    effectId: idOf(warning),
    orgId,
    kind: 'webhook',
    detailType: 'budget.warning',
    detail: JSON.stringify(detail),
    at,
    sequence: nextNumber(execution),
    step: execution.seq,
  });
};

/**
 * Tells the app's bus of every change of status (`Execution Status Changed`) and webhooks of that and of budgets that run out.
 * One row an event, whoever listens: `effect` finds out who does.
 */
export const statusEvents = (deps: { readonly effects: Queue<EffectMessage>; readonly log: Log }): UpperFloors => {
  const wake = async (event: StatusChange | BudgetWarning): Promise<void> => {
    const { orgId } = event.execution;
    const delaySeconds = 'to' in event ? (event.aside ?? 0) : 0;
    try {
      await deps.effects.send({ orgId, effectId: idOf(event) }, { delaySeconds, tenant: orgId });
    } catch (error) {
      // The row is written and marked: the sweep sends it. The change must not fail for its echo.
      deps.log.warn('An effect could not be woken; the sweep will.', { error: String(error) });
    }
  };
  return {
    writes(change) {
      const { execution, from, to, reason, at } = change;
      const detail = {
        organisationId: execution.orgId,
        executionId: execution.executionId,
        agentId: execution.agentId,
        from,
        to,
        ...(reason !== undefined && { reason }),
        at: new Date(at).toISOString(),
      };
      return [
        {
          put: effectItem({
            effectId: idOf(change),
            orgId: execution.orgId,
            kind: 'bus',
            detailType: BUS.statusChanged,
            detail: JSON.stringify(detail),
            at,
            sequence: nextNumber(execution),
            step: execution.seq,
          }),
        },
      ];
    },
    warns: (warning) => [{ put: warningItem(warning) }],
    wake,
    wakeWarning: wake,
  };
};
