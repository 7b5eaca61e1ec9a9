import type { ServerResponse } from 'node:http';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ModelOutcome } from '../../lib/model/model.ts';
import { makeModelClient } from '../../lib/openai/model-client.ts';
import { type FakeProvider, startFakeProvider } from '../openai/fake-provider.ts';
import { replyBody } from './support/replies.ts';
import { runs, TEST_MS } from './support/runs.ts';

let provider: FakeProvider;
beforeAll(async () => {
  provider = await startFakeProvider();
});
afterAll(() => provider.close());

const KEY = 'sk-very-secret-key-0123456789';
const client = makeModelClient({
  guarded: { fetch: () => Promise.reject(new Error('Only the trusted account is asked.')) },
});

const ask = (): Promise<ModelOutcome> =>
  client.complete({
    account: { baseUrl: provider.url, apiKey: KEY, trusted: true },
    model: 'm',
    messages: [{ role: 'user', content: 'hello' }],
    tools: [],
    maxReplyTokens: 100,
    timeoutMs: 3_000,
    signal: new AbortController().signal,
  });

/** What is wrong with an outcome that the engine could not work with. */
const faults = (outcome: ModelOutcome): string[] => {
  switch (outcome.kind) {
    case 'reply': {
      const { usage, toolCalls, content, finishReason, refused } = outcome;
      const ids = toolCalls.map((call) => call.id);
      const counts = [usage.input, usage.output, usage.cached];
      return [
        ...(counts.every((one) => Number.isSafeInteger(one) && one >= 0) ? [] : [`usage ${counts.join()}`]),
        ...(new Set(ids).size === ids.length && !ids.includes('') ? [] : ['ids']),
        ...(toolCalls.every((call) => typeof call.name === 'string' && typeof call.arguments === 'string')
          ? []
          : ['calls']),
        ...(typeof content === 'string' && typeof finishReason === 'string' && typeof refused === 'boolean'
          ? []
          : ['words']),
      ];
    }
    case 'retry': {
      const wait = outcome.retryAfterMs ?? 0;
      return wait >= 0 && !Number.isNaN(wait) ? [] : [`wait ${wait}`];
    }
    case 'stop':
      return outcome.message === '' ? ['no message'] : [];
    case 'aborted':
      return ['aborted by nobody'];
  }
};

const headers = fc.record(
  {
    'content-type': fc.constantFrom(
      'application/json',
      'text/html',
      'text/event-stream',
      'application/json; charset=utf-16',
      '',
    ),
    'retry-after': fc.oneof(
      fc.constantFrom('1', '0.5', '-1', 'soon', 'Wed, 21 Oct 2099 07:28:00 GMT', '9'.repeat(400)),
      fc.nat().map(String),
    ),
    'retry-after-ms': fc.constantFrom('5', '9'.repeat(400), 'NaN'),
    location: fc.constantFrom('http://127.0.0.1:1/', '//', 'x'),
    'content-encoding': fc.constantFrom('gzip', 'br', 'nothing'),
    'x-should-retry': fc.constantFrom('true', 'false'),
  },
  { requiredKeys: [] },
);

const status = fc.oneof(
  { weight: 3, arbitrary: fc.constant(200) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      201,
      204,
      205,
      299,
      301,
      304,
      400,
      401,
      402,
      403,
      404,
      408,
      409,
      413,
      422,
      425,
      429,
      500,
      502,
      503,
      504,
      529,
      599,
    ),
  },
  { weight: 1, arbitrary: fc.integer({ min: 200, max: 999 }) },
);

const error = fc.record({
  error: fc.record(
    {
      message: fc.oneof(
        fc.string(),
        fc.constantFrom(`Incorrect API key provided: ${KEY}`, 'insufficient_quota', 'maximum context length', ''),
      ),
      code: fc.oneof(fc.jsonValue(), fc.constantFrom('context_length_exceeded', 429, 500, 'model_not_found')),
      type: fc.jsonValue(),
      param: fc.constantFrom('max_tokens', null),
    },
    { requiredKeys: [] },
  ),
});

const bytes = fc.oneof(
  { weight: 4, arbitrary: replyBody.map((value) => Buffer.from(JSON.stringify(value) ?? '')) },
  { weight: 2, arbitrary: error.map((value) => Buffer.from(JSON.stringify(value))) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(replyBody, fc.nat(1_000))
      .map(([value, at]) => Buffer.from(JSON.stringify(value) ?? '').subarray(0, at)),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((value) => Buffer.from(value)) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('', 'null', '<html>', 'data: {}\n\n', `{"choices":[{"message":{"content":"${KEY}"}}]}`)
      .map((value) => Buffer.from(value)),
  },
);

type Way = 'whole' | 'reset before' | 'reset within' | 'in pieces';
const way = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Way>('whole') },
  { weight: 1, arbitrary: fc.constantFrom<Way>('reset before', 'reset within', 'in pieces') },
);

const answerWith =
  (how: Way, code: number, head: { readonly [name: string]: string }, body: Buffer) => (response: ServerResponse) => {
    if (how === 'reset before') {
      response.destroy();
      return;
    }
    response.writeHead(code, head);
    if (how === 'whole') response.end(body);
    else {
      response.write(body.subarray(0, body.length / 2));
      setImmediate(() => (how === 'reset within' ? response.destroy() : response.end(body.subarray(body.length / 2))));
    }
  };

describe('whatever a provider answers', () => {
  it('is an outcome, never an exception, and never tells the key', { timeout: TEST_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(way, status, headers, bytes, async (how, code, head, body) => {
        provider.answer = answerWith(how, code, head as { [name: string]: string }, body);
        const outcome = await ask();
        expect(faults(outcome)).toEqual([]);
        if ('message' in outcome) expect(outcome.message).not.toContain(KEY);
        if (code >= 400) expect(outcome.kind).not.toBe('reply');
      }),
      runs(250),
    );
  });
});
