import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { beforeEach, describe, expect, it } from 'vitest';
import { ID_PARAMS, type Route } from '../../lib/http/define-route.ts';
import { makeRouter } from '../../lib/http/router.ts';
import { ROUTES } from '../../lib/http/routes/all.ts';
import { conflict } from '../../lib/kernel/errors.ts';
import { makeIds } from '../../lib/kernel/ids.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { type Harness, makeHarness } from './support/harness.ts';

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly subject: { readonly type: string; readonly id: string };
  readonly state: string;
  readonly status?: number;
  readonly code?: string;
  readonly details: { readonly [name: string]: unknown };
}

let h: Harness;
beforeEach(async () => {
  h = await makeHarness();
});

const entries = async (query = '', key = h.a.apiKey): Promise<readonly Entry[]> => {
  const { status, json } = await h.call('GET', `/v1/audit${query}`, undefined, { key });
  expect(status).toBe(200);
  return json.items as readonly Entry[];
};

describe('the audit', () => {
  it('says who did what, when, to what, newest first, and no secret', async () => {
    const agent = await h.call('POST', '/v1/agents', { name: 'one' });
    await h.clock.advance(1_000);
    const provider = { baseUrl: 'https://m.example/v1', apiKey: 'sk-very-secret', models: [{ name: 'm' }] };
    await h.call('PUT', '/v1/providers/mine', provider);
    const [put, made] = await entries();
    expect(made).toMatchObject({
      action: 'createAgent',
      actor: expect.stringMatching(/^key_/),
      subject: { type: 'agent', id: agent.json.id },
      state: 'done',
      status: 201,
      at: '2026-03-01T12:00:00.000Z',
      details: { fields: ['name'], values: { name: 'one' } },
    });
    expect(put).toMatchObject({
      action: 'putProvider',
      subject: { type: 'provider', id: 'mine' },
      details: { fields: ['baseUrl', 'apiKey', 'models'] },
    });
    expect(JSON.stringify(h.table.dump().filter(({ pk }) => pk.endsWith('#AUDIT')))).not.toContain('sk-very-secret');
  });

  it('says what was refused, and why', async () => {
    await h.call('PATCH', `/v1/agents/${makeIds().next('agt', h.clock.now())}`, { name: 'x' });
    expect(await entries()).toMatchObject([
      { action: 'changeAgent', subject: { type: 'agent' }, state: 'refused', status: 404, code: 'not_found' },
    ]);
  });

  it('leaves a request that changes nothing out: reads, bad input, missing scope, a repeat of the first answer', async () => {
    const reader = await h.call('POST', '/v1/keys', { name: 'r', scopes: ['read'] });
    const headers = { 'idempotency-key': 'once' };
    await h.call('POST', '/v1/projects', { name: 'p' }, { headers });
    const before = await entries();
    await h.call('POST', '/v1/projects', { name: 'p' }, { headers });
    await h.call('GET', '/v1/agents');
    await h.call('POST', '/v1/agents', { nonsense: 1 });
    expect((await h.call('POST', '/v1/agents', { name: 'x' }, { key: String(reader.json.apiKey) })).status).toBe(403);
    expect(await entries()).toEqual(before);
  });

  it('is filtered by actor, subject and time, and paged', async () => {
    const agent = await h.call('POST', '/v1/agents', { name: 'one' });
    const id = String(agent.json.id);
    await h.clock.advance(86_400_000);
    const other = await h.call('POST', '/v1/keys', { name: 'w', scopes: ['write'] });
    await h.call('PUT', `/v1/agents/${id}/config/goals`, { value: ['x'] }, { key: String(other.json.apiKey) });
    expect((await entries(`?subject=${id}`)).map(({ action }) => action)).toEqual(['putAgentConfig', 'createAgent']);
    expect((await entries(`?actor=${other.json.id}`)).map(({ action }) => action)).toEqual(['putAgentConfig']);
    expect((await entries('?to=2026-03-01')).map(({ action }) => action)).toEqual(['createAgent']);
    expect((await entries('?from=2026-03-02')).map(({ action }) => action).sort()).toEqual([
      'createKey',
      'putAgentConfig',
    ]);
    expect(await entries('?from=2026-03-02T12:00:00.001Z')).toEqual([]);
    const seen: string[] = [];
    for (let cursor: unknown = ''; cursor !== undefined; ) {
      const page = await h.call('GET', `/v1/audit?limit=1&to=2026-03-02&cursor=${cursor}`);
      seen.push(...(page.json.items as Entry[]).map(({ action }) => action));
      cursor = page.json.nextCursor;
    }
    expect(seen).toHaveLength(3);
    const wrong = await h.call('GET', '/v1/audit?from=2026-03-02&to=2026-03-01');
    expect([wrong.status, JSON.stringify(wrong.json.errors)]).toEqual([400, expect.stringContaining('"from"')]);
  });

  it('is for admins, of their own organisation', async () => {
    await h.call('POST', '/v1/agents', { name: 'one' });
    const writer = await h.call('POST', '/v1/keys', { name: 'w', scopes: ['write'] });
    expect((await h.call('GET', '/v1/audit', undefined, { key: String(writer.json.apiKey) })).status).toBe(403);
    expect(await entries('', h.b.apiKey)).toEqual([]);
  });

  it('is kept for so many days', async () => {
    await h.call('POST', '/v1/agents', { name: 'one' });
    const row = h.table.dump().find(({ pk }) => pk === keys.audits(h.a.organisationId).pk);
    expect(Number(row?.ttl) * 1000 - h.clock.now()).toBe(400 * 86_400_000);
  });
});

const event = (route: Route, apiKey: string): APIGatewayProxyEventV2 => {
  const ids = makeIds();
  const rawPath = route.path.replace(/\{([^}+]+)\+?\}/g, (_, name: string) => {
    const param = ID_PARAMS[name];
    if (param === undefined) return 'x';
    return `${ids.next(param.prefix, 0)}${param.tail === undefined ? '' : '_1_101'}`;
  });
  return {
    rawPath,
    rawQueryString: '',
    headers: { authorization: `Bearer ${apiKey}` },
    requestContext: { http: { method: route.method, path: rawPath } },
    body: '{}',
    isBase64Encoded: false,
  } as unknown as APIGatewayProxyEventV2;
};

const changing = ROUTES.filter(({ method, scope }) => method !== 'GET' && scope !== 'public');

describe('every route that is no GET', () => {
  it.each(changing.map((route) => [route.operationId, route] as const))(
    '%s is in the audit before it acts',
    async (_, route) => {
      const seen: string[] = [];
      const states = () => h.table.dump().filter(({ pk }) => pk.endsWith('#AUDIT')).map(({ state }) => String(state)); // biome-ignore format: one line
      const acts: Route = {
        ...route,
        body: undefined,
        query: undefined,
        handler: async () => {
          seen.push(...states());
          throw conflict('stop', 'Stop.');
        },
      };
      const router = makeRouter([acts], h.deps);
      await expect(router(event(route, h.a.apiKey), { getRemainingTimeInMillis: () => 1_000 })).rejects.toThrow(
        'Stop.',
      );
      expect(seen).toEqual(['asked']);
      expect(states()).toEqual(['refused']);
      expect(h.table.dump().find(({ pk }) => pk.endsWith('#AUDIT'))?.action).toBe(route.operationId);
    },
  );

  it('does nothing when its row cannot be written, and stays asked when the row cannot be written again', async () => {
    const route = changing.find(({ operationId }) => operationId === 'createAgent') as Route;
    let ran = 0;
    const acts: Route = {
      ...route,
      body: undefined,
      handler: async () => {
        ran++;
        throw conflict('stop', 'Stop.');
      },
    };
    const broken = { ...h.table, put: () => Promise.reject(new Error('away')) };
    const time = { getRemainingTimeInMillis: () => 1_000 };
    await expect(makeRouter([acts], { ...h.deps, table: broken })(event(route, h.a.apiKey), time)).rejects.toThrow(
      'away',
    );
    expect(ran).toBe(0);
    const mute = { ...h.table, update: () => Promise.reject(new Error('away')) };
    await expect(makeRouter([acts], { ...h.deps, table: mute })(event(route, h.a.apiKey), time)).rejects.toThrow(
      'Stop.',
    );
    expect(ran).toBe(1);
    expect(h.table.dump().find(({ pk }) => pk.endsWith('#AUDIT'))?.state).toBe('asked');
  });
});
