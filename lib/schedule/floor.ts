import { isTerminal, STOPPED } from '../execution/status.ts';
import type { StatusChange, UpperFloors } from '../execution/step/deps.ts';
import { due, keys } from '../kernel/keys.ts';
import type { Log, Queue } from '../kernel/ports.ts';
import { add, set } from '../kernel/table.ts';
import type { FireMessage } from './message.ts';

/** The schedule of a run that ends, or waits for a mend from now on. */
const freed = ({ execution, to }: StatusChange): string | undefined =>
  isTerminal(to) || STOPPED.includes(to) ? execution.scheduleId : undefined;

/**
 * Tells a schedule that a run of its own does not go on: in the transaction that ends it, without a condition, so that
 * it can never refuse the end of a run. The row's version rises, so that whoever decides about it at this moment on what
 * it read before decides again; its mark is due now, so that a lost wake-up is found.
 */
export const scheduleFloor = (deps: { readonly fires: () => Queue<FireMessage>; readonly log: Log }): UpperFloors => ({
  writes(change) {
    const scheduleId = freed(change);
    if (scheduleId === undefined) return [];
    return [
      {
        update: keys.schedule(change.execution.orgId, scheduleId),
        changes: [
          add('version', 1),
          set('duePk', due.pkOf('tick', scheduleId)),
          set('dueSk', due.sk(change.at, scheduleId)),
        ],
      },
    ];
  },
  async wake(change) {
    const scheduleId = freed(change);
    if (scheduleId === undefined) return;
    const { orgId } = change.execution;
    try {
      await deps.fires().send({ orgId, scheduleId }, { delaySeconds: 0, tenant: orgId });
    } catch (error) {
      deps.log.warn('A schedule could not be woken; the tick will.', { scheduleId, error: String(error) });
    }
  },
});
