import { keys } from '../../kernel/keys.ts';
import { terminateExecution } from '../control.ts';
import { type At, getExecution } from '../get.ts';
import { isTerminal } from '../status.ts';
import type { ExecutionDeps } from '../step/deps.ts';
import { allPages } from '../step/load.ts';
import { readChild } from './child-row.ts';

/**
 * Ends every run that an ended run started and that has not ended. Each of them then ends those below it. A repeat goes on
 * where an earlier one died.
 */
export const terminateChildren = async (deps: ExecutionDeps, parent: At): Promise<void> => {
  const items = await allPages(deps.table, { ...keys.children(parent.orgId, parent.executionId), consistent: true });
  for (const { executionId, state } of items.map(readChild)) {
    if (state !== 'open') continue;
    const at = { orgId: parent.orgId, executionId };
    try {
      await terminateExecution(deps, at);
    } catch (error) {
      const { status } = await getExecution(deps.table, at);
      if (!isTerminal(status)) throw error;
    }
  }
};
