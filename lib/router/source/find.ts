import * as z from 'zod';
import { notFound } from '../../kernel/errors.ts';
import { keys } from '../../kernel/keys.ts';
import type { Log } from '../../kernel/ports.ts';
import type { Item, Table } from '../../kernel/table.ts';
import { type Listed, listRows, type PageRequest } from '../../tenancy/list-rows.ts';
import { makeRow, readRow } from '../../tenancy/row.ts';
import { readSource, type Source } from './source.ts';

/** @throws UnreadableRow */
export const findSource = async (table: Table, orgId: string, sourceId: string): Promise<Source | undefined> => {
  const item = await table.get(keys.source(orgId, sourceId), { consistent: true });
  return item && readSource(item);
};

/** @throws AppError 404 */
export const getSource = async (table: Table, orgId: string, sourceId: string): Promise<Source> => {
  const source = await findSource(table, orgId, sourceId);
  if (source === undefined) throw notFound('source');
  return source;
};

/** Newest first. */
export const listSources = (
  deps: { readonly table: Table; readonly log: Log },
  orgId: string,
  page: PageRequest,
): Promise<Listed<Source>> => listRows({ ...deps, ...keys.sources(orgId), read: readSource }, page);

const lookupSchema = z.object({ orgId: z.string() });

/** A provider's request names the source and no organisation. */
export const lookupItem = ({ orgId, id }: Pick<Source, 'orgId' | 'id'>): Item =>
  makeRow(keys.sourceLookup(id), { orgId });

/** @throws UnreadableRow */
export const organisationOf = async (table: Table, sourceId: string): Promise<string | undefined> => {
  const item = await table.get(keys.sourceLookup(sourceId), { consistent: true });
  return item && readRow(lookupSchema, item).orgId;
};
