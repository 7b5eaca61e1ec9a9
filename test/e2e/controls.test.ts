import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from './support/api.ts';
import { finish, type Heard, use } from './support/scripted-model.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.close());

let names = 0;
/** A script under a fresh name. */
const script = (reply: Parameters<World['model']['script']>[1]): { readonly model: string; readonly heard: Heard } => {
  const model = `script-${++names}`;
  return { model, heard: world.model.script(model, reply) };
};
const thinking = (waitMs = 40) => script(({ n }) => ({ ...use('think', { thought: `thought ${n}` }), waitMs }));

const control = (id: string, verb: string) => world.cloud.call('POST', `/v1/executions/${id}/${verb}`);

const oneChain = async (id: string): Promise<void> => {
  const seqs = (await world.cloud.feed(id)).filter(({ role }) => role === 'assistant').map(({ seq }) => seq);
  expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, index) => index + 1));
};

describe('pause, resume, terminate', () => {
  test('a pause lets at most the step under way end; of three resumes at once one is taken, and one chain goes on', async () => {
    const { model, heard } = thinking();
    const { id } = await world.cloud.run({ model, maxIterations: 1000 });
    await eventually('three calls', () => heard.calls.length >= 3);
    const paused = await control(id, 'pause');
    expect(paused).toMatchObject({ status: 200, json: { status: 'PAUSED' } });
    const atPause = heard.calls.length;
    await sleep(600);
    expect(heard.calls.length - atPause).toBeLessThanOrEqual(1);
    const standing = heard.calls.length;
    expect(await world.cloud.must('GET', `/v1/executions/${id}`)).toMatchObject({ status: 'PAUSED', calls: standing });

    const answers = await Promise.all([1, 2, 3].map(() => control(id, 'resume')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    for (const { status, json, headers } of answers) {
      if (status !== 409) continue;
      expect(headers.get('content-type')).toBe('application/problem+json');
      expect(json).toMatchObject({ code: 'illegal_transition', from: 'RUNNING' });
    }
    await eventually('it goes on', () => heard.calls.length >= standing + 5);
    await control(id, 'pause');
    await sleep(300);
    await oneChain(id);
    const { calls } = await world.cloud.must('GET', `/v1/executions/${id}`);
    expect(heard.calls).toHaveLength(calls);
    await control(id, 'terminate');
  }, 20_000);

  test('a pause while the last call is under way: the job is done, so it is COMPLETED', async () => {
    const { model, heard } = script(() => ({ ...finish('done'), waitMs: 500 }));
    const { id } = await world.cloud.run({ model });
    await eventually('it thinks', () => heard.calls.length === 1);
    expect((await control(id, 'pause')).json.status).toBe('PAUSED');
    expect(await world.cloud.until(id, 'COMPLETED', 10)).toMatchObject({ result: 'done', calls: 1 });
  });

  test('terminate hangs up on the model, nothing follows, and a resume is refused by both names', async () => {
    const { model, heard } = script(() => ({ ...use('think', { thought: 'slow' }), waitMs: 20_000 }));
    const { id } = await world.cloud.run({ model });
    await eventually('it thinks', () => heard.calls.length === 1);
    expect(await control(id, 'terminate')).toMatchObject({ status: 200, json: { status: 'TERMINATED' } });
    const began = performance.now();
    await eventually('the connection is closed', () => heard.calls[0]?.aborted() === true, 10);
    console.log(`terminate hung up after ${Math.round(performance.now() - began)} ms`);
    await sleep(800);
    expect(heard.calls).toHaveLength(1);
    const resumed = await control(id, 'resume');
    expect(resumed).toMatchObject({
      status: 409,
      json: { code: 'illegal_transition', from: 'TERMINATED', to: 'RUNNING' },
    });
    expect(resumed.json.detail).toMatch(/TERMINATED.*RUNNING/);
    expect((await control(id, 'terminate')).status).toBe(409);
    expect((await world.cloud.call('POST', `/v1/executions/${id}/input`, { content: 'x' })).status).toBe(409);
    expect((await world.cloud.call('PATCH', `/v1/executions/${id}`, { maxIterations: 9 })).status).toBe(409);
  }, 20_000);
});

describe('what stops a run can be mended', () => {
  test('a refused key stops it with the reason, and it goes on once the model takes the key', async () => {
    let broken = true;
    const { model, heard } = script(() =>
      broken
        ? {
            status: 401,
            body: { error: { message: 'Incorrect API key provided: key-of-the-operator', code: 'invalid_api_key' } },
          }
        : finish('mended'),
    );
    const { id } = await world.cloud.run({ model });
    const stopped = await world.cloud.until(id, ['ERROR_PAUSED', 'FAILED'], 20);
    expect(stopped).toMatchObject({
      status: 'ERROR_PAUSED',
      reason: 'model_unauthorized',
      calls: 0,
      error: { code: 'model_unauthorized', message: expect.stringMatching(/refused the key.*401/) },
      now: { state: 'stopped', waitingOn: { kind: 'person' } },
    });
    // What the provider quotes of the key does not get out.
    expect(JSON.stringify(stopped)).not.toContain('key-of-the-operator');
    expect(heard.calls).toHaveLength(1);
    broken = false;
    expect((await control(id, 'resume')).status).toBe(200);
    const end = await world.cloud.until(id, 'COMPLETED', 20);
    expect(end).toMatchObject({ result: 'mended', calls: 1 });
    expect(end.error).toBeUndefined();
    expect(end.reason).toBeUndefined();
  });

  test('a key that was replaced is used at once', async () => {
    const { model, heard } = script(({ headers }) =>
      headers.authorization === 'Bearer good-key-1234567890'
        ? finish('with the new key')
        : { status: 401, body: { error: { message: 'no', type: 'invalid_request_error' } } },
    );
    const provider = { baseUrl: world.model.url, models: [{ name: model, inputUsdPerM: 1, outputUsdPerM: 2 }] };
    const put = (apiKey: string) => world.cloud.must('PUT', '/v1/providers/own', { ...provider, apiKey });
    const shown = await put('bad-key-1234567890');
    expect(JSON.stringify(shown)).not.toContain('bad-key');
    const { id } = await world.cloud.run({ model });
    expect(await world.cloud.until(id, ['ERROR_PAUSED', 'COMPLETED'], 20)).toMatchObject({ status: 'ERROR_PAUSED' });
    await put('good-key-1234567890');
    expect((await control(id, 'resume')).status).toBe(200);
    const end = await world.cloud.until(id, ['COMPLETED', 'ERROR_PAUSED'], 20);
    expect(end).toMatchObject({ status: 'COMPLETED', result: 'with the new key' });
    // 100 tokens in at $1, 20 out at $2 per million.
    expect(end.costUsd).toBeCloseTo(0.00014, 8);
    expect(heard.calls.map(({ headers }) => headers.authorization)).toContain('Bearer bad-key-1234567890');
    await world.cloud.call('DELETE', '/v1/providers/own');
  });

  test('maxIterations 5: exactly 5 calls, no resume before it is raised, and with 8 it stops at 8', async () => {
    const { model, heard } = thinking(0);
    const { id } = await world.cloud.run({ model, maxIterations: 5 });
    const LIMIT = 'ITERATION_LIMIT_EXCEEDED';
    const stopped = await world.cloud.until(id, [LIMIT, 'COMPLETED', 'ERROR_PAUSED'], 20);
    expect(stopped).toMatchObject({ status: LIMIT, reason: 'max_iterations', calls: 5, limits: { maxIterations: 5 } });
    expect(heard.calls).toHaveLength(5);
    const refused = await control(id, 'resume');
    expect(refused).toMatchObject({
      status: 409,
      json: { code: 'limit_not_raised', from: LIMIT, limit: 'max_iterations' },
    });
    await world.cloud.must('PATCH', `/v1/executions/${id}`, { maxIterations: 8 });
    expect((await control(id, 'resume')).status).toBe(200);
    await eventually('8 calls', () => heard.calls.length === 8);
    const again = await world.cloud.until(id, LIMIT, 20);
    expect(again).toMatchObject({ calls: 8, limits: { maxIterations: 8 } });
    await sleep(300);
    expect(heard.calls).toHaveLength(8);
    await oneChain(id);
  });

  test('maxCostUsd is kept before the money is spent', async () => {
    const { model, heard } = thinking(0);
    const models = [{ name: model, inputUsdPerM: 1000, outputUsdPerM: 1000 }];
    await world.cloud.must('PUT', '/v1/providers/dear', {
      baseUrl: world.model.url,
      apiKey: 'some-key-1234567890',
      models,
    });
    // Worst case of a call: 2 × 2,000 tokens in and 100 out at $1,000 per million, $4.1; a real one costs $0.12. With one
    // tool alone the prompts stay below 4,000 bytes, so that no more is reserved.
    const small = { tools: ['think'], contextTokens: 2000, maxReplyTokens: 100 };
    const { id } = await world.cloud.run({ model, maxCostUsd: 4.3, ...small });
    const stopped = await world.cloud.until(id, ['BUDGET_EXCEEDED', 'COMPLETED', 'ERROR_PAUSED'], 20);
    expect(stopped).toMatchObject({ status: 'BUDGET_EXCEEDED', reason: 'max_cost' });
    expect(stopped.costUsd).toBeLessThanOrEqual(4.3);
    expect(stopped.costUsd).toBeCloseTo(heard.calls.length * 0.12, 6);
    expect((await control(id, 'resume')).json).toMatchObject({ code: 'limit_not_raised' });
    await world.cloud.must('PATCH', `/v1/executions/${id}`, { maxCostUsd: 4.5 });
    expect((await control(id, 'resume')).status).toBe(200);
    await world.cloud.until(id, 'BUDGET_EXCEEDED', 20);
    await world.cloud.call('DELETE', '/v1/providers/dear');
  });

  test('the same call again and again stops it', async () => {
    const { model, heard } = script(() => use('think', { thought: 'always the same' }));
    const { id } = await world.cloud.run({ model, repeatLimit: 4 });
    expect(await world.cloud.until(id, ['ERROR_PAUSED', 'COMPLETED'], 20)).toMatchObject({
      status: 'ERROR_PAUSED',
      reason: 'repeat_limit',
    });
    expect(heard.calls).toHaveLength(4);
  });
});

test('no prompt was one that a provider would have refused', () => {
  expect(world.model.problems).toEqual([]);
});
