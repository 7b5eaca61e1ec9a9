import { AppError } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import type { Clock } from '../kernel/ports.ts';
import { and, eq, lt, missing, or, set, type Table } from '../kernel/table.ts';
import { hashApiKey, isMistyped } from './api-key.ts';
import { type Lookup, lookUp } from './api-keys.ts';
import { ROW_VERSION } from './row.ts';
import { allows, type Scope } from './scope.ts';

/** Who asks. */
export interface Principal {
  readonly orgId: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
}

export interface Authenticator {
  /** @throws AppError 401: `missing_key`, `malformed_key`, `unknown_key`, `expired_key`, `revoked_key` */
  authenticate(apiKey: string | undefined): Promise<Principal>;
  /** Forgets a key in this process at once. */
  forget(hash: string): void;
  /** Keeps when the key was last used, at most one write per hour and key. It never fails. */
  noteUse(principal: Principal): Promise<void>;
}

/** A revocation is effective everywhere within 30 s; 20 leaves room for a slow request. */
const REMEMBERED_MS = 20_000;
const MOST_REMEMBERED = 1_000;
const HOUR_MS = 3_600_000;
const LONGEST_KEY = 1_024;

const refused = (code: string, message: string): AppError => new AppError(401, code, message);

/** One per process: it remembers the keys it saw in the last seconds. */
export const makeAuthenticator = (deps: { readonly table: Table; readonly clock: Clock }): Authenticator => {
  const remembered = new Map<string, { readonly lookup: Lookup; readonly until: number }>();
  const noted = new Map<string, number>();

  const find = async (hash: string): Promise<Lookup | undefined> => {
    const known = remembered.get(hash);
    if (known !== undefined && known.until > deps.clock.now()) return known.lookup;
    const lookup = await lookUp(deps.table, hash);
    remembered.delete(hash);
    if (lookup !== undefined) {
      bound(remembered);
      remembered.set(hash, { lookup, until: deps.clock.now() + REMEMBERED_MS });
    }
    return lookup;
  };

  return {
    async authenticate(apiKey) {
      if (apiKey === undefined || apiKey === '') {
        throw refused(
          'missing_key',
          'An API key is needed: send it as "Authorization: Bearer KEY" or "X-API-Key: KEY".',
        );
      }
      const lookup = apiKey.length > LONGEST_KEY ? undefined : await find(hashApiKey(apiKey));
      if (lookup === undefined) {
        if (isMistyped(apiKey)) {
          throw refused('malformed_key', 'The API key is mistyped or cut off: its checksum does not fit.');
        }
        throw refused('unknown_key', 'There is no such API key.');
      }
      if (lookup.revokedAt !== undefined)
        throw refused('revoked_key', `The API key was revoked at ${lookup.revokedAt}.`);
      if (lookup.expiresAt !== undefined && Date.parse(lookup.expiresAt) <= deps.clock.now()) {
        throw refused('expired_key', `The API key expired at ${lookup.expiresAt}.`);
      }
      return { orgId: lookup.orgId, keyId: lookup.keyId, scopes: lookup.scopes };
    },
    forget: (hash) => void remembered.delete(hash),
    async noteUse({ orgId, keyId }) {
      const now = deps.clock.now();
      if ((noted.get(keyId) ?? Number.NEGATIVE_INFINITY) > now - HOUR_MS) return;
      bound(noted);
      noted.set(keyId, now);
      const longAgo = or(missing('lastUsedAt'), lt('lastUsedAt', new Date(now - HOUR_MS).toISOString()));
      try {
        const used = [set('lastUsedAt', new Date(now).toISOString())];
        await deps.table.update(keys.apiKey(orgId, keyId), used, and(eq('v', ROW_VERSION), longAgo));
      } catch {
        // Another process noted it within this hour, or the table is busy: a coarse mark is not worth a failed request.
      }
    },
  };
};

/** Drops the oldest entry before the map grows beyond what a process should hold. */
const bound = (map: Map<string, unknown>): void => {
  if (map.size < MOST_REMEMBERED) return;
  const oldest = map.keys().next().value;
  if (oldest !== undefined) map.delete(oldest);
};

/** @throws AppError 403 naming the scope that is missing */
export const demandScope = (principal: Principal, needed: Scope): void => {
  if (allows(principal.scopes, needed)) return;
  throw new AppError(
    403,
    'missing_scope',
    `This needs the scope "${needed}"; the key has "${principal.scopes.join(' ')}".`,
    {
      neededScope: needed,
      scopes: principal.scopes,
    },
  );
};
