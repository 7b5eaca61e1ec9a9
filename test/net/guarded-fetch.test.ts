import { createServer as createTcpServer } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import type { Lookup, ResolvedAddress } from '../../lib/net/pinned-connector.ts';
import { EgressRefused } from '../../lib/tools/egress-refused.ts';
import type { GuardedFetch } from '../../lib/tools/tool.ts';
import { type FakeSite, startFakeSite } from './fake-site.ts';

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
beforeEach(() => {
  for (const one of [site, other]) {
    one.hits.length = 0;
    one.answer = (response) => response.end('hello');
  }
});

type Request = Parameters<GuardedFetch['fetch']>[0];

const get = (guarded: GuardedFetch, url: string, more: Partial<Request> = {}) =>
  guarded.fetch({
    method: 'GET',
    url,
    headers: {},
    signal: new AbortController().signal,
    timeoutMs: 5_000,
    maxBytes: 1_000,
    ...more,
  });

const open = (): GuardedFetch => makeGuardedFetch({ allow: [site.host, other.host], never: [] });
const closed = makeGuardedFetch({ allow: [], never: [] });
const v4 = (address: string): ResolvedAddress => ({ address, family: 4 });
const answering =
  (...addresses: string[]): Lookup =>
  async () =>
    addresses.map(v4);

describe('addresses', () => {
  it.each([
    'ftp://example.com/x',
    'file:///etc/passwd',
    'data:text/plain,hello',
    'https://user:secret@example.com/',
    'not a url',
    '/relative',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://printer.local/',
    'http://metadata.google.internal/',
    'http://api.localhost/',
    'http://intranet/',
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://127.0.0.1./',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[fd00:ec2::254]/latest/meta-data',
    'http://169.254.169.254/latest/meta-data',
    'http://0/',
    `https://example.com/${'x'.repeat(9_000)}`,
  ])('refuses %s with a sentence', async (url) => {
    const error = await get(closed, url).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(EgressRefused);
    expect(String(error)).toMatch(/\.$/);
    expect(String(error)).not.toContain('secret');
  });

  it('refuses a name when any of its addresses is private, and connects to nothing', async () => {
    const guarded = makeGuardedFetch({ allow: [], never: [], lookup: answering('93.184.216.34', '127.0.0.1') });
    await expect(get(guarded, `http://rebind.example:${site.port}/`)).rejects.toBeInstanceOf(EgressRefused);
    expect(site.hits).toHaveLength(0);
  });

  it('asks the resolver once a request and connects to what it judged, so a second answer cannot slip in', async () => {
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    let asked = 0;
    const lookup: Lookup = async () => (answers[asked++] ?? []).map(v4);
    const guarded = makeGuardedFetch({ allow: [`site.example:${site.port}`], never: [], lookup });
    expect((await get(guarded, `http://site.example:${site.port}/a`)).status).toBe(200);
    expect(asked).toBe(1);
    expect(site.hits[0]?.headers.host).toBe(`site.example:${site.port}`);
  });

  it('judges every request anew: no connection of an earlier one is used again', async () => {
    let asked = 0;
    const lookup: Lookup = async () => {
      asked++;
      if (asked === 2) throw new Error('asked a second time');
      return [v4('127.0.0.1')];
    };
    const guarded = makeGuardedFetch({ allow: [`site.example:${site.port}`], never: [], lookup });
    await get(guarded, `http://site.example:${site.port}/`);
    await expect(get(guarded, `http://site.example:${site.port}/`)).rejects.toThrow('asked a second time');
    expect(site.hits).toHaveLength(1);
  });

  it('lets through exactly the host and port of the allow list', async () => {
    const guarded = makeGuardedFetch({ allow: [` ${site.host} `], never: [] });
    expect((await get(guarded, `http://${site.host}/`)).status).toBe(200);
    await expect(get(guarded, `http://${other.host}/`)).rejects.toBeInstanceOf(EgressRefused);
    await expect(get(guarded, `http://localhost:${site.port}/`)).rejects.toBeInstanceOf(EgressRefused);
    await expect(get(guarded, `http://127.0.0.2:${site.port}/`)).rejects.toBeInstanceOf(EgressRefused);
    expect(() => makeGuardedFetch({ allow: ['127.0.0.1'] })).toThrow('host:port');
  });

  it('never reaches the Runtime API of its sandbox, not even through the allow list or another name', async () => {
    process.env.AWS_LAMBDA_RUNTIME_API = site.host;
    try {
      const allow = [site.host, `localhost:${site.port}`, `other.example:${site.port}`, `0.0.0.0:${site.port}`];
      const guarded = makeGuardedFetch({ allow, lookup: answering('127.0.0.1') });
      for (const entry of [...allow, `[::ffff:127.0.0.1]:${site.port}`]) {
        await expect(get(guarded, `http://${entry}/`), entry).rejects.toBeInstanceOf(EgressRefused);
      }
    } finally {
      delete process.env.AWS_LAMBDA_RUNTIME_API;
    }
    expect(site.hits).toHaveLength(0);
  });

  it('reports a name without an address, and a port where nobody listens, as network errors', async () => {
    const nowhere = makeGuardedFetch({ allow: [], never: [], lookup: answering() });
    const error = await get(nowhere, 'http://nowhere.example/').catch((reason: unknown) => reason);
    expect(error).not.toBeInstanceOf(EgressRefused);
    expect(String(error)).toContain('has no address');
    const free = await startFakeSite();
    await free.close();
    const refused = get(makeGuardedFetch({ allow: [free.host], never: [] }), `http://${free.host}/`);
    await expect(refused).rejects.toThrow('ECONNREFUSED');
  });
});

describe('redirects', () => {
  const redirect = (from: FakeSite, status: number, location: string) => {
    from.answer = (response, hit) =>
      hit.url === '/start' ? response.writeHead(status, { location }).end('moved') : response.end(`at ${hit.url}`);
  };

  it('follows within the origin with headers, and tells where it ended', async () => {
    redirect(site, 302, '/next');
    const answer = await get(open(), `http://${site.host}/start`, { headers: { Authorization: 'Bearer x' } });
    expect(answer).toMatchObject({ status: 200, url: `http://${site.host}/next` });
    expect(site.hits[1]?.headers.authorization).toBe('Bearer x');
  });

  it("drops every header of the caller's across origins", async () => {
    redirect(site, 302, `http://${other.host}/next`);
    await get(open(), `http://${site.host}/start`, { headers: { authorization: 'Bearer x', 'x-key': 'y' } });
    expect(other.hits[0]?.url).toBe('/next');
    expect(other.hits[0]?.headers).not.toHaveProperty('authorization');
    expect(other.hits[0]?.headers).not.toHaveProperty('x-key');
  });

  it.each(['http://127.0.0.1:1/x', 'http://169.254.169.254/', 'file:///etc/passwd', 'http://user:pw@example.com/'])(
    'refuses a redirect to %s',
    async (location) => {
      redirect(site, 302, location);
      await expect(get(open(), `http://${site.host}/start`)).rejects.toBeInstanceOf(EgressRefused);
    },
  );

  it('turns a POST into a GET for 303, repeats it for 307 at home, and refuses that elsewhere', async () => {
    const post = { method: 'POST', body: 'data', headers: { 'content-type': 'text/plain' } };
    redirect(site, 303, '/next');
    await get(open(), `http://${site.host}/start`, post);
    expect(site.hits[1]).toMatchObject({ method: 'GET', body: '' });
    expect(site.hits[1]?.headers).not.toHaveProperty('content-type');
    redirect(site, 307, '/next');
    await get(open(), `http://${site.host}/start`, post);
    expect(site.hits[3]).toMatchObject({ method: 'POST', body: 'data' });
    for (const status of [307, 308]) {
      redirect(site, status, `http://${other.host}/next`);
      await expect(get(open(), `http://${site.host}/start`, post)).rejects.toBeInstanceOf(EgressRefused);
    }
    expect(other.hits).toHaveLength(0);
  });

  it('gives up after five', async () => {
    site.answer = (response) => response.writeHead(302, { location: '/again' }).end();
    await expect(get(open(), `http://${site.host}/start`)).rejects.toThrow('More than 5 redirects');
    expect(site.hits).toHaveLength(6);
  });
});

describe('limits', () => {
  const url = () => `http://${site.host}/`;

  it('cuts a body at the limit, wherever the limit falls', async () => {
    site.answer = (response) => response.end('x'.repeat(1_000));
    expect((await get(open(), url(), { maxBytes: 1_000 })).truncated).toBe(false);
    const cut = await get(open(), url(), { maxBytes: 999 });
    expect(cut).toMatchObject({ truncated: true });
    expect(cut.body).toHaveLength(999);
  });

  it('ends an endless body at the limit', async () => {
    site.answer = (response) => {
      const pump = () => {
        while (!response.destroyed && response.write(Buffer.alloc(64_000)));
      };
      response.on('drain', pump);
      pump();
    };
    const answer = await get(open(), url(), { maxBytes: 500_000 });
    expect(answer.truncated).toBe(true);
    expect(answer.body).toHaveLength(500_000);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('undoes %s, and a bomb in it ends at the limit', async (encoding, compress) => {
    site.answer = (response) => response.writeHead(200, { 'content-encoding': encoding }).end(compress('hello'));
    const small = await get(open(), url());
    expect(Buffer.from(small.body).toString()).toBe('hello');
    expect(small.headers).not.toHaveProperty('content-encoding');
    const bomb = compress(Buffer.alloc(30_000_000));
    site.answer = (response) => response.writeHead(200, { 'content-encoding': encoding }).end(bomb);
    const before = process.memoryUsage().arrayBuffers;
    const answer = await get(open(), url(), { maxBytes: 100_000 });
    expect(answer.truncated).toBe(true);
    expect(answer.body).toHaveLength(100_000);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
  });

  it('refuses an encoding it did not ask for, and damaged compression', async () => {
    site.answer = (response) => response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end('x');
    await expect(get(open(), url())).rejects.toThrow('encoding');
    site.answer = (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip at all');
    await expect(get(open(), url())).rejects.toThrow();
  });

  it('ends a slow answer at the time-out, headers and body alike, and obeys the signal', async () => {
    site.answer = () => undefined;
    await expect(get(open(), url(), { timeoutMs: 100 })).rejects.toMatchObject({ name: 'TimeoutError' });
    site.answer = (response) => response.write('a');
    await expect(get(open(), url(), { timeoutMs: 100 })).rejects.toThrow('within 0.1 seconds');
    const controller = new AbortController();
    site.answer = () => controller.abort();
    await expect(get(open(), url(), { signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('speaks with what is no HTTP server without harm', async () => {
    const tcp = createTcpServer((socket) => socket.resume().end('SSH-2.0-OpenSSH_9.6\r\n'));
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    const address = tcp.address();
    const host = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
    await expect(get(makeGuardedFetch({ allow: [host], never: [] }), `http://${host}/`)).rejects.toThrow();
    await new Promise((resolve) => tcp.close(resolve));
  });

  it('sends bodies and headers, but none that belong to the connection', async () => {
    const headers = { Host: 'evil.example', 'Content-Length': '1', 'X-Own': 'yes', 'Transfer-Encoding': 'chunked' };
    await get(open(), url(), { method: 'PUT', body: Buffer.from('data'), headers });
    expect(site.hits[0]).toMatchObject({ method: 'PUT', body: 'data' });
    expect(site.hits[0]?.headers).toMatchObject({ host: site.host, 'x-own': 'yes', 'content-length': '4' });
  });
});
