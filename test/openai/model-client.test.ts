import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../lib/model/model.ts';
import { makeGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import { makeModelClient } from '../../lib/openai/model-client.ts';
import { completion, type FakeProvider, json, startFakeProvider } from './fake-provider.ts';

const KEY = 'sk-test-abcdefghijklmnop1234';
let provider: FakeProvider;
const client = makeModelClient({ guarded: makeGuardedFetch({ allow: [] }) });

beforeAll(async () => {
  provider = await startFakeProvider();
});
afterAll(() => provider.close());
beforeEach(() => {
  provider.seen.length = 0;
  provider.answer = (response) => json(response, 200, completion({ content: 'hello' }));
});

const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  account: { baseUrl: provider.url, apiKey: KEY, trusted: true },
  model: 'some-model',
  messages: [{ role: 'user', content: 'hi' }],
  tools: [],
  maxReplyTokens: 100,
  timeoutMs: 5_000,
  signal: new AbortController().signal,
  ...more,
});

const failWith = (status: number, error: object | string, headers: Record<string, string> = {}) => {
  provider.answer = (response) => json(response, status, typeof error === 'string' ? error : { error }, headers);
};

describe('a reply', () => {
  it('comes with content, finish reason and usage', async () => {
    provider.answer = (response) =>
      json(response, 200, completion({ content: 'hello' }, {
        finish: 'length',
        usage: { prompt_tokens: 50, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 20 } },
      })); // biome-ignore format: the shape is what matters
    expect(await client.complete(request())).toEqual({
      kind: 'reply',
      content: 'hello',
      toolCalls: [],
      finishReason: 'length',
      refused: false,
      usage: { input: 50, output: 7, cached: 20 },
    });
    expect(provider.seen[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it('marks a refusal and keeps its text', async () => {
    provider.answer = (response) => json(response, 200, completion({ content: null, refusal: 'I will not.' }));
    expect(await client.complete(request())).toMatchObject({ kind: 'reply', content: 'I will not.', refused: true });
  });

  it('estimates usage where the provider sends none', async () => {
    provider.answer = (response) => json(response, 200, completion({ content: 'four char tokens' }, { usage: null }));
    const outcome = await client.complete(request());
    expect(outcome).toMatchObject({ kind: 'reply', usage: { input: 5, output: 4, cached: 0, estimated: true } });
  });

  it('repairs missing and double ids, drops calls of other types, and ignores the legacy function_call', async () => {
    const call = (id: unknown, name: string, type = 'function') => ({ id, type, function: { name, arguments: '{}' } });
    const calls = [call('a', 'one'), call('a', 'two'), call(null, 'three'), call('d', 'four', 'custom')];
    provider.answer = (response) =>
      json(
        response,
        200,
        completion({ content: '', tool_calls: calls, function_call: { name: 'old', arguments: '' } }),
      );
    const outcome = await client.complete(request());
    if (outcome.kind !== 'reply') throw new Error(outcome.kind);
    expect(outcome.toolCalls.map(({ name }) => name)).toEqual(['one', 'two', 'three']);
    expect(outcome.toolCalls[0]?.id).toBe('a');
    expect(new Set(outcome.toolCalls.map(({ id }) => id)).size).toBe(3);
    expect(outcome.toolCalls.every(({ id }) => id.length > 0 && id.length <= 40)).toBe(true);
  });

  it('takes arguments that came as an object, content in parts, and JSON under another content type', async () => {
    const calls = [{ id: 'a', function: { name: 'one', arguments: { x: 1 } } }];
    const body = JSON.stringify(
      completion({ content: [{ type: 'text', text: 'a' }, { text: 'b' }], tool_calls: calls }),
    );
    provider.answer = (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end(body);
    expect(await client.complete(request())).toMatchObject({
      kind: 'reply',
      content: 'ab',
      toolCalls: [{ id: 'a', name: 'one', arguments: '{"x":1}' }],
    });
  });
});

describe('what must be mended by somebody', () => {
  const cases: readonly [string, number, object, string][] = [
    ['a wrong key', 401, { message: 'Incorrect API key', code: 'invalid_api_key' }, 'model_unauthorized'],
    ['a forbidden model', 403, { message: 'Not allowed' }, 'model_unauthorized'],
    ['an unknown model', 404, { message: 'The model does not exist', code: 'model_not_found' }, 'model_not_found'],
    ['an unknown model as DeepSeek says it', 400, { message: 'Model Not Exist' }, 'model_not_found'],
    ['a bad request', 400, { message: 'Invalid schema for function' }, 'model_bad_request'],
    ['an unprocessable request', 422, { message: 'messages: field required' }, 'model_bad_request'],
    ['a too long prompt', 400, { message: 'x', code: 'context_length_exceeded' }, 'context_length_exceeded'],
    [
      'a too long prompt in words only',
      400,
      { message: "This model's maximum context length is 65536 tokens. However, you requested 66343 tokens", code: 'invalid_request_error' },
      'context_length_exceeded',
    ], // biome-ignore format: the message is quoted whole
    [
      'a used up quota',
      429,
      { message: 'You exceeded your current quota', code: 'insufficient_quota' },
      'model_quota_exhausted',
    ],
    ['an empty balance', 402, { message: 'Insufficient Balance' }, 'model_quota_exhausted'],
  ];
  it.each(cases)('%s', async (_, status, error, code) => {
    failWith(status, error);
    const outcome = await client.complete(request());
    expect(outcome).toMatchObject({ kind: 'stop', code });
    expect(provider.seen).toHaveLength(1);
  });

  it('a redirect, naming the address to use', async () => {
    provider.answer = (response) => response.writeHead(301, { location: 'https://other.example/v1' }).end();
    const outcome = await client.complete(request());
    expect(outcome).toMatchObject({ kind: 'stop', code: 'model_bad_request' });
    expect(outcome).toHaveProperty('message', expect.stringContaining('https://other.example/v1'));
  });

  it('an account that nothing can be asked with', async () => {
    const account = request().account;
    expect(await client.complete(request({ account: { ...account, baseUrl: 'ftp://x' } }))).toMatchObject({
      kind: 'stop',
      code: 'model_bad_request',
    });
    expect(await client.complete(request({ account: { ...account, apiKey: 'a\nb' } }))).toMatchObject({
      kind: 'stop',
      code: 'model_unauthorized',
    });
    expect(provider.seen).toHaveLength(0);
  });

  it('never tells the key, not even the pieces that a provider quotes', async () => {
    failWith(401, {
      message: `Incorrect API key provided: sk-test-a*************1234 (${KEY}). Bearer ${KEY}. ${'x'.repeat(900)}`,
    });
    const outcome = await client.complete(request());
    const message = 'message' in outcome ? outcome.message : '';
    for (const piece of ['sk-test', KEY.slice(8), KEY.slice(-8), '1234']) expect(message).not.toContain(piece);
    expect(message).toContain('Incorrect API key provided');
    expect(message.length).toBeLessThan(600);
  });
});

describe('passing trouble', () => {
  it.each([408, 409, 500, 502, 503, 529])('HTTP %i', async (status) => {
    failWith(status, { message: 'later' });
    expect(await client.complete(request())).toMatchObject({ kind: 'retry', code: 'model_unavailable', billed: false });
    expect(provider.seen).toHaveLength(1);
  });

  it("a gateway's time-out, behind which the model may have worked", async () => {
    failWith(504, { message: 'upstream timed out' });
    expect(await client.complete(request())).toMatchObject({ kind: 'retry', code: 'model_unavailable', billed: true });
  });

  it('a rate limit with Retry-After in seconds, in milliseconds, as a date, and without one', async () => {
    const waitFor = async (headers: Record<string, string>) => {
      failWith(429, { message: 'slow down', code: 'rate_limit_exceeded' }, headers);
      const outcome = await client.complete(request());
      expect(outcome).toMatchObject({ kind: 'retry', code: 'model_rate_limited' });
      return outcome.kind === 'retry' ? outcome.retryAfterMs : Number.NaN;
    };
    expect(await waitFor({ 'retry-after': '7' })).toBe(7_000);
    expect(await waitFor({ 'retry-after-ms': '1250', 'retry-after': '9' })).toBe(1_250);
    const dated = await waitFor({ 'retry-after': new Date(Date.now() + 60_000).toUTCString() });
    expect(dated).toBeGreaterThan(50_000);
    expect(dated).toBeLessThanOrEqual(60_000);
    expect(await waitFor({ 'retry-after': 'soon' })).toBeUndefined();
    expect(await waitFor({})).toBeUndefined();
  });

  it('a 200 that is no completion, with what came', async () => {
    provider.answer = (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in</h1>');
    const page = await client.complete(request());
    expect(page).toMatchObject({ kind: 'retry', code: 'model_unavailable', billed: false });
    expect(page).toHaveProperty('message', expect.stringContaining('<h1>Log in</h1>'));
    for (const body of ['{"choices": []}', '{"id": "x"}', '{"choices": [{"mess', '', 'null', '[]']) {
      provider.answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(body);
      expect(await client.complete(request()), body).toMatchObject({ kind: 'retry', code: 'model_unavailable' });
    }
  });

  it('an error under a 200 counts as what it says', async () => {
    provider.answer = (response) => json(response, 200, { error: { code: 402, message: 'Insufficient credits' } });
    expect(await client.complete(request())).toMatchObject({ kind: 'stop', code: 'model_quota_exhausted' });
  });

  it('a server that never answers, or stops in the middle', async () => {
    provider.answer = () => undefined;
    const late = { kind: 'retry', code: 'model_timeout', billed: true };
    expect(await client.complete(request({ timeoutMs: 150 }))).toMatchObject(late);
    provider.answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).write('{"choices"');
    expect(await client.complete(request({ timeoutMs: 150 }))).toMatchObject(late);
  });

  it('a connection that breaks may have cost something, one that never came about has not', async () => {
    provider.answer = (response) => response.socket?.resetAndDestroy();
    expect(await client.complete(request())).toMatchObject({ kind: 'retry', code: 'model_unavailable', billed: true });
    const gone = await startFakeProvider();
    await gone.close();
    const account = { baseUrl: gone.url, apiKey: KEY, trusted: true };
    expect(await client.complete(request({ account }))).toMatchObject({
      kind: 'retry',
      code: 'model_unavailable',
      billed: false,
    });
  });
});

describe('an aborted call', () => {
  it('says so, and whether it may have cost something', async () => {
    expect(await client.complete(request({ signal: AbortSignal.abort() }))).toEqual({ kind: 'aborted', billed: false });
    expect(provider.seen).toHaveLength(0);
    const controller = new AbortController();
    provider.answer = () => controller.abort();
    expect(await client.complete(request({ signal: controller.signal }))).toEqual({ kind: 'aborted', billed: true });
  });
});

describe('demands that a provider may not know', () => {
  const responseSchema = {
    name: 'tasks',
    schema: { type: 'object', properties: {}, required: [], additionalProperties: false },
  };
  const tools = [{ name: 'one', description: 'one', parameters: { type: 'object' } }];
  const fresh = () => makeModelClient({ guarded: makeGuardedFetch({ allow: [] }) });

  it('are sent as OpenAI defines them', async () => {
    await fresh().complete(request({ responseSchema }));
    expect(provider.seen[0]?.body.response_format).toEqual({
      type: 'json_schema',
      json_schema: { ...responseSchema, strict: true },
    });
    await fresh().complete(request({ tools, toolChoice: 'required' }));
    expect(provider.seen[1]?.body.tool_choice).toBe('required');
  });

  it.each([
    ['as DeepSeek says it', 400, { message: 'This response_format type is unavailable now' }],
    ['without a word about it', 400, { message: 'Bad Request' }],
    ['as unprocessable', 422, { message: 'extra inputs are not permitted' }],
  ])('are left out after a refusal %s, and not sent again', async (_, status, error) => {
    const one = fresh();
    provider.answer = (response, { body }) =>
      'response_format' in body
        ? json(response, status, { error })
        : json(response, 200, completion({ content: '{}' }));
    expect(await one.complete(request({ responseSchema }))).toMatchObject({ kind: 'reply', content: '{}' });
    expect(await one.complete(request({ responseSchema }))).toMatchObject({ kind: 'reply' });
    expect(provider.seen.map(({ body }) => 'response_format' in body)).toEqual([true, false, false]);
  });

  it('a limit inside a schema is left out alone, where the server takes the schema without it', async () => {
    const one = fresh();
    const tasks = { type: 'array', items: { type: 'string' } };
    const schemaOf = (inner: object) => ({
      ...responseSchema,
      schema: { ...responseSchema.schema, properties: inner },
    });
    provider.answer = (response, { body }) =>
      JSON.stringify(body).includes('maxItems')
        ? json(response, 400, {
            error: { message: "In context=('properties', 'tasks'), 'maxItems' is not permitted." },
          })
        : json(response, 200, completion({ content: '{}' }));
    const limited = schemaOf({ tasks: { ...tasks, maxItems: 500 } });
    expect(await one.complete(request({ responseSchema: limited }))).toMatchObject({ kind: 'reply' });
    expect(await one.complete(request({ responseSchema: limited }))).toMatchObject({ kind: 'reply' });
    const sent = provider.seen.map(({ body }) => (body.response_format as { json_schema: unknown }).json_schema);
    const [without] = [{ ...schemaOf({ tasks }), strict: true }];
    expect(sent).toEqual([{ ...limited, strict: true }, without, without]);
  });

  it('are left out together with a wrong name of the token limit', async () => {
    provider.answer = (response, { body }) => {
      if ('max_tokens' in body) json(response, 400, { error: { message: 'Unsupported parameter: max_tokens' } });
      else if ('tool_choice' in body) json(response, 400, { error: { message: 'tool_choice is not supported' } });
      else json(response, 200, completion({ content: 'ok' }));
    };
    const outcome = await fresh().complete(request({ tools, toolChoice: 'required' }));
    expect(outcome).toMatchObject({ kind: 'reply', content: 'ok' });
    expect(provider.seen).toHaveLength(3);
  });

  it('are no excuse: a refusal for a reason of its own is not asked twice', async () => {
    failWith(400, { message: 'x', code: 'context_length_exceeded' });
    expect(await fresh().complete(request({ responseSchema }))).toMatchObject({ code: 'context_length_exceeded' });
    expect(provider.seen).toHaveLength(1);
  });
});
