import { keys } from '../../kernel/keys.ts';
import type { Log } from '../../kernel/ports.ts';
import type { Table } from '../../kernel/table.ts';
import { type Listed, listRows, type PageRequest } from '../../tenancy/list-rows.ts';
import { type PolicyVersion, readVersion } from './policy-row.ts';

/** Every version that was saved, newest first. */
export const listPolicyVersions = (
  { table, log }: { readonly table: Table; readonly log: Log },
  orgId: string,
  page: PageRequest,
): Promise<Listed<PolicyVersion>> => listRows({ table, log, ...keys.policyVersions(orgId), read: readVersion }, page);
