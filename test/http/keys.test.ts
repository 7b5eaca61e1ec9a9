import { describe, expect, it } from 'vitest';
import { makeHarness } from './support/harness.ts';

describe('/v1/keys', () => {
  it('shows a key once and lists without it', async () => {
    const h = await makeHarness();
    await h.clock.advance(10);
    const made = await h.call('POST', '/v1/keys', { name: 'ci', scopes: ['run', 'run'] });
    expect(made.status).toBe(201);
    expect(made.json.apiKey).toMatch(/^baton_/);
    expect(made.json.scopes).toEqual(['run']);
    expect(made.json).not.toHaveProperty('hash');
    await h.call('GET', '/v1/agents', undefined, { key: made.json.apiKey as string });
    const listed = await h.call('GET', '/v1/keys');
    expect(listed.text).not.toContain(made.json.apiKey);
    expect(listed.text).not.toContain('hash');
    expect(listed.json.items).toMatchObject([
      { id: made.json.id, name: 'ci', lastUsedAt: new Date(h.clock.now()).toISOString() },
      { name: 'owner', scopes: ['admin'] },
    ]);
  });

  it.each([
    [{ name: 'k', scopes: [] }, 'scopes'],
    [{ name: 'k', scopes: ['root'] }, 'scopes[0]'],
    [{ name: 'k' }, 'scopes'],
    [{ name: 'k', scopes: ['read'], expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    [{ name: 'k', scopes: ['read'], expiresAt: 'tomorrow' }, 'expiresAt'],
  ])('refuses %j', async (body, field) => {
    const h = await makeHarness();
    const refused = await h.call('POST', '/v1/keys', body);
    expect(refused.status).toBe(400);
    expect(refused.json.errors).toMatchObject([{ field }]);
  });

  it('keeps the last admin key', async () => {
    const h = await makeHarness();
    const listed = await h.call('GET', '/v1/keys');
    const [owner] = listed.json.items as unknown as { id: string }[];
    const refused = await h.call('DELETE', `/v1/keys/${owner?.id}`);
    expect([refused.status, refused.json.code]).toEqual([409, 'last_admin_key']);
  });
});

describe('/v1/providers', () => {
  it('never shows a key', async () => {
    const h = await makeHarness();
    const body = { baseUrl: 'https://m.example/v1', apiKey: 'sk-hidden', models: [{ name: 'm', contextTokens: 9000 }] };
    const made = await h.call('PUT', '/v1/providers/mine', body);
    expect(made.status).toBe(201);
    const again = await h.call('PUT', '/v1/providers/mine', { ...body, default: true });
    expect(again.status).toBe(200);
    const listed = await h.call('GET', '/v1/providers');
    expect(listed.json.items).toMatchObject([{ name: 'mine', hasKey: true, default: true, models: body.models }]);
    expect(made.text + again.text + listed.text + JSON.stringify(h.table.dump())).not.toContain('sk-hidden');
    expect((await h.call('DELETE', '/v1/providers/mine')).status).toBe(204);
    expect((await h.call('DELETE', '/v1/providers/mine')).status).toBe(404);
  });

  it.each([
    [{ baseUrl: 'ftp://m.example', models: [{ name: 'm' }] }, 'baseUrl'],
    [{ baseUrl: 'nonsense', models: [{ name: 'm' }] }, 'baseUrl'],
    [{ baseUrl: 'https://user:pw@m.example', models: [{ name: 'm' }] }, 'baseUrl'],
    [{ baseUrl: 'https://m.example', models: [] }, 'models'],
    [{ baseUrl: 'https://m.example', models: [{ name: 'm' }, { name: 'm' }] }, 'models'],
    [{ baseUrl: 'https://m.example', models: [{ name: 'm', price: 1 }] }, 'models[0].price'],
    [{ baseUrl: 'https://m.example', models: [{ name: 'm' }], apiKey: 'a b' }, 'apiKey'],
  ])('refuses %j', async (body, field) => {
    const h = await makeHarness();
    const refused = await h.call('PUT', '/v1/providers/mine', body);
    expect(refused.status).toBe(400);
    expect(refused.json.errors).toMatchObject([{ field }]);
  });
});

describe('/v1/organisation', () => {
  it('stops once and resumes, waking what stood', async () => {
    const h = await makeHarness();
    const stopped = await h.call('POST', '/v1/organisation/stop');
    expect(stopped.json.stopped).toMatchObject({ at: new Date(h.clock.now()).toISOString() });
    await h.clock.advance(1_000);
    expect((await h.call('POST', '/v1/organisation/stop')).json.stopped).toEqual(stopped.json.stopped);
    expect((await h.call('GET', '/v1/organisation')).json.stopped).toEqual(stopped.json.stopped);
    expect((await h.call('GET', '/v1/organisation', undefined, { key: h.b.apiKey })).json).not.toHaveProperty(
      'stopped',
    );
    for (let i = 0; i < 2; i++) {
      const resumed = await h.call('POST', '/v1/organisation/resume');
      expect(resumed.status).toBe(200);
      expect(resumed.json).not.toHaveProperty('stopped');
    }
    expect(h.executions.calls).toEqual([`wake ${h.a.organisationId}`, `wake ${h.a.organisationId}`]);
  });
});
