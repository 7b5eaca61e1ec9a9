import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROUTES } from '../../lib/http/routes/all.ts';
import { type Harness, makeHarness } from './support/harness.ts';

let h: Harness;
let agentId: string;
let executionId: string;
beforeAll(async () => {
  h = await makeHarness();
  agentId = await h.agent();
  executionId = (await h.call('POST', `/v1/agents/${agentId}/executions`)).json.id as string;
});

describe('a body', () => {
  it.each([
    ['{"name":', 8, 1, 9],
    ['{"name":x}', 8, 1, 9],
    ['{"a":1,\n "b" 2}', 13, 2, 6],
    ['[1,]', 3, 1, 4],
    ['{"a":1} x', 8, 1, 9],
    ['"\\x"', 1, 1, 2],
    ['01', 0, 1, 1],
    ['{"a":"\n"}', 6, 1, 7],
    ['{,}', 1, 1, 2],
    ['nul', 0, 1, 1],
    ['{"a":"', 6, 1, 7],
  ])('%j is told where it goes wrong', async (text, position, line, column) => {
    const refused = await h.call('POST', '/v1/agents', text);
    expect(refused.status).toBe(400);
    expect(refused.json).toMatchObject({ code: 'malformed_json', position, line, column });
  });

  it('may be base64, has to be UTF-8, and may carry any content type', async () => {
    const text = Buffer.from('{"name":"ü"}').toString('base64');
    expect((await h.call('POST', '/v1/projects', text, { base64: true })).json.name).toBe('ü');
    const bytes = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]).toString('base64');
    const refused = await h.call('POST', '/v1/projects', bytes, { base64: true });
    expect([refused.status, refused.json.code]).toEqual([400, 'invalid_utf8']);
    const plain = await h.call('POST', '/v1/projects', { name: 'n' }, { headers: { 'content-type': 'text/plain' } });
    expect(plain.status).toBe(201);
  });

  it('is at most 1 MB', async () => {
    const large = JSON.stringify({ name: 'x'.repeat(1024 * 1024) });
    const refused = await h.call('POST', '/v1/agents', large);
    expect([refused.status, refused.json.code]).toEqual([413, 'body_too_large']);
    const base64 = await h.call('POST', '/v1/agents', Buffer.from(large).toString('base64'), { base64: true });
    expect(base64.status).toBe(413);
  });

  it('is not nested without end', async () => {
    const deep = `{"name":"x","config":{"deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`;
    expect((await h.call('POST', '/v1/agents', deep)).json.code).toBe('too_deep');
  });

  it('has no hidden fields', async () => {
    const refused = await h.call('POST', '/v1/agents', '{"name":"x","constructor":1,"b":{}}');
    expect(refused.json.errors).toEqual([
      { field: 'constructor', received: 'number 1', expected: 'no field of this name' },
      { field: 'b', received: 'object', expected: 'no field of this name' },
    ]);
    for (const text of ['{"name":"x","__proto__":{"a":1}}', '{"name":"x","config":{"k":[{"__proto__":1}]}}']) {
      const proto = await h.call('POST', '/v1/agents', text);
      expect([proto.status, proto.json.errors]).toMatchObject([400, [{ field: '__proto__' }]]);
    }
    const stray = await h.call('POST', `/v1/executions/${executionId}/pause`, { now: true });
    expect(stray.json.errors).toMatchObject([{ field: 'now' }]);
  });
});

describe('an address', () => {
  it('that is none is 404, one that takes other methods 405 with Allow', async () => {
    const none = await h.call('GET', '/v2/agents');
    expect([none.status, none.json.code, none.headers['content-type']]).toEqual([
      404,
      'no_such_route',
      'application/problem+json',
    ]);
    const other = await h.call('PUT', '/v1/agents', {});
    expect([other.status, other.json.code, other.headers.allow]).toEqual([
      405,
      'method_not_allowed',
      'POST, GET, HEAD',
    ]);
    expect((await h.call('HEAD', '/v1/agents')).status).toBe(200);
    expect((await h.call('HEAD', '/v1/agents')).text).toBe('');
    expect((await h.call('GET', '/v1/agents/')).status).toBe(200);
  });

  it.each(['exe_nope', 'agt_', '..', '%2e%2e', 'x%23y', '%', '%00', `exe_${'0'.repeat(25)}%20`])(
    'with the id %s is 404',
    async (id) => {
      for (const path of [`/v1/executions/${id}`, `/v1/agents/${id}`, `/v1/projects/${id}`]) {
        expect((await h.call('GET', path)).status).toBe(404);
      }
    },
  );

  it('takes known query parameters once', async () => {
    const unknown = await h.call('GET', '/v1/agents?limt=3');
    expect(unknown.json.errors).toMatchObject([{ field: 'limt' }]);
    expect((await h.call('GET', '/v1/agents?limit=1&limit=2')).json.errors).toMatchObject([{ field: 'limit' }]);
    for (const limit of ['0', '1001', 'x', '1.5', '', '-1', '1e9']) {
      const refused = await h.call('GET', `/v1/agents?limit=${limit}`);
      expect(refused.json.errors).toMatchObject([{ field: 'limit' }]);
    }
    const status = await h.call('GET', '/v1/executions?status=RUNING');
    expect(status.json.errors).toMatchObject([
      { field: 'status', expected: expect.stringContaining('ITERATION_LIMIT') },
    ]);
  });
});

describe('cursors', () => {
  it('belong to one list of one organisation', async () => {
    for (let i = 0; i < 3; i++) {
      await h.call('POST', '/v1/projects', { name: `p${i}` });
      await h.call('POST', '/v1/projects', { name: `p${i}` }, { key: h.b.apiKey });
    }
    const cursor = (await h.call('GET', '/v1/projects?limit=1')).json.nextCursor as string;
    const forge = (change: object) =>
      Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(cursor, 'base64url').toString()), ...change })).toString(
        'base64url',
      );
    expect((await h.call('GET', `/v1/projects?limit=1&cursor=${cursor}`)).status).toBe(200);
    for (const [path, given, key] of [
      ['/v1/projects', cursor, h.b.apiKey],
      ['/v1/agents', cursor, h.a.apiKey],
      ['/v1/projects', 'nonsense', h.a.apiKey],
      ['/v1/projects', cursor.slice(0, -4), h.a.apiKey],
      ['/v1/projects', forge({ p: 'META' }), h.a.apiKey],
      ['/v1/projects', forge({ p: `PROJECT#${'x'.repeat(1_100)}` }), h.a.apiKey],
      ['/v1/projects', forge({ p: '' }), h.a.apiKey],
      ['/v1/projects', forge({ v: 2 }), h.a.apiKey],
      ['/v1/projects', forge({ x: 1 }), h.a.apiKey],
    ] as const) {
      const refused = await h.call('GET', `${path}?limit=1&cursor=${given}`, undefined, { key });
      expect([refused.status, refused.json.code]).toEqual([400, 'invalid_cursor']);
    }
  });
});

describe('whatever a client sends', () => {
  const paths = ROUTES.filter(({ operationId }) => operationId !== 'deleteAgent').map(({ method, path, errors }) => ({
    method,
    errors,
    path: path
      .replace('{agentId}', agentId)
      .replace('{executionId}', executionId)
      .replace(/\{\w+\+?\}/, 'x'),
  }));
  const anyJson = fc.oneof(
    fc.json(),
    fc.string(),
    fc
      .dictionary(fc.constantFrom('name', 'config', 'value', 'scopes', 'goals', 'content', '__proto__'), fc.jsonValue())
      .map((v) => JSON.stringify(v)),
    fc
      .record({ name: fc.string({ unit: 'binary' }), config: fc.dictionary(fc.string(), fc.jsonValue()) })
      .map((v) => JSON.stringify(v)),
  );

  it('is never our mistake', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths),
        anyJson,
        fc.boolean(),
        async ({ method, path, errors }, text, base64) => {
          const answer = await h.call(method, path, text, { base64 });
          expect(answer.status).toBeLessThan(500);
          const told = errors === 'detail' ? 'application/json' : 'application/problem+json';
          if (answer.status >= 400) expect(answer.headers['content-type']).toBe(told);
        },
      ),
      { numRuns: 400 },
    );
    expect(h.errors).toEqual([]);
  });

  it('in the address, the query and the headers neither', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), text, text, text, async ({ method, path }, tail, query, key) => {
        const options = { headers: { 'idempotency-key': key, 'x-api-key': key } };
        for (const at of [
          `${path}/${tail}`,
          `${path}?${query}`,
          `${path}?cursor=${encodeURIComponent(query.toWellFormed())}`,
        ]) {
          expect((await h.call(method, at, {}, options)).status).toBeLessThan(500);
        }
        expect((await h.call(method, path, {}, { key })).status).toBeLessThan(500);
      }),
      { numRuns: 200 },
    );
    expect(h.errors).toEqual([]);
  });
});
