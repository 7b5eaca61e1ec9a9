import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Checkout, makeCheckout, type Started } from './fixtures/checkout.ts';

let checkout: Checkout;
const running: Started[] = [];
beforeAll(() => {
  checkout = makeCheckout();
});
afterEach(async () => {
  for (const { child, exited } of running.splice(0)) {
    child.kill('SIGKILL');
    await exited;
  }
});
afterAll(() => checkout.remove());

const start = (environment?: Record<string, string>): Started => {
  const started = checkout.start(environment);
  running.push(started);
  return started;
};

/** Waits until it says that it is up. */
const up = async (started: Started): Promise<string> => {
  await vi.waitFor(() => {
    if (!started.output().includes('Ctrl-C stops.')) throw new Error(started.output() || 'silent');
  }, 15_000);
  return /address +(\S+)/.exec(started.output())?.[1] ?? '';
};

const processes = (): number[] =>
  Object.values(
    JSON.parse(readFileSync(join(checkout.home, 'processes.json'), 'utf8')) as Record<string, number[]>,
  ).flat();

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('from start to stop', { timeout: 40_000 }, () => {
  test('it comes up, says what there is, and ends on Ctrl-C with nothing left behind', async () => {
    const started = start();
    const url = await up(started);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    expect(started.output()).toMatch(/API key +local_[\w-]{43}/);
    expect(started.output()).toMatch(/model +rehearsal: no real model/);
    const pids = processes();
    expect(pids.length).toBeGreaterThan(0);
    started.child.kill('SIGINT');
    const began = performance.now();
    expect(await started.exited).toBe(0);
    expect(performance.now() - began).toBeLessThan(3000);
    expect(pids.filter(alive)).toEqual([]);
  });

  test('a second start builds nothing, keeps the key, and uses the model of the environment', async () => {
    const key = readFileSync(join(checkout.home, 'api-key'), 'utf8').trim();
    const builds = readFileSync(join(checkout.dir, 'builds.txt'), 'utf8');
    const started = start({
      OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
      OPENAI_API_KEY: 'sk-secret',
      OPENAI_MODEL: 'my-model',
    });
    await up(started);
    expect(started.output()).toContain(key);
    expect(started.output()).toMatch(/model +my-model at http:\/\/127\.0\.0\.1:9\/v1/);
    expect(started.output()).not.toContain('Building');
    expect(started.output()).not.toContain('sk-secret');
    expect(readFileSync(join(checkout.dir, 'builds.txt'), 'utf8')).toBe(builds);
  });

  test('a second process on the same home is refused with a sentence', async () => {
    const first = start();
    const url = await up(first);
    const second = start();
    expect(await second.exited).toBe(1);
    expect(second.output()).toContain(
      `A local cloud already runs on ${checkout.home} (process ${first.child.pid}, ${url}).`,
    );
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  test('after kill -9 its functions are gone too, frozen ones included, and a new start goes on', async () => {
    const first = start();
    await up(first);
    const pids = processes();
    expect(pids.length).toBeGreaterThan(0);
    first.child.kill('SIGKILL');
    await first.exited;
    await vi.waitFor(() => expect(pids.filter(alive)).toEqual([]), 5000);
    await up(start());
  });

  test('a changed source is built anew, and a build that fails says why', async () => {
    checkout.write('lib/more.ts', 'export const more = 1;\n');
    const changed = start();
    await up(changed);
    expect(changed.output()).toContain('Building');
    changed.child.kill('SIGTERM');
    expect(await changed.exited).toBe(0);
    checkout.write('cdk/app.ts', "throw new Error('the stack has a hole');\n");
    const broken = start();
    expect(await broken.exited).toBe(1);
    expect(broken.output()).toMatch(/template could not be built[\s\S]*the stack has a hole/);
  });
});

describe('what cannot be used is refused with a sentence', { timeout: 20_000 }, () => {
  test.each([
    [{ BATON_API_KEY: 'short' }, 'BATON_API_KEY must be at least 32 characters'],
    [{ PORT: 'http' }, 'PORT must be a whole number'],
    [{ BATON_CHAOS: 'duplicate=7' }, 'duplicate=7'],
  ])('%j', async (environment, sentence) => {
    const started = start(environment);
    expect(await started.exited).toBe(1);
    expect(started.output()).toContain(sentence);
    expect(started.output()).not.toMatch(/^ +at /m); // no stack trace
  });

  test('a port that is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const started = start({ PORT: String(port) });
    expect(await started.exited).toBe(1);
    expect(started.output()).toContain(`Port ${port} is taken`);
    server.close();
  });
});
