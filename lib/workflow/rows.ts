/** How workflows of an organisation are kept: a head, the row of its name, and one row for each version. */
import * as z from 'zod';
import { UnreadableRow } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import type { Item } from '../kernel/table.ts';
import { makeRow, readRow } from '../tenancy/row.ts';
import { type WorkflowDefinition, workflowDefinitionSchema } from './definition.ts';

const version = z.int().min(1);

const headSchema = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  /** The newest. */
  version,
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
/** A workflow without its definition, as lists show it. */
export type Head = z.output<typeof headSchema>;

const nameSchema = z.object({ id: z.string(), version });

const versionSchema = z.object({
  id: z.string(),
  version,
  /** JSON text: it comes back exactly as it was stored, however deep. */
  json: z.string(),
  /** Id of the key that saved it. */
  createdBy: z.string(),
  createdAt: z.iso.datetime(),
});

export const headItem = (orgId: string, head: Head): Item => makeRow(keys.workflow(orgId, head.id), head);
export const readHead = (item: Item): Head => readRow(headSchema, item);

/** Says which workflow has a name, and its newest version, so that a name is turned into a definition by two reads. */
export const nameItem = (orgId: string, name: string, row: z.output<typeof nameSchema>): Item =>
  makeRow(keys.workflowName(orgId, name), row);
export const readName = (item: Item): z.output<typeof nameSchema> => readRow(nameSchema, item);

export interface StoredVersion {
  readonly id: string;
  readonly version: number;
  readonly definition: WorkflowDefinition;
  readonly createdBy: string;
  readonly createdAt: string;
}

export const versionItem = (orgId: string, { definition, ...row }: StoredVersion): Item =>
  makeRow(keys.workflowVersion(orgId, row.id, row.version), { ...row, json: JSON.stringify(definition) });

/** @throws UnreadableRow also when the definition does not fit today's schema */
export const readVersion = (item: Item): StoredVersion => {
  const { json, ...row } = readRow(versionSchema, item);
  const definition = workflowDefinitionSchema.safeParse(parse(item, json));
  if (!definition.success) throw new UnreadableRow(item, 'its definition does not fit the schema.', definition.error);
  return { ...row, definition: definition.data };
};

const parse = (item: Item, json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new UnreadableRow(item, 'its definition is not JSON.', error);
  }
};
