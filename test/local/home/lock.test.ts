import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { openHome } from '../../../local/home/home.ts';
import { tryLock } from '../../../local/home/lock.ts';

const dir = mkdtempSync(join(tmpdir(), 'home-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('a lock is held once and can be taken again after its release', () => {
  const file = join(dir, 'a', 'lock.sqlite');
  const lock = tryLock(file);
  expect(lock).toBeDefined();
  expect(tryLock(file)).toBeUndefined();
  lock?.release();
  tryLock(file)?.release();
});

test('the lock of a process that was killed is free at once', async () => {
  const file = join(dir, 'b.sqlite');
  const module = new URL('../../../local/home/lock.ts', import.meta.url).href;
  const script = `const { tryLock } = await import(${JSON.stringify(module)});
    console.log(tryLock(${JSON.stringify(file)}) ? 'held' : 'refused'); setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  holder.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await vi.waitFor(() => expect(said).toContain('held'), 10_000);
  expect(tryLock(file)).toBeUndefined();
  const gone = new Promise((resolve) => holder.once('exit', resolve));
  holder.kill('SIGKILL');
  await gone;
  const lock = tryLock(file);
  expect(lock).toBeDefined();
  lock?.release();
});

test('the key of a home is made once and is private', () => {
  const home = openHome(join(dir, 'home'));
  const key = home.apiKey();
  expect(key).toMatch(/^local_[\w-]{43}$/);
  expect(openHome(home.dir).apiKey()).toBe(key);
  expect(statSync(home.path('api-key')).mode & 0o077).toBe(0);
});
