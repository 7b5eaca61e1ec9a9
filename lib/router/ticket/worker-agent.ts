import { agentItem, findAgent } from '../../agent/agent.ts';
import { conflict } from '../../kernel/errors.ts';
import { derivedId } from '../../kernel/ids.ts';
import type { Clock } from '../../kernel/ports.ts';
import { ConditionFailed, missing, type Table } from '../../kernel/table.ts';
import { getOrganisation } from '../../tenancy/organisation.ts';

/** A deleted one has a successor; who deletes so many does not want workers. */
const MOST = 20;

/**
 * The agent whose executions an organisation's workers are; made when the first of them starts. Its id comes from the
 * organisation, so that two that make it at once make one.
 * @throws AppError 404 for the organisation
 */
export const workerAgent = async (
  { table, clock }: { readonly table: Table; readonly clock: Pick<Clock, 'now'> },
  orgId: string,
): Promise<string> => {
  for (let nth = 0; nth < MOST; nth++) {
    const id = derivedId('agt', 0, `${orgId} worker ${nth}`);
    const agent = await findAgent(table, orgId, id);
    if (agent !== undefined && agent.deletedAt === undefined) return id;
    if (agent !== undefined) continue;
    const { defaultProjectId: projectId } = await getOrganisation(table, orgId);
    const createdAt = new Date(clock.now()).toISOString();
    const named = { name: 'Worker', description: 'Runs the tickets of the Router team.', workflow: 'goal' };
    const by = { createdAt, createdBy: 'system', updatedAt: createdAt };
    try {
      await table.put(agentItem({ id, orgId, projectId, ...named, ...by }), missing('pk'));
    } catch (error) {
      // Somebody else has made it at the same moment.
      if (!(error instanceof ConditionFailed)) throw error;
    }
    return id;
  }
  throw conflict('worker_agent_deleted', `The agent of the workers was deleted ${MOST} times.`);
};
