import { badRequest, conflict } from '../kernel/errors.ts';
import type { Ids } from '../kernel/ids.ts';
import { keys } from '../kernel/keys.ts';
import type { Clock } from '../kernel/ports.ts';
import { missing, type Table, TransactionRefused } from '../kernel/table.ts';
import { hashApiKey, makeApiKey } from './api-key.ts';
import { apiKeyRows, lookUp } from './api-keys.ts';
import { projectItem } from './project.ts';
import { makeRow } from './row.ts';

export interface Bootstrapped {
  readonly organisationId: string;
  readonly apiKey: string;
}

const LONGEST_NAME = 200;
const OWNER_KEY = /^[\x21-\x7e]{32,1024}$/; // what fits into a header as it is

/**
 * Makes an organisation, its default project and its owner key in one transaction.
 * A given key that exists already leads to its organisation, which makes a repeat harmless (the name is then ignored).
 * @throws AppError 400 for a name or key that cannot be used, 409 `revoked_key` when the given key was revoked
 */
export const bootstrap = async (
  deps: { readonly table: Table; readonly ids: Ids; readonly clock: Clock },
  given: { readonly organisation: unknown; readonly apiKey?: unknown },
): Promise<Bootstrapped> => {
  const name = checkedName(given.organisation);
  const apiKey = given.apiKey === undefined ? makeApiKey() : checkedKey(given.apiKey);
  const known = given.apiKey === undefined ? undefined : await existing(deps.table, apiKey);
  if (known !== undefined) return known;

  const now = deps.clock.now();
  const createdAt = new Date(now).toISOString();
  const orgId = deps.ids.next('org', now);
  const project = { id: deps.ids.next('prj', now), name: 'Default', createdAt };
  const organisation = { id: orgId, name, createdAt, defaultProjectId: project.id };
  const owner = { orgId, name: 'owner', scopes: ['admin'] as const };
  try {
    await deps.table.transact([
      { put: makeRow(keys.organisation(orgId), organisation), if: missing('pk') },
      { put: projectItem(orgId, project), if: missing('pk') },
      ...apiKeyRows(deps.ids.next('key', now), apiKey, owner, now).writes,
    ]);
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error;
    const made = await existing(deps.table, apiKey); // by somebody who started at the same time
    if (made === undefined) throw error;
    return made;
  }
  return { organisationId: orgId, apiKey };
};

const existing = async (table: Table, apiKey: string): Promise<Bootstrapped | undefined> => {
  const lookup = await lookUp(table, hashApiKey(apiKey));
  if (lookup?.revokedAt !== undefined) {
    throw conflict('revoked_key', `This API key was revoked at ${lookup.revokedAt}: choose another one.`);
  }
  return lookup === undefined ? undefined : { organisationId: lookup.orgId, apiKey };
};

const checkedName = (name: unknown): string => {
  if (typeof name === 'string' && name.trim() !== '' && name.length <= LONGEST_NAME) return name.trim();
  const received = typeof name === 'string' ? `string of ${name.length} characters` : typeof name;
  const expected = `the organisation's name, 1 to ${LONGEST_NAME} characters`;
  throw badRequest('The organisation has no usable name.', [{ field: 'organisation', received, expected }]);
};

const checkedKey = (key: unknown): string => {
  if (typeof key === 'string' && OWNER_KEY.test(key)) return key;
  const received = typeof key === 'string' ? `string of ${key.length} characters` : typeof key;
  const expected = '32 to 1024 printable ASCII characters without spaces';
  throw badRequest(`An owner key has ${expected}; this is a ${received}.`, [{ field: 'apiKey', received, expected }]);
};
