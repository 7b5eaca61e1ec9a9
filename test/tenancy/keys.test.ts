import { describe, expect, it } from 'vitest';
import { UnreadableRow } from '../../lib/kernel/errors.ts';
import { makeIds } from '../../lib/kernel/ids.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { set, type Table } from '../../lib/kernel/table.ts';
import { hashApiKey, isMistyped, makeApiKey } from '../../lib/tenancy/api-key.ts';
import { createApiKey, listApiKeys, revokeApiKey } from '../../lib/tenancy/api-keys.ts';
import { makeAuthenticator } from '../../lib/tenancy/authenticate.ts';
import { bootstrap } from '../../lib/tenancy/bootstrap.ts';
import { allows, SCOPES } from '../../lib/tenancy/scope.ts';
import { makeFakeClock } from '../support/fake-clock.ts';
import { makeMemoryTable } from '../support/memory-table.ts';

const setUp = async () => {
  const clock = makeFakeClock();
  const deps = { table: makeMemoryTable(), ids: makeIds(), clock };
  const owner = await bootstrap(deps, { organisation: 'A' });
  const make = (scopes: readonly ('read' | 'admin')[], expiresAt?: string) =>
    createApiKey(deps, { orgId: owner.organisationId, name: 'k', scopes, expiresAt }, clock.now());
  return { ...deps, owner, orgId: owner.organisationId, make };
};

describe('an API key', () => {
  it('has 256 bits of text and a checksum that finds every single wrong character', () => {
    const key = makeApiKey();
    expect(key).toMatch(/^baton_[0-9A-Za-z]{49}$/);
    expect(isMistyped(key)).toBe(false);
    for (let i = 6; i < key.length; i++) {
      expect(isMistyped(key.slice(0, i) + (key[i] === 'a' ? 'b' : 'a') + key.slice(i + 1))).toBe(true);
    }
    expect(isMistyped(key.slice(0, -1))).toBe(true);
    expect(isMistyped(`${key}0`)).toBe(true);
    expect(isMistyped('any-other-owner-key-of-32-characters')).toBe(false);
    expect(makeApiKey(() => new Uint8Array(32))).toBe(makeApiKey(() => new Uint8Array(32)));
  });

  it('is stored as its hash only', async () => {
    const { table, owner, make } = await setUp();
    const made = await make(['read']);
    const stored = JSON.stringify(table.dump());
    for (const secret of [owner.apiKey, made.apiKey]) {
      expect(stored).not.toContain(secret);
      expect(stored).toContain(hashApiKey(secret));
    }
  });

  it('has scopes that are a ladder', () => {
    for (const [i, held] of SCOPES.entries()) {
      for (const [j, needed] of SCOPES.entries()) expect(allows([held], needed)).toBe(i >= j);
    }
    expect(allows([], 'read')).toBe(false);
  });
});

describe('revoking', () => {
  it('is effective in another process within 30 seconds', async () => {
    const { table, clock, make, orgId } = await setUp();
    const other = makeAuthenticator({ table, clock });
    const { apiKey, id } = await make(['read']);
    await other.authenticate(apiKey);
    await revokeApiKey(table, orgId, id, clock.now());
    await clock.advance(29_999);
    await expect(other.authenticate(apiKey)).rejects.toMatchObject({ status: 401, code: 'revoked_key' });
  });

  it('leaves one usable admin key', async () => {
    const { table, clock, owner, orgId, make } = await setUp();
    const listed = await listApiKeys(table, orgId, { limit: 10 });
    const ownerKeyId = listed.items[0]?.id ?? '';
    await make(['read']);
    await make(['admin'], new Date(clock.now() - 1).toISOString()); // expired: no help
    await expect(revokeApiKey(table, orgId, ownerKeyId, clock.now())).rejects.toMatchObject({ code: 'last_admin_key' });
    await make(['admin']);
    await revokeApiKey(table, orgId, ownerKeyId, clock.now());
    await expect(makeAuthenticator({ table, clock }).authenticate(owner.apiKey)).rejects.toMatchObject({ status: 401 });
  });

  it('of the two last admin keys at once leaves one', async () => {
    const { table, clock, orgId, make } = await setUp();
    const first = (await listApiKeys(table, orgId, { limit: 10 })).items[0]?.id ?? '';
    const second = (await make(['admin'])).id;
    const both = await Promise.allSettled([first, second].map((id) => revokeApiKey(table, orgId, id, clock.now())));
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('answers 404 for unknown and malformed ids', async () => {
    const { table, clock, orgId } = await setUp();
    for (const id of [`key_${'0'.repeat(26)}`, 'key_x', 'x#y']) {
      await expect(revokeApiKey(table, orgId, id, clock.now())).rejects.toMatchObject({ status: 404 });
    }
  });
});

describe('authentication', () => {
  it('reads the table once in 20 seconds', async () => {
    const { table, clock, owner } = await setUp();
    let reads = 0;
    const counting: Table = {
      ...table,
      get: (...args) => {
        reads += 1;
        return table.get(...args);
      },
    };
    const authenticator = makeAuthenticator({ table: counting, clock });
    for (let i = 0; i < 5; i++) await authenticator.authenticate(owner.apiKey);
    expect(reads).toBe(1);
    await clock.advance(20_000);
    await authenticator.authenticate(owner.apiKey);
    expect(reads).toBe(2);
  });

  it('keeps the last use once an hour, and a failure of that is nobody else’s', async () => {
    const { table, clock, owner, orgId } = await setUp();
    let writes = 0;
    const counting: Table = {
      ...table,
      update: (...args) => {
        writes += 1;
        return table.update(...args);
      },
    };
    const authenticator = makeAuthenticator({ table: counting, clock });
    const principal = await authenticator.authenticate(owner.apiKey);
    await authenticator.noteUse(principal);
    await authenticator.noteUse(principal);
    expect(writes).toBe(1);
    const used = (await listApiKeys(table, orgId, { limit: 1 })).items[0]?.lastUsedAt;
    expect(used).toBe(new Date(clock.now()).toISOString());
    await makeAuthenticator({ table, clock }).noteUse(principal); // another process, same hour: refused, ignored
    const failing = makeAuthenticator({ table: { ...table, update: () => Promise.reject(new Error('down')) }, clock });
    await expect(failing.noteUse(principal)).resolves.toBeUndefined();
    await clock.advance(3_600_001);
    await authenticator.noteUse(principal);
    expect(writes).toBe(2);
  });

  it('refuses to read a row of a newer version', async () => {
    const { table, clock, owner } = await setUp();
    await table.update(keys.apiKeyLookup(hashApiKey(owner.apiKey)), [set('v', 2)]);
    await expect(makeAuthenticator({ table, clock }).authenticate(owner.apiKey)).rejects.toBeInstanceOf(UnreadableRow);
  });

  it('takes any owner key that bootstrap was given, also one that looks like ours and is not', async () => {
    const deps = { table: makeMemoryTable(), ids: makeIds(), clock: makeFakeClock() };
    const authenticator = makeAuthenticator(deps);
    for (const apiKey of ['any-other-owner-key-of-32-characters', `baton_${'x'.repeat(40)}`]) {
      const { organisationId } = await bootstrap(deps, { organisation: 'A', apiKey });
      expect(await authenticator.authenticate(apiKey)).toMatchObject({ orgId: organisationId, scopes: ['admin'] });
    }
  });
});

describe('bootstrap', () => {
  it('is idempotent for a given key, also at the same moment', async () => {
    const deps = { table: makeMemoryTable(), ids: makeIds(), clock: makeFakeClock() };
    const given = { organisation: 'A', apiKey: 'k'.repeat(32) };
    const made = await Promise.all([bootstrap(deps, given), bootstrap(deps, given)]);
    expect(made[0]).toEqual(made[1]);
    expect(await bootstrap(deps, { ...given, organisation: 'B' })).toEqual(made[0]);
    expect(deps.table.dump().filter(({ sk }) => sk === 'META')).toHaveLength(1);
  });

  it.each([
    [{ organisation: '' }, 'organisation'],
    [{ organisation: 5 }, 'organisation'],
    [{ organisation: 'A', apiKey: 'short' }, 'apiKey'],
    [{ organisation: 'A', apiKey: `${'x'.repeat(40)} y` }, 'apiKey'],
  ])('refuses %j', async (given, field) => {
    const deps = { table: makeMemoryTable(), ids: makeIds(), clock: makeFakeClock() };
    await expect(bootstrap(deps, given)).rejects.toMatchObject({ status: 400, details: { errors: [{ field }] } });
    expect(deps.table.dump()).toEqual([]);
  });

  it('refuses a key that was revoked', async () => {
    const { make, table, clock, orgId, ids } = await setUp();
    const { apiKey, id } = await make(['read']);
    await revokeApiKey(table, orgId, id, clock.now());
    await expect(bootstrap({ table, ids, clock }, { organisation: 'A', apiKey })).rejects.toMatchObject({
      code: 'revoked_key',
    });
  });
});
