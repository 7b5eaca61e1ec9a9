import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from './support/api.ts';
import { finish, type Reply, type Script, use } from './support/scripted-model.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.close());

let names = 0;
const script = (reply: Script) => {
  const model = `garbage-${++names}`;
  return { model, heard: world.model.script(model, reply) };
};

/** One bad reply, then the end. What the model is shown after the bad one is what it was told about it. */
const replyThenEnd = async (bad: Reply) => {
  const { model, heard } = script(({ n }) => (n === 1 ? bad : finish('recovered')));
  const { id } = await world.cloud.run({ model, tools: ['think', 'write_file'] });
  const end = await world.cloud.until(id, ['COMPLETED', 'ERROR_PAUSED', 'FAILED'], 30);
  const second = heard.calls[1]?.messages ?? [];
  return { id, end, heard, second, told: String(second.at(-1)?.content ?? '') };
};

describe('a reply that can be mended is told to the model, and the run goes on', () => {
  test.each<[what: string, bad: Reply, told: RegExp]>([
    [
      'arguments that are no JSON',
      use('write_file', '{"path": "a.txt", "content": "half'),
      /write_file are not valid JSON.*too early/,
    ],
    ['arguments that are a list', use('write_file', '[1,2]'), /write_file do not fit.*a list of 2/],
    ['a wrong type', use('write_file', { path: 7, content: 'x' }), /"path" is the number 7, expected a string/],
    ['a missing field', use('write_file', { path: 'a.txt' }), /"content" is missing/],
    ['a field too many', use('write_file', { path: 'a.txt', content: 'x', mode: 'w' }), /"mode" is unknown/],
    ['an unknown tool', use('wirte_file', { path: 'a.txt', content: 'x' }), /no tool "wirte_file".*mean write_file/],
    [
      'a tool that was not offered',
      use('http_request', { method: 'GET', url: 'http://127.0.0.1' }),
      /no tool "http_request"/,
    ],
    ['a name no provider takes back', use('écrire un fichier!', {}), /no tool/],
    ['no name', use('', {}), /no tool ""/],
    ['an empty reply', { text: '' }, /was empty/],
    ['only white space', { text: ' \n ' }, /was empty/],
    ['a reply cut at the limit', { text: 'and so on and', finish: 'length' }, /cut off/],
    ['a filtered reply', { text: 'The', finish: 'content_filter' }, /content filter/],
  ])('%s', async (_what, bad, told) => {
    const result = await replyThenEnd(bad);
    expect(result.end).toMatchObject({ status: 'COMPLETED', result: 'recovered', calls: 2 });
    expect(result.told).toMatch(told);
    // It is visible to people too.
    const feed = await world.cloud.feed(result.id);
    expect(feed.filter(({ role }) => role !== 'assistant').map(({ content }) => content)).toContainEqual(
      expect.stringMatching(told),
    );
    const [step] = await world.cloud.steps(result.id);
    expect(step?.finishReason).toBe('finish' in bad ? bad.finish : 'calls' in bad ? 'tool_calls' : 'stop');
  });

  test('good calls beside bad ones run, and every one is answered', async () => {
    const { end, second, id } = await replyThenEnd({
      calls: [
        { name: 'write_file', args: { path: 'good.txt', content: 'good' } },
        { name: 'write_file', args: 'nonsense' },
        { name: 'nothing_like_it', args: {} },
        { name: 'think', args: { thought: 'fine' } },
      ],
    });
    expect(end.status).toBe('COMPLETED');
    expect(second.filter(({ role }) => role === 'tool')).toHaveLength(4);
    expect((await world.cloud.call('GET', `/v1/executions/${id}/files/good.txt`)).text).toBe('good');
    const [step] = await world.cloud.steps(id);
    expect(step?.toolCalls.map(({ outcome }) => outcome)).toEqual(['ok', 'error', 'error', 'ok']);
  });

  test('more calls than a reply may hold: those over the limit are answered too', async () => {
    const calls = Array.from({ length: 70 }, (_, index) => ({ name: 'think', args: { thought: `${index}` } }));
    const { end, second } = await replyThenEnd({ calls });
    expect(end.status).toBe('COMPLETED');
    const answers = second.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
    expect(answers).toHaveLength(70);
    expect(answers.filter((text) => text.startsWith('Not carried out'))).toHaveLength(6);
  });

  test('unusable replies without end are stopped', async () => {
    const { model, heard } = script(() => ({ text: '' }));
    const { id } = await world.cloud.run({ model, repeatLimit: 3 });
    const end = await world.cloud.until(id, ['ERROR_PAUSED', 'COMPLETED', 'FAILED'], 20);
    expect(end).toMatchObject({ status: 'ERROR_PAUSED', reason: 'repeat_limit' });
    expect(heard.calls).toHaveLength(3);
  });
});

describe('what a person has to look at stops the run with a reason', () => {
  test('a refusal', async () => {
    const { end, heard } = await replyThenEnd({ refusal: 'I cannot help with that.' });
    expect(end).toMatchObject({
      status: 'ERROR_PAUSED',
      reason: 'model_refused',
      error: { code: 'model_refused', message: expect.stringContaining('I cannot help with that.') },
    });
    expect(heard.calls).toHaveLength(1);
    expect((await world.cloud.call('POST', `/v1/executions/${end.id}/resume`)).status).toBe(200);
    expect(await world.cloud.until(end.id, 'COMPLETED', 20)).toMatchObject({ result: 'recovered' });
  });

  test.each<[status: number, body: object, reason: string]>([
    [404, { error: { message: 'The model `x` does not exist', code: 'model_not_found' } }, 'model_not_found'],
    [400, { error: { message: 'Invalid value: temperature', type: 'invalid_request_error' } }, 'model_bad_request'],
    [402, { error: { message: 'Insufficient Balance' } }, 'model_quota_exhausted'],
    [
      429,
      { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } },
      'model_quota_exhausted',
    ],
    [403, { error: { message: 'no access' } }, 'model_unauthorized'],
  ])('HTTP %i %j', async (status, body, reason) => {
    const { end, heard } = await replyThenEnd({ status, body });
    expect(end).toMatchObject({ status: 'ERROR_PAUSED', reason, calls: 0 });
    expect(end.error?.message).toContain(String(status));
    expect(heard.calls).toHaveLength(1);
  });
});

describe('what heals by itself is tried again after a pause that people can see', () => {
  test.each<[what: string, bad: Reply]>([
    ['a page of a proxy', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Bad gateway</html>' }],
    ['JSON that is cut off', { status: 200, body: '{"choices":[{"mess' }],
    ['invalid UTF-8', { status: 200, body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a]) }],
    ['no choices', { status: 200, body: { id: 'x', object: 'chat.completion', choices: [] } }],
    ['an empty body', { status: 200, body: '' }],
    ['a 500', { status: 500, body: { error: { message: 'oops' } } }],
    ['a 503 with a time', { status: 503, headers: { 'retry-after': '1' }, body: 'busy' }],
  ])('%s', async (_what, bad) => {
    const { model, heard } = script(({ n }) => (n === 1 ? bad : finish('recovered')));
    const { id } = await world.cloud.run({ model });
    await eventually('one call', () => heard.calls.length === 1);
    await eventually('it waits', async () => {
      const { now } = await world.cloud.must('GET', `/v1/executions/${id}`);
      const { lastError = '', nextAt } = now?.attempt ?? {};
      return now?.state === 'backoff' && lastError.length > 10 && nextAt !== undefined;
    });
    expect(await world.cloud.until(id, 'COMPLETED', 20)).toMatchObject({ result: 'recovered', calls: 1 });
  });

  test('invalid UTF-8 in the text of a reply does not break the feed', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"caf'),
      Buffer.from([0xe9]),
      Buffer.from(' au lait \\ud800 end"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}'),
    ]);
    const { end } = await replyThenEnd({ status: 200, body: bytes });
    expect(end.status).toBe('COMPLETED');
    expect(end.result).toMatch(/^caf.+ au lait .+ end$/u);
    expect(end.result.isWellFormed()).toBe(true);
  });

  test('a server that hangs up', async () => {
    const { end } = await replyThenEnd({ status: 200, headers: { 'content-length': '1000' }, body: '{' });
    expect(end).toMatchObject({ status: 'COMPLETED', result: 'recovered' });
  });
});

test('nothing was left RUNNING, and no prompt was one that a provider would have refused', async () => {
  const { items } = await world.cloud.must('GET', '/v1/executions?status=RUNNING');
  expect(items).toEqual([]);
  expect(world.model.problems).toEqual([]);
});
