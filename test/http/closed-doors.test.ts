import { describe, expect, it } from 'vitest';
import { ROUTES } from '../../lib/http/routes/all.ts';
import { makeHarness } from './support/harness.ts';

it('nothing but these is open to everybody', () => {
  const open = ROUTES.filter(({ scope }) => scope === 'public').map(({ method, path }) => `${method} ${path}`);
  expect(open.toSorted()).toEqual(['GET /health', 'GET /openapi.json', 'POST /ingest/{sourceId}']);
});

describe('a page of another origin', () => {
  const ORIGIN = { origin: 'https://elsewhere.example' };
  const given = (headers: object) => Object.keys(headers).filter((name) => name.startsWith('access-control-'));

  it('is let in by no answer, good or bad', async () => {
    const h = await makeHarness();
    for (const [method, path, status] of [
      ['GET', '/v1/agents', 200],
      ['GET', '/health', 200],
      ['GET', '/openapi.json', 200],
      ['GET', '/v1/agents/agt_00000000000000000000000000', 404],
      ['POST', '/v1/agents', 400],
      ['GET', '/api/api-keys/validate', 200],
    ] as const) {
      const answer = await h.call(method, path, method === 'POST' ? {} : undefined, {
        key: h.a.apiKey,
        headers: ORIGIN,
      });
      expect([path, answer.status, given(answer.headers)]).toEqual([path, status, []]);
    }
  });

  it('may not ask beforehand either', async () => {
    const h = await makeHarness();
    const headers = {
      ...ORIGIN,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-api-key',
    };
    const asked = await h.call('OPTIONS', '/v1/agents', undefined, { key: undefined, headers });
    expect(asked.status).toBe(405);
    expect(given(asked.headers)).toEqual([]);
  });
});

it.each(['api_key', 'apiKey', 'key', 'token', 'access_token'])('a key in the address, as %s, is none', async (name) => {
  const h = await makeHarness();
  const answer = await h.call('GET', `/v1/agents?${name}=${h.a.apiKey}`, undefined, { key: undefined });
  expect([answer.status, answer.json.code]).toEqual([401, 'missing_key']);
});
