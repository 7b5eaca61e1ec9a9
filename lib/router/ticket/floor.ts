/** How a worker's change of status reaches its ticket: by a row in the transaction of the change. */
import { type EffectMessage, effectIdOf, effectItem } from '../../effect/effect.ts';
import { nextNumber } from '../../execution/numbered.ts';
import type { StatusChange, UpperFloors } from '../../execution/step/deps.ts';
import type { Log, Queue } from '../../kernel/ports.ts';
import { wakeEffects } from './deps.ts';

/** A worker's status has changed. */
export const STATUS = 'ticket.status';

const idOf = ({ execution, from, to }: StatusChange): string =>
  effectIdOf(`${STATUS} ${execution.orgId} ${execution.executionId} ${nextNumber(execution)} ${from} ${to}`);

/** The start, and every turn that begins, is written with the ticket itself. */
const concerns = ({ execution, from, to }: StatusChange): boolean =>
  execution.ticketId !== undefined && from !== 'CREATED' && !(from === 'WAITING_FOR_INPUT' && to === 'RUNNING');

/**
 * The places are freed by what this row brings about and not in the very commit that ends a turn: the row of the places is
 * one for the organisation, and a commit must neither read it nor be refused for it (docs/adr/0063).
 */
export const ticketFloor = (deps: { readonly effects: Queue<EffectMessage>; readonly log: Log }): UpperFloors => ({
  writes(change) {
    if (!concerns(change)) return [];
    const { execution, at } = change;
    const { orgId, executionId, ticketId } = execution;
    const detail = JSON.stringify({ ticketId, executionId });
    return [{ put: effectItem({ effectId: idOf(change), orgId, kind: 'ticket', detailType: STATUS, detail, at }) }];
  },
  async wake(change) {
    if (concerns(change)) await wakeEffects(deps, change.execution.orgId, [idOf(change)]);
  },
});
