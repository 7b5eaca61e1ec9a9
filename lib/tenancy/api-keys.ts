import * as z from 'zod';
import { conflict, notFound } from '../kernel/errors.ts';
import { type Ids, isId } from '../kernel/ids.ts';
import { keys } from '../kernel/keys.ts';
import {
  type Condition,
  eq,
  exists,
  type Item,
  missing,
  set,
  type Table,
  TransactionRefused,
  type Write,
} from '../kernel/table.ts';
import type { Alongside } from './alongside.ts';
import { hashApiKey, makeApiKey } from './api-key.ts';
import { type Listed, listRows, type PageRequest } from './list-rows.ts';
import { getOrganisation } from './organisation.ts';
import { makeRow, readRow } from './row.ts';
import { allows, SCOPES, type Scope } from './scope.ts';

const listingSchema = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  hash: z.string(),
  createdAt: z.iso.datetime(),
  createdBy: z.string().optional(),
  expiresAt: z.iso.datetime().optional(),
  revokedAt: z.iso.datetime().optional(),
  /** Coarse: written at most once an hour. */
  lastUsedAt: z.iso.datetime().optional(),
});
type Listing = z.output<typeof listingSchema>;
export type ApiKey = Omit<Listing, 'hash'>;

const lookupSchema = z.object({
  orgId: z.string(),
  keyId: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  expiresAt: z.iso.datetime().optional(),
  revokedAt: z.iso.datetime().optional(),
});
/** What a key's hash leads to. */
export type Lookup = z.output<typeof lookupSchema>;

/** @returns `undefined` when no such key was ever made */
export const lookUp = async (table: Table, hash: string): Promise<Lookup | undefined> => {
  const item = await table.get(keys.apiKeyLookup(hash), { consistent: true });
  return item === undefined ? undefined : readRow(lookupSchema, item);
};

export interface NewApiKey {
  readonly orgId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: string | undefined;
  readonly createdBy?: string | undefined;
}

/** Both rows of a key: the listing side under the organisation, the lookup side under the hash. */
export const apiKeyRows = (
  id: string,
  secret: string,
  given: NewApiKey,
  nowMs: number,
): { key: ApiKey; writes: Write[] } => {
  const hash = hashApiKey(secret);
  const { orgId, name, expiresAt, createdBy } = given;
  const scopes = [...given.scopes];
  const createdAt = new Date(nowMs).toISOString();
  const listing = makeRow(keys.apiKey(orgId, id), { id, name, scopes, hash, createdAt, createdBy, expiresAt });
  const lookup = makeRow(keys.apiKeyLookup(hash), { orgId, keyId: id, scopes, expiresAt });
  return { key: shown(listing), writes: [lookup, listing].map((put) => ({ put, if: missing('pk') })) };
};

const shown = (item: Item): ApiKey => {
  const { hash: _, ...rest } = readRow(listingSchema, item);
  return rest;
};

/** Makes a key. The secret is in this answer and nowhere else. */
export const createApiKey = async (
  deps: { readonly table: Table; readonly ids: Ids },
  given: NewApiKey & { readonly alongside?: Alongside<ApiKey> | undefined },
  nowMs: number,
): Promise<ApiKey & { readonly apiKey: string }> => {
  const secret = makeApiKey();
  const { key, writes } = apiKeyRows(deps.ids.next('key', nowMs), secret, given, nowMs);
  await deps.table.transact([...writes, ...(given.alongside?.(key) ?? [])]);
  return { ...key, apiKey: secret };
};

/** Newest first; revoked keys stay in the list with `revokedAt`. */
export const listApiKeys = (table: Table, orgId: string, page: PageRequest): Promise<Listed<ApiKey>> =>
  listRows({ table, ...keys.apiKeys(orgId), read: shown }, page);

const MOST_TRIES = 5;

/**
 * Revokes a key; other processes notice within 30 seconds. Repeating it changes nothing.
 * @returns the hash, so that this process can forget the key at once
 * @throws AppError 404; 409 `last_admin_key`, because nobody could make a key afterwards
 */
export const revokeApiKey = async (table: Table, orgId: string, keyId: string, nowMs: number): Promise<string> => {
  const key = keys.apiKey(orgId, keyId);
  for (let attempt = 1; ; attempt++) {
    const [organisation, item] = await Promise.all([
      getOrganisation(table, orgId),
      isId('key', keyId) ? table.get(key, { consistent: true }) : undefined,
    ]);
    if (item === undefined) throw notFound('key');
    const { hash, revokedAt } = readRow(listingSchema, item);
    if (revokedAt !== undefined) return hash;
    if (!(await anotherAdminRemains(table, orgId, keyId, nowMs))) {
      throw conflict('last_admin_key', 'This is the last key with the scope admin: make another one first.');
    }
    const at = [set('revokedAt', new Date(nowMs).toISOString())];
    const seen: Condition =
      organisation.revocations === undefined ? missing('revocations') : eq('revocations', organisation.revocations);
    try {
      await table.transact([
        { update: keys.organisation(orgId), changes: [{ do: 'add', path: 'revocations', value: 1 }], if: seen },
        { update: key, changes: at, if: exists('pk') },
        { update: keys.apiKeyLookup(hash), changes: at, if: exists('pk') },
      ]);
      return hash;
    } catch (error) {
      // Somebody revoked another key in between: whether an admin key remains has to be looked at again.
      if (!(error instanceof TransactionRefused) || attempt === MOST_TRIES) throw error;
    }
  }
};

const anotherAdminRemains = async (table: Table, orgId: string, keyId: string, nowMs: number): Promise<boolean> => {
  const now = new Date(nowMs).toISOString();
  const usable = (key: ApiKey): boolean =>
    key.id !== keyId &&
    key.revokedAt === undefined &&
    (key.expiresAt === undefined || key.expiresAt > now) &&
    allows(key.scopes, 'admin');
  let start: string | undefined;
  do {
    const page = await listApiKeys(table, orgId, { limit: 100, start });
    if (page.items.some(usable)) return true;
    start = page.next;
  } while (start !== undefined);
  return false;
};
