import { notFound } from '../kernel/errors.ts';
import { isId } from '../kernel/ids.ts';
import { keys } from '../kernel/keys.ts';
import {
  type Change,
  ConditionFailed,
  type Key,
  remove,
  set,
  type Table,
  TransactionRefused,
  type Write,
} from '../kernel/table.ts';
import { projectStands } from '../tenancy/project.ts';
import { type AgentWithConfig, agentStands, configItem, findAgent, getAgent, stands } from './agent.ts';
import { checkConfig, checkSize } from './config.ts';
import type { ConfigEntries } from './config-keys.ts';
import { noSuchProject } from './create-agent.ts';

export interface AgentChanges {
  readonly name?: string | undefined;
  /** `null` takes it away. */
  readonly description?: string | null | undefined;
  readonly projectId?: string | undefined;
  /** The name of a workflow that there is (`chooseWorkflow`). */
  readonly workflow?: string | undefined;
  /** Replaces these keys; others stay. */
  readonly config?: ConfigEntries | undefined;
}

/**
 * Changes what is given, in one transaction. Runs keep the configuration they started with.
 * @throws AppError 404; 400 naming the field
 */
export const patchAgent = async (
  table: Table,
  tools: readonly string[],
  at: { readonly orgId: string; readonly agentId: string },
  changes: AgentChanges,
  nowMs: number,
): Promise<AgentWithConfig> => {
  const { orgId, agentId } = at;
  const { name, description, projectId, workflow, config = {} } = changes;
  checkConfig(config, tools);
  if (projectId !== undefined && !isId('prj', projectId)) throw noSuchProject(projectId);
  const agent = await getAgent(table, orgId, agentId);
  checkSize({ ...agent.config, ...config });

  const now = new Date(nowMs).toISOString();
  const badge: Change[] = [set('updatedAt', now)];
  if (name !== undefined) badge.push(set('name', name));
  if (description !== undefined)
    badge.push(description === null ? remove('description') : set('description', description));
  if (projectId !== undefined) badge.push(set('projectId', projectId));
  if (workflow !== undefined) badge.push(set('workflow', workflow));
  const writes: Write[] = [{ update: keys.agent(orgId, agentId), changes: badge, if: stands }];
  for (const [key, value] of Object.entries(config)) writes.push({ put: configItem(orgId, agentId, key, value, now) });
  if (projectId !== undefined) writes.push(projectStands(orgId, projectId));
  try {
    await table.transact(writes);
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error;
    if (error.refused[0] === true) throw notFound('agent');
    throw noSuchProject(projectId ?? '');
  }
  return getAgent(table, orgId, agentId);
};

/**
 * Deletes softly and terminates what runs. Repeating it goes on where an earlier attempt stopped.
 * @param terminateRuns ends every execution of the agent that has not ended
 * @throws AppError 404 when there never was such an agent
 */
export const deleteAgent = async (
  table: Table,
  at: { readonly orgId: string; readonly agentId: string },
  terminateRuns: (orgId: string, agentId: string) => Promise<void>,
  nowMs: number,
): Promise<void> => {
  const { orgId, agentId } = at;
  const found = await findAgent(table, orgId, agentId);
  if (found === undefined) throw notFound('agent');
  if (found.deletedAt === undefined) await markDeleted(table, keys.agent(orgId, agentId), nowMs);
  // After the mark: whoever starts an execution checks the mark in the same transaction, so none can slip in behind this.
  await terminateRuns(orgId, agentId);
};

/** The row leaves the `byOwner` index, so that lists do not read over graves. */
const markDeleted = async (table: Table, key: Key, nowMs: number): Promise<void> => {
  const at = new Date(nowMs).toISOString();
  const changes = [set('deletedAt', at), set('updatedAt', at), remove('ownerPk'), remove('ownerSk')];
  try {
    await table.update(key, changes, stands);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error; // somebody else marked it a moment ago
  }
};

/** @throws AppError 404; 400 naming `value` */
export const putConfig = async (
  table: Table,
  tools: readonly string[],
  at: { readonly orgId: string; readonly agentId: string; readonly key: string },
  value: unknown,
  nowMs: number,
): Promise<void> => {
  const { orgId, agentId, key } = at;
  checkConfig(Object.fromEntries([[key, value]]), tools, () => 'value');
  const agent = await getAgent(table, orgId, agentId);
  checkSize({ ...agent.config, ...Object.fromEntries([[key, value]]) });
  const put = configItem(orgId, agentId, key, value, new Date(nowMs).toISOString());
  await guarded(table, agentStands(orgId, agentId), { put });
};

/** Back to the default. @throws AppError 404 for the agent or a key it does not have */
export const deleteConfig = async (
  table: Table,
  at: { readonly orgId: string; readonly agentId: string; readonly key: string },
): Promise<void> => {
  const { orgId, agentId, key } = at;
  const agent = await getAgent(table, orgId, agentId);
  if (!Object.hasOwn(agent.config, key)) throw notFound('configuration key');
  await guarded(table, agentStands(orgId, agentId), { delete: keys.agentConfig(orgId, agentId, key) });
};

const guarded = async (table: Table, guard: Write, write: Write): Promise<void> => {
  try {
    await table.transact([guard, write]);
  } catch (error) {
    throw error instanceof TransactionRefused ? notFound('agent') : error;
  }
};
