import * as z from 'zod';
import { settleChild } from '../execution/children/settle-child.ts';
import { terminateChildren } from '../execution/children/terminate-children.ts';
import type { Execution } from '../execution/execution.ts';
import { isTerminal } from '../execution/status.ts';
import type { ExecutionDeps, UpperFloors } from '../execution/step/deps.ts';
import type { Log, Queue } from '../kernel/ports.ts';
import type { Outlet } from './deliver.ts';
import { type EffectMessage, effectIdOf, effectItem } from './effect.ts';

const RESULT = 'child.result';
const TERMINATE = 'children.terminate';

interface Ending {
  readonly detailType: typeof RESULT | typeof TERMINATE;
  readonly effectId: string;
}

/** What the end of a run means for the runs above and below it. */
const endingsOf = ({ orgId, executionId, parentId, openChildren }: Execution): readonly Ending[] => [
  ...(parentId === undefined
    ? []
    : [{ detailType: RESULT, effectId: effectIdOf(`${RESULT} ${orgId} ${executionId}`) } as const]),
  ...(openChildren === 0
    ? []
    : [{ detailType: TERMINATE, effectId: effectIdOf(`${TERMINATE} ${orgId} ${executionId}`) } as const]),
];

/** The end of a run that another one started is told to it, and the end of a run ends those that it started. */
export const childFloor = (deps: { readonly effects: Queue<EffectMessage>; readonly log: Log }): UpperFloors => ({
  writes({ execution, to, at }) {
    if (!isTerminal(to)) return [];
    const { orgId, executionId } = execution;
    const detail = JSON.stringify({ orgId, executionId });
    return endingsOf(execution).map((ending) => ({ put: effectItem({ ...ending, orgId, kind: 'child', detail, at }) }));
  },
  async wake({ execution, to }) {
    if (!isTerminal(to)) return;
    const { orgId } = execution;
    const sent = endingsOf(execution).map(({ effectId }) =>
      deps.effects.send({ orgId, effectId }, { delaySeconds: 0, tenant: orgId }),
    );
    for (const result of await Promise.allSettled(sent)) {
      // The row is written and marked: the sweep sends it.
      if (result.status === 'rejected')
        deps.log.warn('An effect could not be woken.', { error: String(result.reason) });
    }
  },
});

const detailSchema = z.object({ orgId: z.string(), executionId: z.string() });

/** @throws NotYet while runs further below have not been settled */
export const childOutlet =
  (deps: () => ExecutionDeps): Outlet =>
  async ({ detailType, detail }) => {
    const at = detailSchema.parse(JSON.parse(detail));
    await (detailType === TERMINATE ? terminateChildren(deps(), at) : settleChild(deps(), at));
  };
