import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, type Json } from './support/api.ts';
import { BUS_NAME, type Operator, operatorOf } from './support/operator.ts';
import { type Rows, rowsOf } from './support/rows.ts';
import { finish, type Script, use } from './support/scripted-model.ts';
import { type Grant, unexplained } from './support/usage.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
let operator: Operator;
let orgId = '';
let rows: Rows;
beforeAll(async () => {
  world = await startWorld();
  operator = operatorOf(world.cloud);
  orgId = (await world.cloud.must('GET', '/v1/organisation')).id;
  rows = rowsOf(operator, orgId);
});
afterAll(async () => {
  operator?.close();
  await world?.close();
});

let names = 0;
const script = (reply: Script) => {
  const model = `clock-${++names}`;
  return { model, heard: world.model.script(model, reply) };
};
/** Thinks until it is told to end. */
const endless = () => {
  let over = false;
  const { model, heard } = script(({ n }) =>
    over ? finish('over') : { ...use('think', { thought: `thought ${n}` }), waitMs: 20 },
  );
  return { model, heard, end: () => (over = true) };
};
const send = (queue: string, body: string) =>
  operator.sqs.send(
    new SendMessageCommand({ QueueUrl: operator.queueUrl(queue), MessageBody: body, MessageGroupId: 'any' }),
  );
const fire = (rule: string) => world.cloud.must('POST', `/_local/rules/${rule}/fire`);

describe('the stop of an organisation', () => {
  test('no model is called while it holds, and everything goes on within seconds after it', async () => {
    const runs = await Promise.all(
      [endless(), endless(), endless()].map(async (one) => ({
        ...one,
        id: (await world.cloud.run({ model: one.model, maxIterations: 10_000 })).id,
      })),
    );
    await eventually('all think', () => runs.every(({ heard }) => heard.calls.length > 1));
    expect((await world.cloud.must('POST', '/v1/organisation/stop')).stopped).toMatchObject({ at: expect.any(String) });
    const total = () => runs.reduce((sum, { heard }) => sum + heard.calls.length, 0);
    const atStop = total();
    await sleep(500);
    const standing = total();
    // At most the step under way of each.
    expect(standing - atStop).toBeLessThanOrEqual(3);
    await sleep(1_000);
    expect(total()).toBe(standing);
    const started = await world.cloud.run({ model: runs[0]?.model });
    await sleep(500);
    expect(total()).toBe(standing);
    const held = await world.cloud.must('GET', `/v1/executions/${started.id}`);
    expect(held.now).toMatchObject({ state: 'held', waitingOn: { kind: 'organisation' } });
    const { text } = await world.cloud.call('GET', '/v1/status');
    expect(JSON.parse(text).checks).toContainEqual(expect.objectContaining({ name: 'organisation', code: 2 }));
    await world.cloud.must('POST', '/v1/organisation/resume');
    const began = performance.now();
    const counts = runs.map(({ heard }) => heard.calls.length);
    await eventually(
      'all go on',
      () => runs.every(({ heard }, index) => heard.calls.length > (counts[index] ?? 0)),
      10,
    );
    console.log(`after the stop all went on within ${Math.round(performance.now() - began)} ms`);
    for (const { end } of runs) end();
    for (const { id } of [...runs, started]) await world.cloud.until(id, 'COMPLETED', 20);
    expect((await world.cloud.must('GET', '/v1/organisation')).stopped).toBeUndefined();
  }, 60_000);
});

describe('what cannot be read', () => {
  test('messages are set aside, and nothing else is disturbed', async () => {
    const { model, heard, end } = endless();
    const { id } = await world.cloud.run({ model, maxIterations: 10_000 });
    const garbage = [
      'no json',
      '{"orgId":',
      '{"executionId":"exe_1"}',
      '[]',
      JSON.stringify({ orgId, executionId: id, seq: 1, bogus: true }),
    ];
    const live = ['steps', 'effects', 'fires', 'inbox', 'assess'].map((name) => `baton-dev-${name}`);
    const queues = [...live, ...live.map((name) => `${name}-dead`)];
    for (const queue of queues) for (const body of garbage) await send(queue, `${body}  `);
    // Readable, and about nothing that is there.
    await send('baton-dev-steps', JSON.stringify({ orgId, executionId: 'exe_00000000000000000000000000', seq: 3 }));
    await send(
      'baton-dev-steps-dead',
      JSON.stringify({ orgId, executionId: 'exe_00000000000000000000000000', seq: 3 }),
    );
    await eventually(
      'all are set aside',
      async () => (await operator.parked()).length >= queues.length * garbage.length,
      30,
    );
    const parked = (await operator.parked()).map((text) => JSON.parse(text));
    expect(parked).toHaveLength(queues.length * garbage.length);
    expect(parked).toContainEqual(
      expect.objectContaining({
        body: 'no json  ',
        queue: expect.stringContaining('baton-dev-steps'),
        why: expect.any(String),
      }),
    );
    const before = heard.calls.length;
    await eventually('the run goes on', () => heard.calls.length > before + 3);
    end();
    await world.cloud.until(id, 'COMPLETED', 20);
  }, 60_000);

  test('the row of a newer version is refused for this one id and left as it is; everything else works', async () => {
    const { model } = script(({ n }) => (n === 1 ? use('ask_user', { question: '?' }) : finish('done')));
    const { id, agentId } = await world.cloud.run({ model });
    await world.cloud.until(id, 'WAITING_FOR_INPUT', 20);
    await rows.changeExecution(id, { v: 99, st: 'RUNNING' });
    const before = await rows.execution(id);
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['GET', '/feed', undefined],
      ['POST', '/pause', undefined],
      ['POST', '/terminate', undefined],
      ['POST', '/input', { content: 'x' }],
      ['PATCH', '', { maxIterations: 9 }],
    ] as const) {
      const answer = await world.cloud.call(method, `/v1/executions/${id}${path}`, body);
      expect(`${method} ${path} ${answer.status} ${answer.json.code}`).toBe(`${method} ${path} 500 unreadable_row`);
      expect(answer.text).not.toContain('ORG#');
    }
    // A message for it neither moves it nor harms others.
    await send('baton-dev-steps', JSON.stringify({ orgId, executionId: id, seq: 1 }));
    await eventually('the step meets it', () =>
      world.cloud.log('step').some((line) => JSON.stringify(line).includes('UnreadableRow')),
    );
    expect(await rows.execution(id)).toEqual(before);
    const other = await world.cloud.must('POST', `/v1/agents/${agentId}/executions`, {});
    await world.cloud.until(other.id, 'COMPLETED', 20);
    // A list shows what it can read.
    const { items } = await world.cloud.must('GET', '/v1/executions?limit=100');
    expect(items.map((item: Json) => item.id)).toContain(other.id);
    expect(
      (await world.cloud.must('GET', `/v1/executions?agentId=${agentId}`)).items.map((item: Json) => item.id),
    ).toEqual([other.id]);
    await rows.changeExecution(id, { v: 1, st: 'WAITING_FOR_INPUT' });
    expect((await world.cloud.must('GET', `/v1/executions/${id}`)).status).toBe('WAITING_FOR_INPUT');
    await world.cloud.must('POST', `/v1/executions/${id}/terminate`);
  }, 40_000);
});

describe('events', () => {
  const put = (detail: object) =>
    operator.events.send(
      new PutEventsCommand({
        Entries: [{ EventBusName: BUS_NAME, Source: 'shop', DetailType: 'Run Agent', Detail: JSON.stringify(detail) }],
      }),
    );
  const runsOf = async (agentId: string): Promise<readonly Json[]> =>
    (await world.cloud.must('GET', `/v1/executions?agentId=${agentId}`)).items;

  test('"Run Agent" starts a run once for its key, with its goals; one that does not fit starts nothing', async () => {
    const { model, heard } = script(() => finish('by event'));
    const { id: agentId } = await world.cloud.agent({ model });
    const detail = { organisationId: orgId, agentId, goals: ['Goal of the event'], idempotencyKey: 'order-1' };
    await put(detail);
    await put(detail);
    await put({ organisationId: orgId, agentId: 7 });
    await put({ organisationId: 'org_00000000000000000000000000', agentId });
    await put({ ...detail, idempotencyKey: 'order-2', instructions: ['More'] });
    await eventually('two runs', async () => (await runsOf(agentId)).length === 2);
    for (const { id } of await runsOf(agentId)) await world.cloud.until(id, 'COMPLETED', 20);
    await sleep(500);
    expect(await runsOf(agentId)).toHaveLength(2);
    expect(heard.calls).toHaveLength(2);
    expect(String(heard.calls[0]?.messages[0]?.content)).toContain('Goal of the event');
    expect(world.cloud.log('run-agent')).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('does not fit') }),
    );
  }, 40_000);

  test('every change of status goes out, once, and is marked as sent', async () => {
    const { model } = script(({ n }) => (n === 1 ? use('ask_user', { question: '?' }) : finish('done')));
    const { id } = await world.cloud.run({ model });
    await world.cloud.until(id, 'WAITING_FOR_INPUT', 20);
    await world.cloud.must('POST', `/v1/executions/${id}/input`, { content: 'go on' });
    await world.cloud.until(id, 'COMPLETED', 20);
    await eventually('all are sent', async () => {
      const all = await rows.effects(id);
      return all.length >= 4 && all.every(({ state }) => state === 'sent');
    });
    const sent = await rows.effects(id);
    expect(sent.map(({ detail }) => JSON.parse(String(detail))).map(({ from, to }) => `${from} → ${to}`)).toEqual([
      'CREATED → RUNNING',
      'RUNNING → WAITING_FOR_INPUT',
      'WAITING_FOR_INPUT → RUNNING',
      'RUNNING → COMPLETED',
    ]);
    for (const effect of sent) {
      expect(effect).toMatchObject({ kind: 'bus', detailType: 'Execution Status Changed', sentAt: expect.any(Number) });
      // Sent is out of the index, so the sweep never looks at it again.
      expect(effect.duePk).toBeUndefined();
    }
  }, 40_000);
});

describe('the clock', () => {
  /** Moves the mark of an execution into the past, as if nothing had moved for long. */
  const due = async (id: string, kind: 'sweep' | 'tick') => {
    const row = await rows.execution(id);
    const dueSk = `${new Date(Date.now() - 60_000).toISOString()}#${id}`;
    await rows.changeExecution(id, { duePk: String(row?.duePk).replace(/sweep|tick/, kind), dueSk });
  };
  /** A run whose wake-up is lost: it is WAITING, and its row is set to RUNNING without a message. */
  const lost = async () => {
    const { model, heard } = script(({ n }) => (n === 1 ? use('ask_user', { question: '?' }) : finish('found')));
    const { id } = await world.cloud.run({ model });
    await world.cloud.until(id, 'WAITING_FOR_INPUT', 20);
    await world.cloud.must('POST', `/v1/executions/${id}/pause`);
    await world.cloud.must('POST', `/v1/executions/${id}/input`, { content: 'answer' });
    await rows.changeExecution(id, { st: 'RUNNING', pf: undefined });
    return { id, heard };
  };

  test.each(['sweep', 'tick'] as const)(
    '%s finds what was lost',
    async (kind) => {
      const { id, heard } = await lost();
      await sleep(300);
      expect(heard.calls).toHaveLength(1);
      await due(id, kind);
      await fire(kind);
      expect(await world.cloud.until(id, 'COMPLETED', 20)).toMatchObject({ result: 'found', calls: 2 });
    },
    40_000,
  );

  test('a dead letter of a step that still stands is sent again', async () => {
    const { id } = await lost();
    await send('baton-dev-steps-dead', JSON.stringify({ orgId, executionId: id, seq: 1 }));
    expect(await world.cloud.until(id, 'COMPLETED', 20)).toMatchObject({ result: 'found' });
  });

  test('a dead letter of a step without attempts left becomes a reason that can be read', async () => {
    const { id } = await lost();
    await rows.changeExecution(id, { at: 5 });
    await send('baton-dev-steps-dead', JSON.stringify({ orgId, executionId: id, seq: 1 }));
    const stopped = await world.cloud.until(id, ['ERROR_PAUSED', 'COMPLETED'], 20);
    expect(stopped).toMatchObject({ status: 'ERROR_PAUSED', reason: 'step_undeliverable' });
    await world.cloud.must('POST', `/v1/executions/${id}/resume`);
    expect(await world.cloud.until(id, 'COMPLETED', 20)).toMatchObject({ result: 'found' });
  });

  test('an effect whose message was lost is found by the sweep', async () => {
    const { model } = script(() => finish('done'));
    const { id } = await world.cloud.run({ model });
    await world.cloud.until(id, 'COMPLETED', 20);
    const effect = async () =>
      (await rows.effects(id)).find(({ detail }) => String(detail).includes('"to":"COMPLETED"'));
    await eventually('it is sent', async () => (await effect())?.state === 'sent');
    const key = await effect();
    if (key === undefined) throw new Error('There is no such effect.');
    const dueSk = `${new Date(Date.now() - 60_000).toISOString()}#x`;
    await rows.change(key, { state: 'pending', duePk: 'DUE#sweep#0', dueSk, sentAt: undefined });
    await fire('sweep');
    await eventually('it is sent again', async () => (await effect())?.state === 'sent');
  });
});

test('what was granted was used, or is explained', async () => {
  const { cloud } = world;
  // The routes that the tests above had no use for.
  const agent = await cloud.agent({ constraints: ['x'] });
  await cloud.must('DELETE', `/v1/agents/${agent.id}/config/constraints`);
  const provider = { baseUrl: world.model.url, apiKey: 'some-key-1234567890', models: [{ name: 'm' }] };
  await cloud.must('PUT', '/v1/providers/spare', provider);
  await cloud.must('DELETE', '/v1/providers/spare');
  const { model } = script(({ n }) => {
    if (n === 1) return use('http_request', { method: 'GET', url: `${world.sink.url}/` });
    if (n === 2) return use('write_file', { path: 'a.txt', content: 'x'.repeat(20_000) });
    return n === 3 ? use('read_file', { path: 'a.txt' }) : finish('done');
  });
  await cloud.must('PUT', '/v1/providers/own', { ...provider, models: [{ name: model }] });
  const { id } = await cloud.run({ model });
  await cloud.until(id, 'COMPLETED', 20);
  await cloud.must('GET', `/v1/executions?agentId=${agent.id}`);
  // A schedule that fires, and a webhook that hears of it.
  await cloud.must('POST', '/v1/webhooks', { url: `${world.sink.url}/hook`, events: ['execution.status_changed'] });
  const { id: scheduled } = await cloud.agent({ model });
  const startAt = new Date(Date.now() + 2_000).toISOString();
  await cloud.must('POST', '/v1/schedules', { agentId: scheduled, every: 'PT1M', startAt });
  const family = script(({ messages }) => {
    const isChild = String(messages[0]?.content).includes('CHILD');
    return isChild || messages.some(({ role }) => role === 'tool') ? finish('ok') : use('run_agent', { goal: 'CHILD' });
  });
  const parent = await cloud.run({ model: family.model, tools: ['run_agent'] });
  await cloud.until(parent.id, 'COMPLETED', 40);
  expect((await cloud.call('GET', `/v1/executions/${id}/files/a.txt`)).text).toHaveLength(20_000);
  await operator.events.send(
    new PutEventsCommand({
      Entries: [
        {
          EventBusName: BUS_NAME,
          Source: 'shop',
          DetailType: 'Run Agent',
          Detail: JSON.stringify({ organisationId: orgId, agentId: (await cloud.agent({ model })).id }),
        },
      ],
    }),
  );
  await eventually(
    'the event has started a run',
    async () =>
      (await cloud.must('GET', '/v1/executions?status=RUNNING')).items.length === 0 &&
      cloud.log('run-agent').some(({ message }) => message === 'An event started a run.'),
  );
  await eventually(
    'the schedule has fired and its webhook was told',
    async () =>
      (await cloud.must('GET', `/v1/executions?agentId=${scheduled}&status=COMPLETED`)).items.length > 0 &&
      world.sink.got.some(({ path }) => path === '/hook'),
    30,
  );
  expect(world.model.problems).toEqual([]);
  operator.close();
  expect(await cloud.interrupt()).toBe(0);
  const usage = JSON.parse(readFileSync(join(cloud.home, 'usage.json'), 'utf8')) as {
    neverUsed: Grant[];
    refused: unknown[];
  };
  console.log(`granted and never used: ${usage.neverUsed.map(({ role, action }) => `${role} ${action}`).join(', ')}`);
  expect(unexplained(usage.neverUsed, 'engine')).toEqual([]);
  expect(usage.refused).toEqual([]);
}, 60_000);
