/** How policies are kept: one small head row that conditions are asked of, and one row for each version. */
import * as z from 'zod';
import { UnreadableRow } from '../../kernel/errors.ts';
import { keys } from '../../kernel/keys.ts';
import type { Item } from '../../kernel/table.ts';
import { makeRow, readRow } from '../../tenancy/row.ts';
import { type Policy, policySchema } from './policy.ts';

/** Versions have six digits in their key. */
export const MOST_VERSIONS = 999_999;

const version = z.int().min(1).max(MOST_VERSIONS);

const headSchema = z.object({ version });

const versionSchema = z.object({
  version,
  /** JSON text: it comes back exactly as it was stored. */
  json: z.string(),
  at: z.iso.datetime(),
  /** Id of the key that saved it. */
  by: z.string(),
});

export interface PolicyVersion {
  readonly version: number;
  readonly policy: Policy;
  readonly at: string;
  readonly by: string;
}

export const headItem = (orgId: string, version: number): Item => makeRow(keys.policy(orgId), { version });
/** The version that stands. @throws UnreadableRow */
export const readHead = (item: Item): number => readRow(headSchema, item).version;

export const versionItem = (orgId: string, { policy, ...row }: PolicyVersion): Item =>
  makeRow(keys.policyVersion(orgId, row.version), { ...row, json: JSON.stringify(policy) });

/** @throws UnreadableRow also when the policy does not fit today's schema */
export const readVersion = (item: Item): PolicyVersion => {
  const { json, ...row } = readRow(versionSchema, item);
  const policy = policySchema.safeParse(parse(item, json));
  if (!policy.success) throw new UnreadableRow(item, 'its policy does not fit the schema.', policy.error);
  return { ...row, policy: policy.data };
};

const parse = (item: Item, json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new UnreadableRow(item, 'its policy is not JSON.', error);
  }
};
