import { keys } from '../kernel/keys.ts';
import type { Log } from '../kernel/ports.ts';
import type { Table } from '../kernel/table.ts';
import { type Listed, listRows, type PageRequest } from '../tenancy/list-rows.ts';
import { type Endpoint, readEndpoint } from './endpoint.ts';

/** Newest first. */
export const listEndpoints = (
  deps: { readonly table: Table; readonly log: Log },
  orgId: string,
  page: PageRequest,
): Promise<Listed<Endpoint>> => listRows({ ...deps, ...keys.webhooks(orgId), read: readEndpoint }, page);
