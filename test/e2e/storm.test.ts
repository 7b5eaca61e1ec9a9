import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { eventually, type Json } from './support/api.ts';
import { processTree } from './support/memory.ts';
import { finish, type Heard, type Script, use } from './support/scripted-model.ts';
import { patiently, settle } from './support/settle.ts';
import type { Received } from './support/sink.ts';
import { startWorld, type World } from './support/world.ts';

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

/** Micro-dollars that one call of the scripted model costs: 100 tokens in, 20 out, at the prices below. */
const CALL_USD = 100 * 10e-6 + 20 * 50e-6;
const PRICE = { inputUsdPerM: 10, outputUsdPerM: 50 };

interface Run {
  /** Also the name of its model and the first part of the paths that it posts to. */
  readonly name: string;
  readonly id: string;
  readonly steps: number;
  readonly unsafe: boolean;
  readonly heard: Heard;
}

/** One POST a step to a place of its own, then the end. The prompt tells the step: the script has no memory. */
const posts =
  (url: string, name: string, steps: number): Script =>
  ({ messages }) => {
    const step = messages.filter(({ role }) => role === 'assistant').length + 1;
    if (step > steps) return finish('all sent');
    return { ...use('http_request', { method: 'POST', url: `${url}/${name}/${step}`, body: '{}' }), waitMs: 20 };
  };

/** Runs with priced models, started at once. Each request carries a key, for an answer may be lost and asked for again. */
const begin = async (
  { cloud, model, sink }: World,
  plans: readonly { readonly name: string; readonly steps: number; readonly unsafe?: boolean }[],
): Promise<readonly Run[]> => {
  const must = (method: string, path: string, body: object, key: string): Promise<Json> =>
    patiently(() => cloud.must(method, path, body, { headers: { 'idempotency-key': key } }));
  const models = plans.map(({ name }) => ({ name, ...PRICE }));
  const provider = { baseUrl: model.url, apiKey: 'key-of-the-organisation', models };
  await patiently(() => cloud.must('PUT', '/v1/providers/priced', provider));
  return Promise.all(
    plans.map(async ({ name, steps, unsafe = false }) => {
      const heard = model.script(name, posts(sink.url, name, steps));
      const config = { goals: ['Post.'], model: name, httpUnsafe: unsafe, maxIterations: 100, maxCostUsd: 1_000 };
      const agent = await must('POST', '/v1/agents', { name, config }, `agent ${name}`);
      const { id } = await must('POST', `/v1/agents/${agent.id}/executions`, {}, `run ${name}`);
      return { name, id, steps, unsafe, heard };
    }),
  );
};

/** What must hold whatever was killed, seen from outside: API, model server and receiver. */
const judge = async ({ cloud, sink, model }: World, runs: readonly Run[]): Promise<number> => {
  expect(model.problems).toEqual([]);
  let unknown = 0;
  for (const { name, id, steps, unsafe, heard } of runs) {
    const execution = await patiently(() => cloud.must('GET', `/v1/executions/${id}`));
    expect(execution, name).toMatchObject({ status: 'COMPLETED', result: 'all sent', calls: steps + 1 });
    const feed = await patiently(() => cloud.feed(id));
    const replies = feed.filter(({ role }) => role === 'assistant').map(({ seq }) => seq);
    expect(replies, `${name}: one reply a step`).toEqual(Array.from({ length: steps + 1 }, (_, step) => step + 1));

    const got = sink.got.filter(({ path }) => path.startsWith(`/${name}/`));
    const byKey = Map.groupBy(got, ({ key }) => key);
    const byPath = Map.groupBy(got, ({ path }) => path);
    expect([...byKey.keys()].filter((key) => !key?.startsWith(`${id}-`))).toEqual([]);
    // One effect, one key, and the other way round.
    for (const same of byPath.values()) expect(new Set(same.map(({ key }) => key)).size, same[0]?.path).toBe(1);
    for (const same of byKey.values()) expect(new Set(same.map(({ path }) => path)).size, same[0]?.key).toBe(1);
    const places = Array.from({ length: steps }, (_, step) => `/${name}/${step + 1}`);
    const unsaid = feed.filter(({ role, content }) => role === 'tool' && /outcome of .* is unknown/.test(content));
    if (unsafe) {
      for (const [key, same] of byKey) expect(same.length, `${key} ran once at most`).toBe(1);
      const toldUnknown = unsaid.map(({ seq }) => `/${name}/${seq}`);
      expect(toldUnknown).toEqual(expect.arrayContaining(places.filter((place) => !byPath.has(place))));
    } else {
      expect([...byPath.keys()].toSorted()).toEqual(places.toSorted());
      expect(unsaid).toEqual([]);
    }
    unknown += unsaid.length;
    const answered = heard.calls.filter((call) => !call.aborted()).length;
    expect(execution.costUsd, `${name}: ${answered} answers were paid for`).toBeGreaterThanOrEqual(
      answered * CALL_USD - 1e-9,
    );
  }
  expect(sink.doubled()).toEqual([]);
  return unknown;
};

const callsOf = (runs: readonly Run[]): number => runs.reduce((sum, { heard }) => sum + heard.calls.length, 0);
const scriptedOf = (runs: readonly Run[]): number => runs.reduce((sum, { steps }) => sum + steps + 1, 0);

/** Processes of the step function that live, as the local cloud keeps them in its home. */
const stepProcesses = (cloud: World['cloud']): readonly number[] => {
  const alive = new Set(processTree(cloud.started().pid));
  try {
    const kept = JSON.parse(readFileSync(join(cloud.home, 'processes.json'), 'utf8')) as { [name: string]: number[] };
    return (kept['baton-dev-step'] ?? []).filter((pid) => alive.has(pid));
  } catch {
    return []; // it is being written
  }
};

/** Nothing may come for a while: then the wait is over all the same. */
const within = (seconds: number, something: Promise<void>): Promise<unknown> =>
  Promise.race([something, sleep(seconds * 1000, undefined, { ref: false })]);

const KILLS = 10;
/** These end the whole process group: the local cloud, its emulators and all functions. */
const OF_EVERYTHING = new Set([1, 6]);

test(`kill -9, ${KILLS} times in six runs with side effects: all complete, nothing is done under two keys, nothing unsafe twice`, async () => {
  let heard: ((request: Received) => void) | undefined;
  world = await startWorld({ LEASE_SECONDS: '3' }, (request) => {
    heard?.(request);
    return 'ok';
  });
  const { cloud, sink } = world;
  /** The next request of that kind; `strike` runs before it is answered. */
  const arrival = (matches: (path: string) => boolean, strike: () => void = () => {}): Promise<void> =>
    new Promise((done) => {
      heard = ({ path }) => {
        if (!matches(path)) return;
        heard = undefined;
        strike();
        done();
      };
    });
  const keyed = Array.from({ length: 5 }, (_, n) => ({ name: `keyed-${n}`, steps: 9 }));
  const runs = await begin(world, [...keyed, { name: 'unsafe', steps: 5, unsafe: true }]);
  // The first kill falls while an unsafe call is out: nobody will ever know what became of it.
  let killed: Promise<void> | undefined;
  const strike = () => {
    killed = cloud.kill();
  };
  await within(
    30,
    arrival((path) => path.startsWith('/unsafe/'), strike),
  );
  if (killed === undefined) throw new Error('No unsafe call has come.');
  await killed;
  await cloud.start();
  let processes = 0;
  for (let kill = 2; kill <= KILLS; kill++) {
    // The others fall 0 to 6 ms after the request of any run, or later, when its next model call is out.
    await within(
      8,
      arrival(() => true),
    );
    await sleep(((kill * 5) % 7) + (kill % 3 === 0 ? 25 : 0));
    if (OF_EVERYTHING.has(kill)) {
      await cloud.kill();
      await cloud.start();
      continue;
    }
    let alive: readonly number[] = [];
    await eventually('a process of the step function lives', () => {
      alive = stepProcesses(cloud);
      return alive.length > 0;
    });
    process.kill(alive[(kill * 7) % alive.length] as number, 'SIGKILL');
    processes++;
    // What the next kill meets is another moment.
    await sleep(100 + kill * 13);
  }
  heard = undefined;
  const began = performance.now();
  const sweeps = await settle(world, runs, 110);
  const unknown = await judge(world, runs);
  expect(unknown, 'the call that was killed while it was out').toBeGreaterThanOrEqual(1);
  // A process has one step in its hands; the whole group has one of each run.
  expect(callsOf(runs)).toBeLessThanOrEqual(scriptedOf(runs) + processes + OF_EVERYTHING.size * runs.length);
  for (const run of runs) expect(run.heard.calls.length, run.name).toBeLessThanOrEqual(run.steps + 1 + KILLS);
  console.log(
    `${KILLS} kills: ${callsOf(runs)} model calls for ${scriptedOf(runs)} steps, ${sink.got.length} requests to ${sink.paths().size} places, ` +
      `${unknown} unknown, ${sweeps} sweeps, ended ${Math.round((performance.now() - began) / 1000)} s after the last kill`,
  );
}, 200_000);

test.each([
  ['duplicate=0.5', 'deliveries'],
  ['reorder=0.7', 'deliveries'],
  ['delay=0.3:1', 'deliveries'],
  ['throttle=0.1', 'calls'],
  ['conflict=0.3', 'calls'],
  ['kill=0.02', 'calls'],
])(
  'BATON_CHAOS=%s alone: the same',
  async (chaos, faultsOf) => {
    world = await startWorld({ BATON_CHAOS: `${chaos},seed=11`, LEASE_SECONDS: '3' });
    const { cloud, sink } = world;
    const runs = await begin(world, [
      { name: 'keyed-0', steps: 6 },
      { name: 'keyed-1', steps: 6 },
      { name: 'unsafe', steps: 2, unsafe: true },
    ]);
    const sweeps = await settle(world, runs, 80);
    const unknown = await judge(world, runs);
    if (faultsOf === 'deliveries') {
      // Copies and their order cost nothing: no step is claimed twice.
      expect(callsOf(runs)).toBe(scriptedOf(runs));
      expect(unknown).toBe(0);
      expect(sink.got.length).toBe(14);
    }
    for (const { id, name, heard } of runs) {
      const { costUsd } = await patiently(() => cloud.must('GET', `/v1/executions/${id}`));
      // Hung up on or answered, and answered to a holder that was overtaken: no call without a claim that books it.
      expect(costUsd, `${name}: ${heard.calls.length} calls were paid for`).toBeGreaterThanOrEqual(
        heard.calls.length * CALL_USD - 1e-9,
      );
    }
    console.log(
      `${chaos}: ${callsOf(runs)} model calls for ${scriptedOf(runs)} steps, ${sink.got.length} requests, ${unknown} unknown, ${sweeps} sweeps`,
    );
  },
  120_000,
);
