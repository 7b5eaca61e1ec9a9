import * as z from 'zod';
import { notFound, UnreadableRow } from '../kernel/errors.ts';
import { isId } from '../kernel/ids.ts';
import { keys, owner } from '../kernel/keys.ts';
import { and, type Condition, exists, type Item, type Key, missing, type Table, type Value } from '../kernel/table.ts';
import { makeRow, readRow } from '../tenancy/row.ts';
import { checkSize, mergeConfig, parseConfig } from './config.ts';
import type { AgentConfig, ConfigEntries } from './config-keys.ts';

const agentSchema = z.object({
  id: z.string(),
  orgId: z.string(),
  projectId: z.string(),
  name: z.string(),
  description: z.string().optional(),
  workflow: z.string(),
  createdAt: z.iso.datetime(),
  createdBy: z.string(),
  updatedAt: z.iso.datetime(),
  deletedAt: z.iso.datetime().optional(),
});
/** The badge: who the agent is. `createdBy` is the id of a key. */
export type Agent = z.output<typeof agentSchema>;

/** The badge and the folder. */
export interface AgentWithConfig extends Agent {
  readonly config: ConfigEntries;
}

const configSchema = z.object({ key: z.string(), json: z.string(), updatedAt: z.iso.datetime() });

/** One configuration key with its value. @throws UnreadableRow */
export const readConfig = (
  item: Item,
): { readonly key: string; readonly value: unknown; readonly updatedAt: string } => {
  const { json, ...row } = readRow(configSchema, item);
  try {
    return { ...row, value: JSON.parse(json) as unknown };
  } catch (error) {
    throw new UnreadableRow(item, 'its value is not JSON.', error);
  }
};

/** The agent's own row. */
export const agentItem = (agent: Agent): Item =>
  makeRow(keys.agent(agent.orgId, agent.id), { ...agent, ownerPk: owner.agents(agent.orgId), ownerSk: agent.id });

export const readAgent = (item: Item): Agent => readRow(agentSchema, item);

/**
 * One configuration key, one row. The value is JSON text: DynamoDB would refuse some JSON (32 levels, numbers beyond 38
 * digits), and a value is to come back exactly as it was given.
 */
export const configItem = (orgId: string, agentId: string, key: string, value: unknown, updatedAt: string): Item =>
  makeRow(keys.agentConfig(orgId, agentId, key), { key, json: JSON.stringify(value) as Value, updatedAt });

/** True for an agent that is there and not deleted. */
export const stands: Condition = and(exists('pk'), missing('deletedAt'));

/** Guard for a transaction that starts something for an agent: refused when the agent is gone. */
export const agentStands = (orgId: string, agentId: string): { readonly check: Key; readonly if: Condition } => ({
  check: keys.agent(orgId, agentId),
  if: stands,
});

/**
 * The badge and the folder, in one Query: a folder is far below the 1 MB of a page.
 * @throws AppError 404, also for a deleted agent
 */
export const getAgent = async (table: Table, orgId: string, agentId: string): Promise<AgentWithConfig> => {
  const agent = await findAgent(table, orgId, agentId);
  if (agent === undefined || agent.deletedAt !== undefined) throw notFound('agent');
  return agent;
};

/** As `getAgent`, but shows deleted agents too. `undefined` when there never was one. */
export const findAgent = async (table: Table, orgId: string, agentId: string): Promise<AgentWithConfig | undefined> => {
  if (!isId('agt', agentId)) return undefined;
  const items: Item[] = [];
  let after: Value | undefined;
  do {
    const range = keys.agentWithConfig(orgId, agentId);
    const page = await table.query({ ...range, consistent: true, ...(after === undefined ? {} : { after }) });
    items.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  const [badge, ...folder] = items;
  if (badge === undefined || badge.sk !== 'AGENT') return undefined;
  const agent = readAgent(badge);
  const rows = folder.map(readConfig);
  const config = Object.fromEntries(rows.map(({ key, value }) => [key, value]));
  const updatedAt = [agent.updatedAt, ...rows.map((row) => row.updatedAt)].sort().at(-1) ?? agent.updatedAt;
  return { ...agent, updatedAt, config };
};

/** What a run keeps from its agent: later changes of the agent do not reach it. */
export interface PinnedConfig {
  /** Everything as it was given, to be stored. */
  readonly entries: ConfigEntries;
  /** The typed part, defaults filled in. */
  readonly config: AgentConfig;
  readonly rest: ConfigEntries;
}

/**
 * The configuration of one run: the agent's, with the overrides key by key.
 * @param overrides checked entries
 * @throws AppError 400 when both together do not fit into one row
 */
export const pinnedConfig = (agent: { readonly config: ConfigEntries }, overrides: ConfigEntries): PinnedConfig => {
  const entries = mergeConfig(agent.config, overrides);
  checkSize(entries);
  return { entries, ...parseConfig(entries) };
};
