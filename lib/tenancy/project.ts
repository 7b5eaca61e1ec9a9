import * as z from 'zod';
import { notFound } from '../kernel/errors.ts';
import type { Ids } from '../kernel/ids.ts';
import { isId } from '../kernel/ids.ts';
import { keys } from '../kernel/keys.ts';
import { type Condition, exists, type Item, type Key, missing, type Table } from '../kernel/table.ts';
import type { Alongside } from './alongside.ts';
import { type Listed, listRows, type PageRequest } from './list-rows.ts';
import { makeRow, readRow } from './row.ts';

const rowSchema = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  createdAt: z.iso.datetime(),
});
export type Project = z.output<typeof rowSchema>;

export const projectItem = (orgId: string, project: Project): Item => makeRow(keys.project(orgId, project.id), project);

export interface NewProject {
  readonly orgId: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly alongside?: Alongside<Project> | undefined;
}

export const createProject = async (
  deps: { readonly table: Table; readonly ids: Ids },
  given: NewProject,
  nowMs: number,
): Promise<Project> => {
  const project: Project = {
    id: deps.ids.next('prj', nowMs),
    name: given.name,
    ...(given.description === undefined ? {} : { description: given.description }),
    createdAt: new Date(nowMs).toISOString(),
  };
  const written = projectItem(given.orgId, project);
  await deps.table.transact([{ put: written, if: missing('pk') }, ...(given.alongside?.(project) ?? [])]);
  return project;
};

/** @throws AppError 404 */
export const getProject = async (table: Table, orgId: string, projectId: string): Promise<Project> => {
  const item = isId('prj', projectId)
    ? await table.get(keys.project(orgId, projectId), { consistent: true })
    : undefined;
  if (item === undefined) throw notFound('project');
  return readRow(rowSchema, item);
};

export const listProjects = (table: Table, orgId: string, page: PageRequest): Promise<Listed<Project>> =>
  listRows({ table, ...keys.projects(orgId), read: (item) => readRow(rowSchema, item) }, page);

/** Guard for a transaction that puts something into a project. */
export const projectStands = (orgId: string, projectId: string): { readonly check: Key; readonly if: Condition } => ({
  check: keys.project(orgId, projectId),
  if: exists('pk'),
});
