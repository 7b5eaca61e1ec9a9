import type { StatusChange, UpperFloors } from '../execution/step/deps.ts';
import type { Log, Queue } from '../kernel/ports.ts';
import { BUS } from '../names.ts';
import { type EffectMessage, effectIdOf, effectItem } from './effect.ts';

const idOf = ({ execution, from, to, at }: StatusChange): string =>
  effectIdOf(`${execution.orgId} ${execution.executionId} ${execution.seq} ${from} ${to} ${at}`);

/** Tells the app's bus of every change of status: `Execution Status Changed`. */
export const statusEvents = (deps: { readonly effects: Queue<EffectMessage>; readonly log: Log }): UpperFloors => ({
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
        }),
      },
    ];
  },
  async wake(change) {
    const { orgId } = change.execution;
    try {
      await deps.effects.send({ orgId, effectId: idOf(change) }, { delaySeconds: 0, tenant: orgId });
    } catch (error) {
      // The row is written and marked: the sweep sends it. The change of status must not fail for its echo.
      deps.log.warn('An effect could not be woken; the sweep will.', { error: String(error) });
    }
  },
});
