import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../../local/functions/outcome.ts';
import { type RuntimeApi, startRuntimeApi } from '../../local/functions/runtime-api.ts';
import { runs, TEST_MS } from './support/runs.ts';
import { portOf, request, say, speech } from './support/wire.ts';

const BASE = '/2018-06-01/runtime';

describe('the Runtime API', () => {
  let api: RuntimeApi;
  let waiting = 0;
  const finished: { requestId: string; outcome: Outcome }[] = [];
  let woken: (() => void) | undefined;

  beforeEach(async () => {
    api = await startRuntimeApi({
      waiting() {
        waiting++;
        woken?.();
      },
      finished: (requestId, outcome) => void finished.push({ requestId, outcome }),
      initFailed() {},
    });
  });
  afterEach(() => api.close());

  /** Asks for an event as a process does. Whoever asks meanwhile (a stranger's bytes come late) gets one too. */
  const next = async (): Promise<Response> => {
    woken = () => api.deliver({ requestId: 'good', payload: '{"a":1}', deadlineMs: 1, functionArn: 'arn' });
    try {
      return await fetch(`http://${api.address}${BASE}/invocation/next`);
    } finally {
      woken = undefined;
    }
  };

  const paths = fc.oneof(
    fc
      .constantFrom(
        '/invocation/next',
        '/invocation/x/response',
        '/invocation/x/error',
        '/init/error',
        '/invocation//response',
      )
      .map((path) => BASE + path),
    fc.constantFrom('/', '*', '', 'http://other/', `${BASE}`, '/2018-06-01/runtimex/invocation/next', '//', '/%00'),
    fc.webPath(),
  );
  const bodies = fc.oneof(
    fc.json(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', 'null', '{"errorType":1,"trace":[{"toString":1}]}', '{"errorType":"Runtime.X"}'),
  );

  it('answers or closes whatever comes, and works on', { timeout: TEST_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(speech(request(paths, bodies)), async ({ pieces, leave }) => {
        const before = waiting;
        const heard = await say(portOf(api.address), pieces, leave);
        // A `next` is held open for the event; its client left, which closes it.
        if (waiting === before) expect(heard.closed || heard.status !== undefined).toBe(true);
        for (const { requestId } of finished.splice(0)) expect(requestId).toBe(requestId.replace('/', ''));
        const answer = await next();
        expect([answer.status, await answer.text()]).toEqual([200, '{"a":1}']);
        const response = await fetch(`http://${api.address}${BASE}/invocation/good/response`, {
          method: 'POST',
          body: '"ok"',
        });
        expect(response.status).toBe(202);
        expect(finished.splice(0)).toMatchObject([{ requestId: 'good', outcome: { ok: true } }]);
      }),
      runs(120),
    );
  });

  it('lets go of an earlier `next` when another one comes', async () => {
    const before = waiting;
    const first = fetch(`http://${api.address}${BASE}/invocation/next`).then(
      (response) => response.status,
      () => 'closed',
    );
    while (waiting === before) await new Promise((resolve) => setImmediate(resolve));
    const second = await next();
    expect([second.status, await first]).toEqual([200, 409]);
  });

  it('takes outcomes by POST alone, and nothing beside its own paths', async () => {
    for (const [method, path] of [
      ['GET', `${BASE}/invocation/x/response`],
      ['PUT', `${BASE}/invocation/x/error`],
      ['DELETE', `${BASE}/init/error`],
      ['POST', '/2018-06-01/runtimes/invocation/x/response'.slice(0, -1)],
    ] as const) {
      const answer = await fetch(`http://${api.address}${path}`, { method });
      expect(answer.status).toBe(404);
    }
    expect(finished.splice(0)).toEqual([]);
  });
});

describe('the bootstrap of a function', () => {
  const bootstrap = fileURLToPath(new URL('../../local/functions/bootstrap.mjs', import.meta.url));
  let codeDir: string;
  beforeAll(() => {
    codeDir = mkdtempSync(join(tmpdir(), 'bootstrap-'));
    writeFileSync(join(codeDir, 'index.mjs'), 'export const handler = async (event) => ({ event });\n');
  });
  afterAll(() => rmSync(codeDir, { recursive: true, force: true }));

  interface Odd {
    readonly status: number;
    readonly headers: { readonly [name: string]: string };
    readonly body: string;
  }
  const body = fc.oneof(fc.json(), fc.string(), fc.constantFrom('', 'null', '{', '<html>'));
  /** An event, though one that says little. */
  const event: fc.Arbitrary<Odd> = fc
    .record({
      id: fc.constantFrom('one', 'a b', 'a/b', '%'),
      more: fc.record(
        {
          'lambda-runtime-deadline-ms': fc.constantFrom('0', 'soon', '-1'),
          'lambda-runtime-trace-id': fc.constantFrom('', 'Root=1'),
        },
        { requiredKeys: [] },
      ),
      body,
    })
    .map(({ id, more, body: text }) => ({
      status: 200,
      headers: { ...(more as Odd['headers']), 'lambda-runtime-aws-request-id': id },
      body: text,
    }));
  const noEvent: fc.Arbitrary<Odd> = fc.oneof(
    body.map((text) => ({ status: 200, headers: {}, body: text })),
    body.map((text) => ({ status: 200, headers: { 'lambda-runtime-aws-request-id': '' }, body: text })),
    fc
      .tuple(fc.constantFrom(202, 204, 301, 403, 404, 500), body)
      .map(([status, text]) => ({ status, headers: { 'lambda-runtime-aws-request-id': 'x' }, body: text })),
  );

  /** Answers `next` by each of the odd ones, then by a good event; `reset` cuts the connection instead. */
  const play = async (
    answers: readonly (Odd | 'reset')[],
  ): Promise<{ answered: string | undefined; exit: number | null }> => {
    const left = [...answers];
    let answered: string | undefined;
    const server = createServer((incoming, response) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        if (incoming.url?.endsWith('/invocation/next') !== true) {
          if (incoming.url?.endsWith('/invocation/good/response')) {
            answered = Buffer.concat(chunks).toString();
            child.kill('SIGKILL');
          }
          response.writeHead(202).end('{}');
          return;
        }
        const one = left.shift();
        if (one === 'reset') response.destroy();
        else if (one !== undefined) response.writeHead(one.status, one.headers).end(one.body);
        else
          response
            .writeHead(200, { 'lambda-runtime-aws-request-id': 'good', 'lambda-runtime-deadline-ms': '0' })
            .end('{"a":1}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const child = spawn(process.execPath, [bootstrap], {
      cwd: codeDir,
      env: { AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`, _HANDLER: 'index.handler', LAMBDA_TASK_ROOT: codeDir },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const limit = setTimeout(() => child.kill('SIGKILL'), 8_000);
    const exit = await new Promise<number | null>((resolve) => child.once('exit', resolve));
    clearTimeout(limit);
    server.closeAllConnections();
    server.close();
    return { answered, exit };
  };

  it('lives through odd events and handles the next good one', { timeout: TEST_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 12 }), async (answers) => {
        expect(await play(answers)).toMatchObject({ answered: '{"event":{"a":1}}' });
      }),
      runs(5),
    );
  });

  it('ends on an answer that is no event, as there is nobody to tell', { timeout: TEST_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(noEvent, fc.constant<'reset'>('reset')), async (answer) => {
        const { answered, exit } = await play([answer]);
        expect(answered).toBeUndefined();
        expect(exit).toBeGreaterThan(0);
      }),
      runs(4),
    );
  });
});
