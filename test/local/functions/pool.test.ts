import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { failed, type Outcome } from '../../../local/functions/outcome.ts';
import { createPool, type Pool, type PoolOptions } from '../../../local/functions/pool.ts';
import type { FunctionProcess } from '../../../local/functions/process.ts';

/** A process whose events end when the test says so. */
interface Fake extends FunctionProcess {
  readonly running: ((outcome: Outcome) => void)[];
}

const done: Outcome = { ok: true, payload: Buffer.from('1') };
let pools: Pool[] = [];
afterEach(async () => {
  await Promise.all(pools.map((pool) => pool.close()));
  pools = [];
});

const makePool = (options: Partial<PoolOptions> = {}): { readonly pool: Pool; readonly started: Fake[] } => {
  const started: Fake[] = [];
  const start = async (): Promise<FunctionProcess> => {
    let gone = false;
    let end = (): void => {};
    const running: Fake['running'] = [];
    const fake: Fake = {
      pid: started.length + 1,
      memoryMb: 128,
      running,
      gone: new Promise((resolve) => (end = resolve)),
      isGone: () => gone,
      invoke: () => new Promise((resolve) => running.push(resolve)),
      kill(reason) {
        gone = true;
        for (const settle of running.splice(0)) settle(reason);
        end();
      },
    };
    started.push(fake);
    return fake;
  };
  const pool = createPool({ max: 3, idleMs: 60_000, start, room: () => true, changed: () => {}, ...options });
  pools.push(pool);
  return { pool, started };
};

test('its first process can be started before the first event, and only that one', async () => {
  const { pool, started } = makePool();
  pool.warm();
  pool.warm();
  await vi.waitFor(() => expect(pool.idleSince()).toBeDefined());
  pool.warm();
  expect(started).toHaveLength(1);
  const first = pool.invoke('{}');
  await vi.waitFor(() => expect(started[0]?.running).toHaveLength(1));
  started[0]?.running.shift()?.(done);
  expect(await first).toEqual(done);
  await pool.close();
  pool.warm();
  expect(started).toHaveLength(1);
});

test('it grows step by step while events wait, up to its cap', async () => {
  const { pool, started } = makePool();
  const all = Array.from({ length: 5 }, () => pool.invoke('{}'));
  await vi.waitFor(() => expect(started).toHaveLength(1));
  expect(pool.free()).toBe(0);
  await vi.waitFor(() => expect(started).toHaveLength(3), 10_000);
  await sleep(250); // one more chance to grow
  expect(started).toHaveLength(3);
  for (let i = 0; i < 5; i++) {
    await vi.waitFor(() => expect(started.some(({ running }) => running.length > 0)).toBe(true));
    started.find(({ running }) => running.length > 0)?.running.shift()?.(done);
  }
  expect(await Promise.all(all)).toEqual([done, done, done, done, done]);
  expect(pool.free()).toBe(3);
});

test('without room only the first process starts', async () => {
  const { pool, started } = makePool({ room: () => false });
  const all = [pool.invoke('{}'), pool.invoke('{}')];
  await sleep(250);
  expect(started).toHaveLength(1);
  started[0]?.running.shift()?.(done);
  await all[0];
  await vi.waitFor(() => expect(started[0]?.running).toHaveLength(1));
  started[0]?.running.shift()?.(done);
  expect(await all[1]).toBe(done);
});

test('the process that is idle longest makes way; a busy one never does', async () => {
  const { pool, started } = makePool();
  const event = pool.invoke('{}');
  await vi.waitFor(() => expect(started[0]?.running).toHaveLength(1));
  expect(pool.idleSince()).toBeUndefined();
  pool.endIdle();
  expect(started[0]?.isGone()).toBe(false);
  started[0]?.running.shift()?.(done);
  await event;
  expect(pool.idleSince()).toBeGreaterThan(0);
  pool.endIdle();
  expect(started[0]?.isGone()).toBe(true);
  await vi.waitFor(() => expect(pool.size()).toBe(0));
});

test('an event that waits gets a new process when the only one dies', async () => {
  const { pool, started } = makePool({ max: 1 });
  const [first, second] = [pool.invoke('{}'), pool.invoke('{}')];
  await vi.waitFor(() => expect(started[0]?.running).toHaveLength(1));
  expect(pool.killOne()).toBe(true);
  expect(await first).toMatchObject({ ok: false });
  await vi.waitFor(() => expect(started[1]?.running).toHaveLength(1));
  started[1]?.running.shift()?.(done);
  expect(await second).toBe(done);
});

test('a process that cannot start fails the event', async () => {
  const { pool } = makePool({ start: () => Promise.reject(new Error('no memory')) });
  expect(await pool.invoke('{}')).toEqual(failed('Runtime.StartFailed', 'no memory'));
});

test('closing fails what waits and what runs', async () => {
  const { pool, started } = makePool({ max: 1 });
  const all = [pool.invoke('{}'), pool.invoke('{}')];
  await vi.waitFor(() => expect(started[0]?.running).toHaveLength(1));
  await pool.close();
  for (const outcome of await Promise.all(all))
    expect(outcome).toMatchObject({ error: { errorType: 'ServiceException' } });
  expect(await pool.invoke('{}')).toMatchObject({ ok: false });
});
