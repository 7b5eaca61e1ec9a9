import * as z from 'zod';
import { badRequest, notFound } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import type { Secrets } from '../kernel/ports.ts';
import {
  type Change,
  exists,
  type Item,
  remove,
  set,
  type Table,
  TransactionRefused,
  type Write,
} from '../kernel/table.ts';
import { getOrganisation, inTurn, type Organisation } from './organisation.ts';
import { makeRow, readRow } from './row.ts';

const modelSchema = z.object({
  name: z.string(),
  /** Tokens that fit into one call. */
  contextTokens: z.number().optional(),
  /** US dollars per million tokens. */
  inputUsdPerM: z.number().optional(),
  outputUsdPerM: z.number().optional(),
});
export type ProviderModel = z.output<typeof modelSchema>;

const rowSchema = z.object({
  name: z.string(),
  baseUrl: z.string(),
  models: z.array(modelSchema),
  hasKey: z.boolean(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

/** A model account of an organisation. Its key is a secret of its own and never part of this. */
export type Provider = z.output<typeof rowSchema> & { readonly default: boolean };

/** Names of provider keys in the `Secrets` port. */
export const providerSecret = (orgId: string, name: string): string => `org/${orgId}/provider/${name}`;

const MOST_PROVIDERS = 50;
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

interface Deps {
  readonly table: Table;
  readonly secrets: Secrets;
}

export interface GivenProvider {
  readonly baseUrl: string;
  /** Left out: the key that is stored stays. */
  readonly apiKey?: string | undefined;
  readonly models: readonly ProviderModel[];
  /** Used where an agent names no model. */
  readonly default?: boolean | undefined;
}

/** All of an organisation, by name. */
export const listProviders = async (table: Table, orgId: string): Promise<Provider[]> => {
  const [organisation, page] = await Promise.all([
    getOrganisation(table, orgId),
    table.query({ ...keys.providers(orgId), consistent: true }),
  ]);
  return page.items.map((item) => shown(item, organisation.defaultProvider));
};

const shown = (item: Item, defaultProvider: string | undefined): Provider => {
  const row = readRow(rowSchema, item);
  return { ...row, default: row.name === defaultProvider };
};

/** Who makes one at the same moment as others goes after them, and counts anew. */
const MAX_TRIES = 10;

/**
 * Makes or replaces a model account.
 * The secret is written first: a crash in between leaves a key that nothing uses, never an account with a wrong key.
 * @throws AppError 400; TransactionRefused when others were faster each time
 */
export const putProvider = async (
  deps: Deps,
  orgId: string,
  name: string,
  given: GivenProvider,
  nowMs: number,
): Promise<{ readonly provider: Provider; readonly created: boolean }> => {
  checkName(name);
  for (let attempt = 1; ; attempt++) {
    const { organisation, old } = await roomFor(deps.table, orgId, name);
    demandKeyForNewHost(old, given);
    if (given.apiKey !== undefined && attempt === 1) await deps.secrets.put(providerSecret(orgId, name), given.apiKey);
    const row = rowOf(name, given, old, new Date(nowMs).toISOString());
    try {
      await deps.table.transact([
        { put: makeRow(keys.provider(orgId, name), row) },
        ...organisationWrite(organisation, name, given.default, old === undefined),
      ]);
    } catch (error) {
      if (!(error instanceof TransactionRefused) || attempt === MAX_TRIES) throw error;
      continue;
    }
    const isDefault = given.default ?? organisation.defaultProvider === name;
    return { provider: { ...row, default: isDefault }, created: old === undefined };
  }
};

/** The organisation is read before its accounts are counted. @throws AppError 400 when there is no room for one more */
const roomFor = async (table: Table, orgId: string, name: string) => {
  const organisation = await getOrganisation(table, orgId);
  const all = await listProviders(table, orgId);
  const old = all.find((provider) => provider.name === name);
  if (old === undefined && all.length >= MOST_PROVIDERS) {
    throw badRequest(`An organisation has at most ${MOST_PROVIDERS} providers.`, [], 'too_many_providers');
  }
  return { organisation, old };
};

const rowOf = (name: string, given: GivenProvider, old: Provider | undefined, now: string) => ({
  name,
  baseUrl: given.baseUrl,
  models: given.models.map(present),
  hasKey: given.apiKey !== undefined || (old?.hasKey ?? false),
  createdAt: old?.createdAt ?? now,
  updatedAt: now,
});

const organisationWrite = (
  organisation: Organisation,
  name: string,
  wanted: boolean | undefined,
  isNew: boolean,
): readonly Write[] => {
  const change = defaultChange(organisation.defaultProvider, name, wanted);
  const turn = isNew ? inTurn(organisation, 'madeProviders') : { changes: [], if: exists('pk') };
  const changes = [...turn.changes, ...(change === undefined ? [] : [change])];
  return changes.length === 0 ? [] : [{ update: keys.organisation(organisation.id), changes, if: turn.if }];
};

const present = (model: ProviderModel) => ({
  name: model.name,
  ...(model.contextTokens === undefined ? {} : { contextTokens: model.contextTokens }),
  ...(model.inputUsdPerM === undefined ? {} : { inputUsdPerM: model.inputUsdPerM }),
  ...(model.outputUsdPerM === undefined ? {} : { outputUsdPerM: model.outputUsdPerM }),
});

const defaultChange = (current: string | undefined, name: string, wanted: boolean | undefined): Change | undefined => {
  if (wanted === true && current !== name) return set('defaultProvider', name);
  if (wanted === false && current === name) return remove('defaultProvider');
  return undefined;
};

/** A stored key goes to no other host than the one it was given for. */
const demandKeyForNewHost = (old: Provider | undefined, given: GivenProvider): void => {
  if (old === undefined || !old.hasKey || given.apiKey !== undefined) return;
  if (new URL(old.baseUrl).origin === new URL(given.baseUrl).origin) return;
  const expected = 'the key again, because baseUrl names another host';
  throw badRequest('The key is needed again.', [{ field: 'apiKey', received: 'nothing', expected }]);
};

/** @throws AppError 404 */
export const deleteProvider = async (deps: Deps, orgId: string, name: string): Promise<void> => {
  checkName(name);
  const [organisation, item] = await Promise.all([
    getOrganisation(deps.table, orgId),
    deps.table.get(keys.provider(orgId, name), { consistent: true }),
  ]);
  if (item === undefined) throw notFound('provider');
  // The secret goes first: when this stops half-way, the row is still there to be deleted again.
  await deps.secrets.delete(providerSecret(orgId, name));
  const writes: Write[] = [{ delete: keys.provider(orgId, name) }];
  if (organisation.defaultProvider === name) {
    writes.push({ update: keys.organisation(orgId), changes: [remove('defaultProvider')], if: exists('pk') });
  }
  await deps.table.transact(writes);
};

const checkName = (name: string): void => {
  if (NAME.test(name)) return;
  const expected = '1 to 64 of a-z, 0-9, - and _, beginning with a letter or digit';
  throw badRequest('The provider has no usable name.', [
    { field: 'name', received: `string of ${name.length} characters`, expected },
  ]);
};
