import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { A } from '../../lib/execution/execution.ts';
import { due, keys } from '../../lib/kernel/keys.ts';
import { eventually, type Json } from './support/api.ts';
import { operatorOf } from './support/operator.ts';
import { rowsOf } from './support/rows.ts';
import { type Heard, use } from './support/scripted-model.ts';
import { patiently, settle } from './support/settle.ts';
import { scriptsOf } from './support/workflow-scripts.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ BATON_CHAOS: 'kill=0.006,duplicate=0.1,seed=11', LEASE_SECONDS: '2' });
});
afterAll(() => world?.close());

const must = (method: string, path: string, body?: unknown): Promise<Json> =>
  patiently(() => world.cloud.must(method, path, body));

const startRun = async (workflow: string, model = workflow): Promise<Json> => {
  const config = { model, goals: ['Reach it.'], maxIterations: 100 };
  const agent = await must('POST', '/v1/agents', { name: workflow, workflow, config });
  return must('POST', `/v1/agents/${agent.id}/executions`, {});
};

/** Says no to the first permission of each run, with words, and yes to the others. Waits are cut short. */
const playPeople = async (runs: readonly Json[], ended: () => boolean): Promise<void> => {
  const { cloud } = world;
  const operator = operatorOf(cloud);
  const orgId = (await must('GET', '/v1/organisation')).id;
  const rows = rowsOf(operator, orgId);
  const refused = new Set<string>();
  try {
    while (!ended()) {
      const { items } = await must('GET', '/v1/permissions?status=pending');
      for (const { id, executionId } of items) {
        const decision = refused.has(executionId)
          ? { decision: 'approve' }
          : { decision: 'reject', feedback: 'It cannot subtract.' };
        refused.add(executionId);
        // Delivered twice by a caller whose answer was lost: the second is refused, and the first stands.
        await patiently(async () => {
          const { status } = await cloud.call('POST', `/v1/permissions/${id}/decision`, decision);
          if (status >= 500) throw new Error(`The decision met a ${status}.`);
        });
      }
      for (const { id } of runs) {
        const row = await rows.execution(id);
        if (row?.[A.status] !== 'WAIT_STEP' || Number(row[A.waitUntil]) < Date.now()) continue;
        const past = Date.now() - 1_000;
        const wait = { ...keys.wait(orgId, id, Number(row[A.seq]), 0) };
        await rows.change(wait, { until: past });
        await rows.changeExecution(id, { [A.waitUntil]: past, [A.dueSk]: due.sk(past, id) });
        await must('POST', '/_local/rules/tick/fire');
      }
      await sleep(200);
    }
  } finally {
    operator.close();
  }
};

const filesOf = async (id: string): Promise<readonly string[]> =>
  (await must('GET', `/v1/executions/${id}/files?limit=100`)).items.map(({ path }) => path).sort();

describe('the six built-in workflows, with function processes killed and messages doubled', () => {
  const runs = new Map<string, Json>();
  const ends = new Map<string, Json>();
  const scripted: Heard[] = [];
  beforeAll(async () => {
    const scripts = scriptsOf(() => world.sink.url);
    for (const [name, script] of Object.entries(scripts)) {
      scripted.push(world.model.script(name, script));
      runs.set(name, await startRun(name));
    }
    // kill -9 of every process in the middle of it, once; the chaos kills single functions before and after.
    // A run whose first message died with the process that sends it is left to the sweep.
    const begun = () => scripted.filter((heard) => heard.calls.length >= 1).length;
    await eventually('most have begun', () => begun() >= scripted.length / 2, 60);
    await world.cloud.kill();
    await world.cloud.start();
    let ended = false;
    const people = playPeople([...runs.values()], () => ended);
    await settle(world, [...runs.values()], 240).finally(() => (ended = true));
    await people;
    for (const [name, { id }] of runs) ends.set(name, await must('GET', `/v1/executions/${id}`));
  }, 300_000);

  test.each(['goal', 'dynamic-task', 'fixed-task', 'sales-engagement', 'recruitment', 'supercoder'])(
    '%s completes',
    (name) => {
      expect(ends.get(name)).toMatchObject({ status: 'COMPLETED' });
    },
  );

  test('tasks are worked in order, those that came later too', async () => {
    const listed = (name: string) =>
      [...(ends.get(name)?.result ?? '').matchAll(/^\d+\. (\w+):/gm)].map(([, task]) => task);
    expect(listed('dynamic-task')).toEqual(['alpha', 'gamma', 'beta']);
    expect(listed('fixed-task')).toEqual(['alpha', 'beta']);
    expect(await filesOf(runs.get('dynamic-task')?.id ?? '')).toEqual(['alpha.txt', 'beta.txt', 'gamma.txt']);
  });

  test('yes and no lead where they should', async () => {
    expect(await filesOf(runs.get('recruitment')?.id ?? '')).toEqual([
      'outbox/accepted-ada.md',
      'outbox/rejected-bob.md',
    ]);
    expect(ends.get('supercoder')?.result).toBe('files: better.js');
    const letters = ['outbox/ada-1.md', 'outbox/ada-2.md', 'outbox/bob-1.md', 'outbox/bob-2.md'];
    expect(await filesOf(runs.get('sales-engagement')?.id ?? '')).toEqual(letters);
  });

  test('the steps tell where each run stood', async () => {
    const steps = await patiently(() => world.cloud.steps(runs.get('sales-engagement')?.id ?? ''));
    const places = steps.map(({ phase }) => phase);
    expect(places.filter((place) => place === 'sales-engagement/pause')).toHaveLength(2);
    // Ada's was turned down once, so that she was looked up once more.
    expect(places.filter((place) => place === 'sales-engagement/research')).toHaveLength(3);
    expect(places.at(-1)).toBe('sales-engagement/leads:next');
    expect(steps.map(({ seq }) => seq)).toEqual(steps.map((_, index) => index + 1));
  });

  test('no prompt was one that a provider would refuse', () => {
    expect(world.model.problems).toEqual([]);
  });
});

test('a running execution keeps the version of the workflow that it began with', async () => {
  const ask = (name: string, result: string) => ({
    name,
    start: 'ask',
    steps: {
      ask: { kind: 'ASK_PERMISSION', question: 'Go on?', next: { YES: 'done', NO: 'done' } },
      done: { kind: 'END', result },
    },
  });
  world.model.script('versions', () => use('think', { thought: 'never asked' }));
  await must('POST', '/v1/workflows', ask('versioned', 'old'));
  const run = await startRun('versioned', 'versions');
  await patiently(() => world.cloud.until(run.id, 'WAITING_FOR_PERMISSION', 30));
  await must('POST', '/v1/workflows', ask('versioned', 'new'));
  let ended = false;
  const people = playPeople([run], () => ended);
  await settle(world, [run], 60).finally(() => (ended = true));
  await people;
  expect(await must('GET', `/v1/executions/${run.id}`)).toMatchObject({ status: 'COMPLETED', result: 'old', calls: 0 });
}, 90_000);
