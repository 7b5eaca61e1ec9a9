import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let home: string;
let server: Server | undefined;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'baton-status-'));
});
afterEach(async () => {
  await new Promise((done) => (server === undefined ? done(undefined) : server.close(done)));
  server = undefined;
  await rm(home, { recursive: true, force: true });
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const run = (options: readonly string[], environment: { readonly [name: string]: string } = {}): Promise<Ran> =>
  new Promise((resolve) => {
    const env = { PATH: process.env.PATH, BATON_HOME: home, ...environment };
    execFile(process.execPath, ['scripts/status.ts', ...options], { env }, (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
    );
  });

const serve = async (answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> => {
  const started = createServer(answer);
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
};

const report = (code: number) => ({
  code,
  checks: [
    { name: 'model', code: 0, detail: 'A model is configured.' },
    { name: 'chains', code, detail: 'How they stand.' },
  ],
});

const local = async (url: string, key = 'k'.repeat(40)): Promise<void> => {
  await writeFile(join(home, 'local.json'), JSON.stringify({ url }));
  await writeFile(join(home, 'api-key'), `${key}\n`);
};

describe('npm run status', () => {
  it.each([0, 1, 2, 3])('exits with the code of the report: %i', async (code) => {
    const seen: (string | undefined)[] = [];
    await local(
      await serve((request, response) => {
        seen.push(request.url, request.headers.authorization);
        response.end(JSON.stringify(report(code)));
      }),
    );
    const ran = await run(['--local']);
    expect(ran.code).toBe(code);
    expect(ran.out.split('\n').slice(0, 2)).toEqual([
      '0 model      A model is configured.',
      `${code} chains     How they stand.`,
    ]);
    expect(seen).toEqual(['/v1/status', `Bearer ${'k'.repeat(40)}`]);
  });

  it('prints the report as one line of JSON', async () => {
    await local(await serve((_, response) => response.end(JSON.stringify(report(1)))));
    const ran = await run(['--json']);
    expect(ran.code).toBe(1);
    expect(JSON.parse(ran.out)).toEqual(report(1));
  });

  it('is 3 when no local cloud runs', async () => {
    const ran = await run([]);
    expect(ran.code).toBe(3);
    expect(ran.out).toContain(`No local cloud runs in ${home}.`);
  });

  it('is 3 when nothing answers', async () => {
    const url = await serve(() => {});
    await new Promise((done) => server?.close(done));
    server = undefined;
    const ran = await run(['--url', url], { BATON_API_KEY: 'x'.repeat(40) });
    expect(ran.code).toBe(3);
    expect(ran.out).toMatch(/v1\/status does not answer: .*ECONNREFUSED/);
  });

  it.each([
    [401, '{}', 'does not accept the key'],
    [502, 'Bad Gateway', 'answered 502 and no report: Bad Gateway'],
    [200, '{"fine":true}', 'answered 200 and no report'],
    [200, 'no JSON', 'answered 200 and no report'],
  ])('is 3 for the answer %i %s', async (status, body, sentence) => {
    const url = await serve((_, response) => response.writeHead(status).end(body));
    const ran = await run(['--url', url, '--json'], { BATON_API_KEY: 'x'.repeat(40) });
    expect(ran.code).toBe(3);
    expect(JSON.parse(ran.out)).toMatchObject({ code: 3, checks: [{ name: 'reachable', code: 3 }] });
    expect(ran.out).toContain(sentence);
  });

  it('takes the key of the home for BATON_URL, as the README and the examples do', async () => {
    const seen: (string | undefined)[] = [];
    const url = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.end(JSON.stringify(report(1)));
    });
    await local('http://127.0.0.1:1');
    expect((await run([], { BATON_URL: url })).code).toBe(1);
    expect((await run([], { BATON_URL: url, BATON_API_KEY: 'own' })).code).toBe(1);
    expect(seen).toEqual([`Bearer ${'k'.repeat(40)}`, 'Bearer own']);
    const without = await run([], { BATON_URL: url, BATON_HOME: join(home, 'none') });
    expect([without.code, without.out]).toEqual([3, expect.stringContaining('There is no key: set BATON_API_KEY, or')]);
  });

  it('sends the key of the home to no other address', async () => {
    let asked = 0;
    const url = await serve((_, response) => {
      asked++;
      response.end(JSON.stringify(report(0)));
    });
    await local(url);
    const ran = await run(['--url', url]);
    expect(ran.code).toBe(3);
    expect(ran.out).toContain('There is no key: set BATON_API_KEY.');
    expect(asked).toBe(0);
  });

  it.each([[['--loud']], [['--local', '--url', 'http://127.0.0.1:1']]])(
    'refuses %j with its usage',
    async (options) => {
      const ran = await run(options);
      expect(ran.code).toBe(3);
      expect(ran.err).toContain('Usage: npm run status');
    },
  );
});
