import { keys } from '../../lib/kernel/keys.ts';
import { isBuiltIn } from '../../lib/workflow/built-ins.ts';
import type { WorkflowDefinition } from '../../lib/workflow/definition.ts';
import { nameItem, versionItem } from '../../lib/workflow/rows.ts';
import type { MemoryTable } from '../support/memory-table.ts';

export const ORG = 'org_00000000000000000000000000';
export const AGENT = 'agt_00000000000000000000000000';

/** The organisation and the agent whose executions are played. */
export const seedRows = async (
  memory: MemoryTable,
  at: string,
  { workflow, dailyBudget }: { readonly workflow?: WorkflowDefinition; readonly dailyBudget?: number },
): Promise<void> => {
  if (workflow !== undefined && !isBuiltIn(workflow.name)) {
    const id = 'wfl_00000000000000000000000000';
    await memory.put(nameItem(ORG, workflow.name, { id, version: 1 }));
    await memory.put(versionItem(ORG, { id, version: 1, definition: workflow, createdBy: 'key_1', createdAt: at }));
  }
  const organisation = { v: 1, id: ORG, name: 'Sim', createdAt: at, defaultProjectId: 'prj_1' };
  await memory.put({ ...keys.organisation(ORG), ...organisation, ...(dailyBudget !== undefined && { dailyBudget }) });
  await memory.put({
    ...keys.agent(ORG, AGENT),
    v: 1,
    id: AGENT,
    orgId: ORG,
    name: 'Sim',
    workflow: workflow?.name ?? 'goal',
    projectId: 'prj_1',
    createdBy: 'key_1',
    createdAt: at,
    updatedAt: at,
  });
};
