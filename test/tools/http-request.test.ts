import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import { httpRequest } from '../../lib/tools/http-request.ts';
import { parseArguments } from '../../lib/tools/run.ts';
import { type FakeSite, startFakeSite } from '../net/fake-site.ts';
import { makeToolRun } from './tool-context.ts';

let site: FakeSite;
let url: string;
beforeAll(async () => {
  site = await startFakeSite();
  url = `http://${site.host}/`;
});
afterAll(() => site.close());
beforeEach(() => {
  site.hits.length = 0;
  site.answer = (response) => response.end('hello');
});

const runIt = (args: Parameters<typeof httpRequest.execute>[0], signal?: AbortSignal) =>
  makeToolRun({
    fetch: makeGuardedFetch({ allow: [site.host], never: [] }),
    ...(signal === undefined ? {} : { signal }),
  }).run(httpRequest, args);

describe('http_request', () => {
  it("sends the call's key with every method, and gives status, telling headers and body", async () => {
    site.answer = (response) => {
      response.writeHead(201, { 'content-type': 'application/json', 'set-cookie': 'a=b', location: '/x/1' });
      response.end('{"id":1}');
    };
    const answer = await runIt({ method: 'POST', url, body: '{}', headers: { 'content-type': 'application/json' } });
    expect(answer).toEqual({
      ok: true,
      text: 'HTTP 201\ncontent-type: application/json\nlocation: /x/1\n\n{"id":1}',
    });
    await runIt({ method: 'GET', url });
    expect(site.hits.map(({ method, headers, body }) => [method, headers['idempotency-key'], body])).toEqual([
      ['POST', 'exe_1-1-0', '{}'],
      ['GET', 'exe_1-1-0', ''],
    ]);
  });

  it('answers failures so that the model can act: status, refusal, broken connection', async () => {
    site.answer = (response) => response.writeHead(404, { 'content-type': 'text/plain' }).end('gone');
    expect(await runIt({ method: 'GET', url })).toEqual({
      ok: false,
      text: 'HTTP 404\ncontent-type: text/plain\n\ngone',
    });
    expect(await runIt({ method: 'GET', url: 'http://169.254.169.254/' })).toMatchObject({
      ok: false,
      text: expect.stringContaining('not an address on the public internet'),
    });
    site.answer = (response) => response.socket?.resetAndDestroy();
    expect(await runIt({ method: 'GET', url })).toMatchObject({
      ok: false,
      text: expect.stringMatching(/^The request failed/),
    });
    const post = await runIt({ method: 'POST', url, body: 'x' });
    expect(post).toMatchObject({ ok: false, text: expect.stringContaining('may have reached the server') });
    expect(await runIt({ method: 'GET', url, body: 'x' })).toMatchObject({
      ok: false,
      text: expect.stringContaining('no body'),
    });
  });

  it('lets an abort of the step through as one', async () => {
    const controller = new AbortController();
    site.answer = () => controller.abort();
    await expect(runIt({ method: 'GET', url }, controller.signal)).rejects.toThrow();
  });

  it('cuts long answers with a note, and describes what is no text', async () => {
    site.answer = (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(20_000));
    const long = await runIt({ method: 'GET', url });
    expect(long.text.length).toBeLessThan(16_300);
    expect(long.text).toContain('(cut here: the first 16000 characters of 20000 bytes)');
    site.answer = (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('é'.repeat(700_000));
    expect((await runIt({ method: 'GET', url })).text).toContain('of 1000000 bytes or more)');
    site.answer = (response) => response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([0, 1, 2]));
    expect((await runIt({ method: 'GET', url })).text).toContain('(the body is not text: image/png, 3 bytes)');
    site.answer = (response) => response.writeHead(204).end();
    expect((await runIt({ method: 'DELETE', url })).text).toBe('HTTP 204\n\n(no body)');
    site.answer = (response) =>
      response.writeHead(200, { 'content-type': 'text/html; charset=iso-8859-1' }).end(Buffer.from([0xe9]));
    expect((await runIt({ method: 'GET', url })).text).toMatch(/é$/);
  });

  it('tells where redirects ended', async () => {
    site.answer = (response, hit) =>
      hit.url === '/' ? response.writeHead(302, { location: '/there' }).end() : response.end('ok');
    expect((await runIt({ method: 'GET', url })).text).toContain(`final address: ${url}there`);
  });

  it('is harmless, repeatable under its key, or unsafe where the configuration says so', () => {
    const effect = (method: 'GET' | 'HEAD' | 'POST' | 'DELETE', config: object) =>
      httpRequest.effect({ method, url: 'https://API.example.com:8443/x' }, { ...config });
    expect(effect('GET', { httpUnsafe: true })).toBe('none');
    expect(effect('HEAD', {})).toBe('none');
    expect(effect('POST', {})).toBe('idempotent');
    expect(effect('DELETE', { httpUnsafe: false })).toBe('idempotent');
    expect(effect('POST', { httpUnsafe: true })).toBe('unsafe');
    expect(effect('POST', { httpUnsafe: 'true' })).toBe('idempotent');
    expect(effect('POST', { httpUnsafeHosts: ['other.example', 'api.example.com'] })).toBe('unsafe');
    expect(effect('POST', { httpUnsafeHosts: ['api.example.com:8443'] })).toBe('unsafe');
    expect(effect('POST', { httpUnsafeHosts: ['api.example.com:443', 'example.com', 7] })).toBe('idempotent');
  });

  it.each([
    'Idempotency-Key',
    'HOST',
    'Connection',
    'transfer-encoding',
    'Content-Length',
    'Proxy-Authorization',
    'TE',
  ])('refuses the header %s', (name) => {
    const parsed = parseArguments(httpRequest, JSON.stringify({ method: 'GET', url, headers: { [name]: 'x' } }));
    expect(parsed).toMatchObject({ ok: false, problem: expect.stringContaining(`headers.${name}`) });
  });

  it('refuses header names and values that would break the request', () => {
    for (const headers of [{ 'a b': 'x' }, { a: 'x\r\nhost: y' }, { '': 'x' }, { a: '日' }]) {
      expect(parseArguments(httpRequest, JSON.stringify({ method: 'GET', url, headers }))).toMatchObject({ ok: false });
    }
    expect(
      parseArguments(httpRequest, JSON.stringify({ method: 'GET', url, headers: { Accept: '*/*' } })),
    ).toMatchObject({
      ok: true,
    });
  });
});
