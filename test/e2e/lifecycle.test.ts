import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from './support/api.ts';
import { type Cloud, newHome, ROOT, spawnCloud, startCloud } from './support/cloud.ts';
import { signalGroup } from './support/groups.ts';
import { closeServer, listen } from './support/http-server.ts';
import { processTree } from './support/memory.ts';
import { finish, startScriptedModel, use } from './support/scripted-model.ts';

let cloud: Cloud | undefined;
const homes: string[] = [];
afterEach(async () => {
  await cloud?.stop();
  cloud = undefined;
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
});
const scratch = (): string => {
  const home = newHome();
  homes.push(home);
  return home;
};

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    // A process that has ended and that nobody has waited for still has its number.
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

const functionPids = (home: string): number[] =>
  Object.values(JSON.parse(readFileSync(join(home, 'processes.json'), 'utf8')) as Record<string, number[]>).flat();

const family = (of: Cloud): readonly number[] => [
  ...new Set([...processTree(of.local().pid), ...functionPids(of.home)]),
];

describe('start and stop', () => {
  test('a second process on the same home is refused with a sentence; the first is not disturbed', async () => {
    cloud = await startCloud();
    const second = spawnCloud(cloud.home);
    expect(await second.exited).toBe(1);
    const { pid, url } = cloud.local();
    expect(second.output()).toBe(
      `A local cloud already runs on ${cloud.home} (process ${pid}, ${url}). Stop it, or give this one another BATON_HOME and PORT.\n`,
    );
    expect((await cloud.call('GET', '/health', undefined, { key: null })).json).toEqual({ status: 'ok' });
  }, 30_000);

  test('Ctrl-C in the middle of a run ends it within 3 seconds with 0 and leaves nothing behind; a new start goes on', async () => {
    const model = await startScriptedModel();
    try {
      const heard = model.script('slow', ({ n }) =>
        n < 4 ? { ...use('think', { thought: `${n}` }), waitMs: 400 } : finish('went on'),
      );
      cloud = await startCloud({ OPENAI_BASE_URL: model.url, LEASE_SECONDS: '2' });
      const { id } = await cloud.run({ model: 'slow' });
      await eventually('it thinks', () => heard.calls.length === 2);
      const pids = family(cloud);
      expect(pids.length).toBeGreaterThan(1);
      const began = performance.now();
      expect(await cloud.interrupt()).toBe(0);
      expect(performance.now() - began).toBeLessThan(3_000);
      console.log(`Ctrl-C took ${Math.round(performance.now() - began)} ms`);
      await eventually('all are gone', () => pids.filter(alive).length === 0, 3);
      const again = performance.now();
      await cloud.start();
      console.log(`a start on a home with state took ${Math.round(performance.now() - again)} ms`);
      expect(await cloud.until(id, 'COMPLETED', 20)).toMatchObject({ result: 'went on' });
    } finally {
      await model.close();
    }
  }, 40_000);

  test('kill -9 of the main process alone leaves no orphans, and a new start goes on', async () => {
    cloud = await startCloud();
    await cloud.agent({});
    const pids = family(cloud);
    process.kill(cloud.local().pid, 'SIGKILL');
    await cloud.started().exited;
    await eventually('all are gone', () => pids.filter(alive).length === 0, 5);
    await cloud.start();
    expect((await cloud.must('GET', '/v1/agents')).items).toHaveLength(1);
  }, 40_000);

  test('npm start does the same, and Ctrl-C reaches it through npm', async () => {
    const started = spawnCloud(scratch(), {}, ['npm', 'start', '--silent']);
    await eventually('it is up', () => started.output().includes('Ctrl-C stops.'), 60);
    expect(started.output()).toMatch(/^ {2}address +http:\/\/127\.0\.0\.1:\d+$/m);
    const pids = processTree(started.pid).filter((pid) => pid !== started.pid);
    signalGroup(started.pid, 'SIGINT');
    await started.exited;
    await eventually('all are gone', () => pids.filter(alive).length === 0, 5);
    signalGroup(started.pid, 'SIGKILL');
  }, 70_000);
});

describe('what cannot be used is refused with a sentence, and nothing is left running', () => {
  test.each([
    [{ BATON_API_KEY: 'too-short' }, /^BATON_API_KEY must be at least 32 characters.*9 characters\.\n$/],
    [{ LEASE_SECONDS: 'soon' }, /^LEASE_SECONDS must be a whole number/],
    [{ EGRESS_ALLOW: 'localhost' }, /^EGRESS_ALLOW must be a comma list of host:port/],
  ])(
    '%j',
    async (environment, sentence) => {
      const started = spawnCloud(scratch(), environment);
      expect(await started.exited).toBe(1);
      expect(started.output()).toMatch(sentence);
      expect(started.output()).not.toMatch(/^ +at /m);
    },
    20_000,
  );

  test('a port that is taken', async () => {
    const server = createServer();
    const { host } = await listen(server);
    const port = host.split(':')[1] ?? '';
    const started = spawnCloud(scratch(), { PORT: port });
    expect(await started.exited).toBe(1);
    expect(started.output()).toBe(`Port ${port} is taken by another program. Set PORT to a free one.\n`);
    await closeServer(server);
  }, 20_000);

  test('a Node that is too old', () => {
    // The message must not need the new Node: what it stands in is plain JavaScript.
    const script = `Object.defineProperty(process.versions, 'node', { value: '20.1.0' }); await import(process.argv[1]);`;
    const args = ['--input-type=module', '-e', script, join(ROOT, 'scripts/node-version.mjs')];
    expect(() => execFileSync(process.execPath, args, { stdio: 'pipe' })).toThrow(/Baton needs Node 24 or newer/);
  });
});
