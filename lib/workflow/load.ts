import { notFound } from '../kernel/errors.ts';
import { isId } from '../kernel/ids.ts';
import { keys } from '../kernel/keys.ts';
import type { Table } from '../kernel/table.ts';
import { builtIn, isBuiltIn, type Workflow } from './built-ins.ts';
import { readHead, readName, readVersion } from './rows.ts';

/** Id and newest version of an organisation's own workflow; `undefined` when it has none of this name or id. */
export const newestOf = async (
  table: Table,
  orgId: string,
  nameOrId: string,
): Promise<{ readonly id: string; readonly version: number } | undefined> => {
  if (isId('wfl', nameOrId)) {
    const head = await table.get(keys.workflow(orgId, nameOrId), { consistent: true });
    return head === undefined ? undefined : readHead(head);
  }
  if (!/^[a-z0-9][a-z0-9_-]{0,59}$/.test(nameOrId)) return undefined;
  const name = await table.get(keys.workflowName(orgId, nameOrId), { consistent: true });
  return name === undefined ? undefined : readName(name);
};

const MOST_VERSIONS = 999_999; // width of the key

/**
 * A workflow by name or id: a built-in one, or the organisation's own. Two reads; with the id and a version one; a
 * built-in one none.
 * @param version the newest without it
 * @returns `undefined` when this organisation has no such workflow or version
 */
export const findWorkflow = async (
  table: Table,
  orgId: string,
  nameOrId: string,
  version?: number,
): Promise<Workflow | undefined> => {
  if (isBuiltIn(nameOrId)) return builtIn(nameOrId, version);
  if (version !== undefined && !(Number.isInteger(version) && version >= 1 && version <= MOST_VERSIONS))
    return undefined;
  const at =
    version !== undefined && isId('wfl', nameOrId) ? { id: nameOrId, version } : await newestOf(table, orgId, nameOrId);
  if (at === undefined) return undefined;
  const key = keys.workflowVersion(orgId, at.id, version ?? at.version);
  const item = await table.get(key, { consistent: true });
  if (item === undefined) return undefined;
  const stored = readVersion(item);
  const { id, definition } = stored;
  return { id, name: definition.name, version: stored.version, definition, builtIn: false };
};

/** As `findWorkflow`. @throws AppError 404 */
export const loadWorkflow = async (
  table: Table,
  orgId: string,
  nameOrId: string,
  version?: number,
): Promise<Workflow> => {
  const found = await findWorkflow(table, orgId, nameOrId, version);
  if (found === undefined) throw notFound(version === undefined ? 'workflow' : 'version of a workflow');
  return found;
};
