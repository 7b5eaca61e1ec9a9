import { badRequest } from '../kernel/errors.ts';
import type { Ids } from '../kernel/ids.ts';
import { isId } from '../kernel/ids.ts';
import { missing, type Table, TransactionRefused } from '../kernel/table.ts';
import type { Alongside } from '../tenancy/alongside.ts';
import { getOrganisation } from '../tenancy/organisation.ts';
import { projectStands } from '../tenancy/project.ts';
import { type AgentWithConfig, agentItem, configItem } from './agent.ts';
import { chooseWorkflow, type Workflows } from './choose-workflow.ts';
import { checkConfig } from './config.ts';
import type { ConfigEntries } from './config-keys.ts';

export interface NewAgent {
  readonly orgId: string;
  /** Id of the key that creates it. */
  readonly actor: string;
  readonly name: string;
  readonly description?: string | undefined;
  /** Without it: the organisation's default project. */
  readonly projectId?: string | undefined;
  readonly workflow?: string | undefined;
  readonly config?: ConfigEntries | undefined;
  readonly alongside?: Alongside<AgentWithConfig> | undefined;
}

/** What there is to choose from. */
export interface Available extends Workflows {
  readonly tools: readonly string[];
}

/**
 * The agent and all of its configuration, in one transaction.
 * @throws AppError 400 naming the field: configuration, tool, workflow or project
 */
export const createAgent = async (
  deps: { readonly table: Table; readonly ids: Ids },
  available: Available,
  given: NewAgent,
  nowMs: number,
): Promise<AgentWithConfig> => {
  const { orgId, name, description, config = {} } = given;
  checkConfig(config, available.tools);
  const workflow = await chooseWorkflow(available, orgId, given.workflow ?? 'goal');
  if (given.projectId !== undefined && !isId('prj', given.projectId)) throw noSuchProject(given.projectId);
  const projectId = given.projectId ?? (await getOrganisation(deps.table, orgId)).defaultProjectId;

  const createdAt = new Date(nowMs).toISOString();
  const agent = {
    id: deps.ids.next('agt', nowMs),
    orgId,
    projectId,
    name,
    ...(description === undefined ? {} : { description }),
    workflow,
    createdAt,
    createdBy: given.actor,
    updatedAt: createdAt,
  };
  const rows = Object.entries(config).map(([key, value]) => configItem(orgId, agent.id, key, value, createdAt));
  const created = { ...agent, config };
  try {
    await deps.table.transact([
      projectStands(orgId, projectId),
      { put: agentItem(agent), if: missing('pk') },
      ...rows.map((put) => ({ put })),
      ...(given.alongside?.(created) ?? []),
    ]);
  } catch (error) {
    if (error instanceof TransactionRefused && error.refused[0] === true) throw noSuchProject(projectId);
    throw error;
  }
  return created;
};

export const noSuchProject = (projectId: string): Error =>
  badRequest('There is no such project.', [
    {
      field: 'projectId',
      received: `"${projectId.slice(0, 60)}"`,
      expected: 'the id of a project of this organisation',
    },
  ]);
