import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { eventually } from './support/api.ts';
import { newHome, spawnCloud } from './support/cloud.ts';
import { finish, type ModelCall, type Script, use } from './support/scripted-model.ts';
import { patiently, settle } from './support/settle.ts';
import { startWorld, type World } from './support/world.ts';

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

/** Steps whose reply was stored are in the prompt: the script needs no memory of its own. */
const stepOf = ({ messages }: ModelCall): number => messages.filter(({ role }) => role === 'assistant').length + 1;

/** `steps` POSTs to places of their own, one a step, then the end. */
const posts =
  (url: () => string, steps: number, waitMs: number): Script =>
  (call) => {
    const step = stepOf(call);
    if (step > steps) return finish('all sent');
    return { ...use('http_request', { method: 'POST', url: `${url()}/step/${step}`, body: '{}' }), waitMs };
  };

test('kill -9 of everything, three times in a run of 30 steps with side effects: it goes on, and nothing is done under two keys', async () => {
  const STEPS = 30;
  world = await startWorld({ LEASE_SECONDS: '2' });
  const { cloud, sink, model } = world;
  const heard = model.script(
    'posts',
    posts(() => sink.url, STEPS, 40),
  );
  const { id } = await cloud.run({ model: 'posts', maxIterations: 100 });
  for (let kill = 1; kill <= 3; kill++) {
    await eventually(`${kill * 7} requests have arrived`, () => sink.got.length >= kill * 7);
    // Somewhere within a step: each kill hits another place.
    await sleep(17 * kill);
    await cloud.kill();
    await cloud.start();
  }
  const sweeps = await settle(world, [{ id }], 90);
  const end = await cloud.must('GET', `/v1/executions/${id}`);
  expect(end).toMatchObject({ status: 'COMPLETED', result: 'all sent', calls: STEPS + 1 });
  expect(sink.doubled()).toEqual([]);
  expect(sink.paths().size).toBe(STEPS);
  expect(heard.calls.length).toBeLessThanOrEqual(STEPS + 1 + 3);
  expect(model.problems).toEqual([]);
  const feed = await cloud.feed(id);
  const seqs = feed.filter(({ role }) => role === 'assistant').map(({ seq }) => seq);
  expect(seqs).toEqual(Array.from({ length: STEPS + 1 }, (_, index) => index + 1));
  console.log(
    `3 kills: ${heard.calls.length} model calls for ${STEPS + 1} steps, ${sink.got.length} requests, ${sweeps} sweeps`,
  );
}, 150_000);

test('a chain goes on when only the main process is killed', async () => {
  world = await startWorld({ LEASE_SECONDS: '2' });
  const { cloud, sink, model } = world;
  model.script(
    'posts',
    posts(() => sink.url, 8, 100),
  );
  const { id } = await cloud.run({ model: 'posts' });
  await eventually('a request has arrived', () => sink.got.length >= 1);
  process.kill(cloud.local().pid, 'SIGKILL');
  await cloud.started().exited;
  await cloud.start();
  await settle(world, [{ id }], 60);
  expect(await cloud.must('GET', `/v1/executions/${id}`)).toMatchObject({ status: 'COMPLETED', calls: 9 });
  expect(sink.doubled()).toEqual([]);
}, 60_000);

test('duplicates, another order, throttles, conflicts and killed processes: a run of 25 steps completes, each effect under one key', async () => {
  const STEPS = 25;
  world = await startWorld({
    BATON_CHAOS: 'duplicate=0.3,reorder=0.3,throttle=0.02,conflict=0.02,kill=0.01,seed=7',
    LEASE_SECONDS: '2',
  });
  const { cloud, sink, model } = world;
  const heard = model.script(
    'posts',
    posts(() => sink.url, STEPS, 5),
  );
  const created = await patiently(() => cloud.run({ model: 'posts', maxIterations: 100 }));
  const sweeps = await settle(world, [created], 90);
  const end = await patiently(() => cloud.must('GET', `/v1/executions/${created.id}`));
  expect(end).toMatchObject({ status: 'COMPLETED', result: 'all sent', calls: STEPS + 1 });
  expect(sink.doubled()).toEqual([]);
  expect(sink.paths().size).toBe(STEPS);
  expect(model.problems).toEqual([]);
  const feed = await patiently(() => cloud.feed(created.id));
  const seqs = feed.filter(({ role }) => role === 'assistant').map(({ seq }) => seq);
  expect(seqs).toEqual(Array.from({ length: STEPS + 1 }, (_, index) => index + 1));
  console.log(
    `chaos: ${heard.calls.length} model calls for ${STEPS + 1} steps, ${sink.got.length} requests, ${sweeps} sweeps`,
  );
}, 120_000);

test.each(['duplicate=2', 'delay=0.1'])(
  'BATON_CHAOS=%s is refused with a sentence',
  async (chaos) => {
    const home = newHome();
    const started = spawnCloud(home, { BATON_CHAOS: chaos });
    expect(await started.exited).toBe(1);
    expect(started.output()).toMatch(/^BATON_CHAOS cannot be read at '[^']+': .+\.\n$/);
    rmSync(home, { recursive: true, force: true });
  },
  20_000,
);
