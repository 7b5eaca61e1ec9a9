import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import { makeEndpointJudge } from '../../lib/net/judge-endpoint.ts';
import { type FakeSite, startFakeSite } from './fake-site.ts';

describe('the judge of endpoints', () => {
  const judge = makeEndpointJudge(['127.0.0.1:8080', 'inside.internal:443'], ['127.0.0.1:9001']);

  it.each([
    'https://hooks.example.org/a',
    'http://127.0.0.1:8080/',
    'https://127.0.0.1:8080/',
    'https://inside.internal/',
  ])('takes %s', (url) => {
    expect(judge(url)).toBeUndefined();
  });

  it.each([
    ['http://hooks.example.org/', 'anybody on the way could read'],
    ['http://127.0.0.1:8081/', 'not an address on the public internet'],
    ['https://192.168.0.7/', 'not an address on the public internet'],
    ['https://localhost/', 'private name'],
    ['https://127.0.0.1:9001/', 'not an address on the public internet'],
    ['file:///etc/passwd', 'only http: and https:'],
    ['here', 'not an absolute URL'],
  ])('refuses %s', (url, why) => {
    expect(judge(url)).toContain(why);
  });
});

describe('a request that follows no redirect', () => {
  let site: FakeSite;
  let other: FakeSite;
  beforeAll(async () => {
    site = await startFakeSite();
    other = await startFakeSite();
  });
  afterAll(async () => {
    await site.close();
    await other.close();
  });

  it.each([301, 302, 303, 307, 308])('is answered %i itself, and the other address hears nothing', async (status) => {
    site.answer = (response) => response.writeHead(status, { location: `http://${other.host}/` }).end('moved');
    const guarded = makeGuardedFetch({ allow: [site.host, other.host], never: [] });
    const answer = await guarded.fetch({
      method: 'POST',
      url: `http://${site.host}/`,
      headers: {},
      body: '{}',
      signal: new AbortController().signal,
      timeoutMs: 5_000,
      maxBytes: 100,
      redirects: 'none',
    });
    expect([answer.status, new TextDecoder().decode(answer.body)]).toEqual([status, 'moved']);
    expect(other.hits).toEqual([]);
  });
});
