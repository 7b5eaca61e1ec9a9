import { beforeEach, describe, expect, it } from 'vitest';
import { makeIds } from '../../lib/kernel/ids.ts';
import { bootstrap } from '../../lib/tenancy/bootstrap.ts';
import { deleteProvider, listProviders, providerSecret, putProvider } from '../../lib/tenancy/providers.ts';
import { resolveModel } from '../../lib/tenancy/resolve-model.ts';
import { makeFakeClock } from '../support/fake-clock.ts';
import { makeMemorySecrets } from '../support/memory-secrets.ts';
import { makeMemoryTable } from '../support/memory-table.ts';

const setUp = async () => {
  const deps = { table: makeMemoryTable(), ids: makeIds(), clock: makeFakeClock(), secrets: makeMemorySecrets() };
  const { organisationId: orgId } = await bootstrap(deps, { organisation: 'A' });
  const put = (name: string, given: object = {}) =>
    putProvider(
      deps,
      orgId,
      name,
      { baseUrl: `https://${name}.example/v1`, apiKey: `key-${name}`, models: [{ name: `model-${name}` }], ...given },
      1_000,
    );
  return { ...deps, orgId, put };
};

let t: Awaited<ReturnType<typeof setUp>>;
beforeEach(async () => {
  t = await setUp();
});

describe('the limit of providers', () => {
  it('holds for those that are made at once, and one that is there can still be replaced', async () => {
    for (let n = 0; n < 47; n++) await t.put(`one-${n}`);
    const made = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((name) => t.put(name)));
    const refused = made.filter((one) => one.status === 'rejected').map(({ reason }) => reason.code);
    expect(refused).toEqual(['too_many_providers', 'too_many_providers']);
    expect(await listProviders(t.table, t.orgId)).toHaveLength(50);
    expect(await t.put('one-3', { default: true })).toMatchObject({ created: false, provider: { default: true } });
  });

  it('made twice at once is made once, and replaced by the other', async () => {
    const both = await Promise.all([t.put('one', { default: true }), t.put('one')]);
    expect(both.map(({ created }) => created).toSorted()).toEqual([false, true]);
    expect((await listProviders(t.table, t.orgId)).map((one) => [one.name, one.default])).toEqual([['one', true]]);
  });
});

describe('a provider', () => {
  it('keeps its key as a secret and never in a row', async () => {
    const made = await t.put('one');
    expect(made).toMatchObject({ created: true, provider: { hasKey: true, default: false } });
    expect(JSON.stringify(t.table.dump())).not.toContain('key-one');
    expect(await t.secrets.get(providerSecret(t.orgId, 'one'))).toBe('key-one');
  });

  it('keeps a key that is not given again, for the same host only', async () => {
    await t.put('one');
    const same = await t.put('one', { apiKey: undefined, baseUrl: 'https://one.example/v2' });
    expect(same).toMatchObject({ created: false, provider: { hasKey: true, baseUrl: 'https://one.example/v2' } });
    await expect(t.put('one', { apiKey: undefined, baseUrl: 'https://thief.example/v1' })).rejects.toMatchObject({
      status: 400,
      details: { errors: [{ field: 'apiKey' }] },
    });
  });

  it('is the default alone', async () => {
    await t.put('one', { default: true });
    await t.put('two', { default: true });
    expect((await listProviders(t.table, t.orgId)).map((one) => [one.name, one.default])).toEqual([
      ['one', false],
      ['two', true],
    ]);
    await t.put('two', { default: false });
    expect((await listProviders(t.table, t.orgId)).every((one) => !one.default)).toBe(true);
  });

  it('is deleted with its key', async () => {
    await t.put('one', { default: true });
    await deleteProvider(t, t.orgId, 'one');
    expect(await t.secrets.get(providerSecret(t.orgId, 'one'))).toBeUndefined();
    expect(await listProviders(t.table, t.orgId)).toEqual([]);
    await expect(deleteProvider(t, t.orgId, 'one')).rejects.toMatchObject({ status: 404 });
  });

  it.each(['', 'A', 'x y', '../y', 'x'.repeat(65), 'a#b'])('has no name like %j', async (name) => {
    await expect(t.put(name)).rejects.toMatchObject({ status: 400 });
  });
});

describe('resolving a model', () => {
  const operator = JSON.stringify({ baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'op', model: 'op-model' });

  it('finds nothing where there is no account', async () => {
    expect(await resolveModel(t, t.orgId, undefined)).toBeUndefined();
    expect(await resolveModel(t, t.orgId, 'gpt-x')).toBeUndefined();
  });

  it('takes the operator’s account, trusted', async () => {
    await t.secrets.put('model', operator);
    const account = { baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'op', trusted: true };
    expect(await resolveModel(t, t.orgId, undefined)).toEqual({ account, model: 'op-model', overrides: [] });
    expect(await resolveModel(t, t.orgId, 'gpt-x')).toEqual({ account, model: 'gpt-x', overrides: [] });
  });

  it('prefers the organisation’s own: by name, else the default’s first model', async () => {
    await t.secrets.put('model', operator);
    const priced = { name: 'm2', inputUsdPerM: 1, outputUsdPerM: 2, contextTokens: 9_000 };
    await t.put('one', { models: [{ name: 'm1' }, priced] });
    expect(await resolveModel(t, t.orgId, 'm2')).toEqual({
      account: { baseUrl: 'https://one.example/v1', apiKey: 'key-one', trusted: false },
      model: 'm2',
      overrides: [priced],
      contextTokens: 9_000,
    });
    expect((await resolveModel(t, t.orgId, undefined))?.account.trusted).toBe(true);
    await t.put('two', { models: [{ name: 'm9' }, { name: 'm2' }], default: true });
    expect((await resolveModel(t, t.orgId, undefined))?.model).toBe('m9');
    expect((await resolveModel(t, t.orgId, 'm2'))?.account.apiKey).toBe('key-two');
  });

  it('does not quote an operator’s account that cannot be read', async () => {
    await t.secrets.put('model', '{"apiKey":"sk-secret"');
    const failed = await resolveModel(t, t.orgId, undefined).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 'model_account_malformed' });
    expect(String(failed) + JSON.stringify(failed)).not.toContain('sk-secret');
  });
});
