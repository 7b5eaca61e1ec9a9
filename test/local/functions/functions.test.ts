import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { fixtureAssembly, fixtureFunction } from '../fixtures/assembly.ts';
import { answer, type Running, runFunctions } from '../fixtures/functions.ts';

let running: Running | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

const start = (
  fn: ReturnType<typeof fixtureFunction>,
  options?: Parameters<typeof runFunctions>[1],
  more: Parameters<typeof fixtureAssembly>[0] = {},
): Running => {
  running = runFunctions(fixtureAssembly({ functions: [fn], ...more }), options);
  return running;
};

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test('an event reaches the handler with the context of Lambda, and the process is used again', async () => {
  const functions = start(fixtureFunction('echo', { timeoutSeconds: 30 }));
  const first = await answer(functions, 'app-echo', { a: 'ü' });
  expect(first).toMatchObject({
    event: { a: 'ü' },
    functionName: 'app-echo',
    arn: 'arn:aws:lambda:us-east-1:000000000000:function:app-echo',
  });
  expect(first.remainingMs).toBeGreaterThan(28_000);
  expect(first.remainingMs).toBeLessThanOrEqual(30_000);
  const second = await answer(functions, 'arn:aws:lambda:us-east-1:000000000000:function:app-echo');
  expect(second.pid).toBe(first.pid);
  expect(second.requestId).not.toBe(first.requestId);
});

test('the environment holds what the template and Lambda set, and nothing of the host', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'operator-secret');
  const fn = fixtureFunction('environment', { environment: { LEASE_SECONDS: '30', TABLE_NAME: 't' } });
  const functions = start(fn, { overrides: { LEASE_SECONDS: '5', EGRESS_ALLOW: '127.0.0.1:1' } });
  const env = await answer(functions, 'app-environment');
  vi.unstubAllEnvs();
  expect(env).toMatchObject({
    LEASE_SECONDS: '5',
    TABLE_NAME: 't',
    AWS_ACCESS_KEY_ID: 'KEY-environmentRole',
    AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '128',
    _HANDLER: 'index.environment',
  });
  expect(env).not.toHaveProperty('OPENAI_API_KEY');
  expect(env).not.toHaveProperty('EGRESS_ALLOW'); // the template does not give it to this function
  expect(env).not.toHaveProperty('HOME');
});

test('a function error comes back as a value; the process lives on', async () => {
  const functions = start(fixtureFunction('fails'));
  const outcome = await functions.invoke('app-fails', '{}');
  expect(outcome).toMatchObject({ ok: false, error: { errorType: 'TypeError', errorMessage: 'not today' } });
  expect(functions.echoed.join('\n')).toContain('not today');
});

test('an unknown function and an oversized payload are refused', async () => {
  const functions = start(fixtureFunction('echo'));
  expect(await functions.invoke('nobody', '{}')).toMatchObject({ error: { errorType: 'ResourceNotFoundException' } });
  const big = Buffer.alloc(6 * 1024 * 1024 + 1, 32);
  expect(await functions.invoke('app-echo', big)).toMatchObject({ error: { errorType: 'RequestTooLargeException' } });
});

test('an answer over 6 MB is an error', async () => {
  const functions = start(fixtureFunction('big'));
  const outcome = await functions.invoke('app-big', JSON.stringify({ bytes: 6 * 1024 * 1024 }));
  expect(outcome).toMatchObject({ ok: false, error: { errorType: 'Function.ResponseSizeTooLarge' } });
});

test.each([
  ['callback', 'Runtime.CallbackHandlerDeprecated'],
  ['missing', 'Runtime.HandlerNotFound'],
])('a %s handler fails while loading', async (handler, errorType) => {
  const functions = start(fixtureFunction(handler));
  expect(await functions.invoke(`app-${handler}`, '{}')).toMatchObject({ ok: false, error: { errorType } });
});

test.each([
  ['exits', 'Runtime.ExitError'],
  ['rejects', 'Runtime.UnhandledPromiseRejection'],
])('a process that %s fails its event, and the next event starts a new one', async (handler, errorType) => {
  const functions = start(fixtureFunction(handler));
  for (let i = 0; i < 2; i++) {
    expect(await functions.invoke(`app-${handler}`, '{}')).toMatchObject({ ok: false, error: { errorType } });
  }
});

test.each([false, true])('a time-out kills the process (spinning: %s)', async (spin) => {
  const functions = start(fixtureFunction('sleeper', { timeoutSeconds: 1 }));
  const outcome = await functions.invoke('app-sleeper', JSON.stringify({ ms: 20_000, spin }));
  expect(outcome).toMatchObject({ ok: false, error: { errorType: 'Sandbox.Timedout' } });
  expect(await answer(functions, 'app-sleeper', { ms: 1 })).toMatchObject({ slept: 1 });
});

test.runIf(process.platform === 'linux')('memory above the limit kills the process', async () => {
  const functions = start(fixtureFunction('hog', { timeoutSeconds: 30 }));
  const outcome = await functions.invoke('app-hog', JSON.stringify({ mb: 600 }));
  expect(outcome).toMatchObject({ ok: false, error: { errorType: 'Runtime.OutOfMemory' } });
});

test('between two events nothing runs in the process', async () => {
  const functions = start(fixtureFunction('ticker'));
  await answer(functions, 'app-ticker');
  await sleep(400); // the timer would tick some eighty times
  expect((await answer(functions, 'app-ticker')).ticks).toBeLessThan(20);
});

test('no more processes than the cap; further events wait their turn', async () => {
  const fn = fixtureFunction('sleeper');
  const functions = start(fn);
  expect(functions.free('app-sleeper')).toBe(2);
  const answers = await Promise.all(
    [1, 2, 3, 4].map(async () => (await answer(functions, 'app-sleeper', { ms: 300 })).pid),
  );
  expect(new Set(answers).size).toBe(2);
  expect(functions.free('app-sleeper')).toBe(2);
});

test('events wait in the order they came, and a burst of short ones is served by one process', async () => {
  const functions = start(fixtureFunction('echo'));
  await answer(functions, 'app-echo');
  const order: number[] = [];
  const pids = await Promise.all(
    [1, 2, 3, 4, 5].map(async (n) => {
      const { pid } = await answer(functions, 'app-echo');
      order.push(n);
      return pid;
    }),
  );
  expect(order).toEqual([1, 2, 3, 4, 5]);
  expect(new Set(pids).size).toBe(1);
});

test('an idle process is ended, and so is every process when the cloud stops', async () => {
  const functions = start(fixtureFunction('echo'), { idleMs: 50 });
  const { pid } = await answer(functions, 'app-echo');
  await vi.waitFor(() => expect(alive(Number(pid))).toBe(false), { timeout: 5000 });
  const { pid: next } = await answer(functions, 'app-echo');
  await functions.close();
  expect(alive(Number(next))).toBe(false);
});

test('processes.json names the processes, and a kill -9 from outside fails only the running event', async () => {
  const functions = start(fixtureFunction('sleeper'));
  const outcome = functions.invoke('app-sleeper', JSON.stringify({ ms: 20_000 }));
  const pid = await vi.waitFor(() => {
    const [first] = JSON.parse(readFileSync(join(functions.home, 'processes.json'), 'utf8'))['app-sleeper'] as number[];
    if (first === undefined) throw new Error('not started yet');
    return first;
  });
  process.kill(pid, 'SIGKILL');
  expect(await outcome).toMatchObject({ ok: false, error: { errorType: 'Runtime.ExitError' } });
  expect((await answer(functions, 'app-sleeper', { ms: 1 })).pid).not.toBe(pid);
});

test.each(['app-sleeper', 'sleeperRole'])('killProcessOf(%s) kills the busy process', async (name) => {
  const functions = start(fixtureFunction('sleeper'));
  expect(functions.killProcessOf(name)).toBe(false);
  const outcome = functions.invoke('app-sleeper', JSON.stringify({ ms: 20_000 }));
  await vi.waitFor(() => expect(functions.killProcessOf(name)).toBe(true));
  expect(await outcome).toMatchObject({ ok: false, error: { errorMessage: expect.stringContaining('SIGKILL') } });
});

test('logs are JSON lines in a file of the function; errors are echoed', async () => {
  const functions = start(fixtureFunction('logs'));
  await answer(functions, 'app-logs').catch(() => undefined);
  await functions.invoke('app-logs', '{}');
  const file = join(functions.home, 'logs', 'app-logs.log');
  await vi.waitFor(() => {
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(parsed).toContainEqual(expect.objectContaining({ level: 'INFO', message: 'plain line' }));
    expect(parsed).toContainEqual(expect.objectContaining({ message: 'structured', executionId: 'exe_1' }));
  });
  expect(functions.echoed).toContain('[app-logs] structured');
});

test('an asynchronous invocation is tried three times in all', async () => {
  const functions = start(fixtureFunction('fails'), { asyncRetryMs: [10, 10] });
  functions.invokeAsync('app-fails', '{}');
  const failures = () => functions.echoed.filter((line) => line.includes('Invocation failed')).length;
  await vi.waitFor(() => expect(failures()).toBe(3), { timeout: 5000 });
  await sleep(100); // a fourth try would come within some ten milliseconds
  expect(failures()).toBe(3);
});
