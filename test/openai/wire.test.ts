import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../lib/model/model.ts';
import { makeGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import { makeModelClient } from '../../lib/openai/model-client.ts';
import { tokenLimitField, toWireBody } from '../../lib/openai/wire.ts';
import { completion, type FakeProvider, json, startFakeProvider } from './fake-provider.ts';

let provider: FakeProvider;
beforeAll(async () => {
  provider = await startFakeProvider();
});
afterAll(() => provider.close());
beforeEach(() => {
  provider.seen.length = 0;
  provider.answer = (response) => json(response, 200, completion({ content: 'hello' }));
});

const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  account: { baseUrl: provider.url, apiKey: 'key-of-a-tenant', trusted: true },
  model: 'some-model',
  messages: [{ role: 'user', content: 'hi' }],
  tools: [],
  maxReplyTokens: 100,
  timeoutMs: 5_000,
  signal: new AbortController().signal,
  ...more,
});

describe('the request', () => {
  it('carries tools, temperature and tool calls only when there are some', () => {
    expect(toWireBody(request(), 'max_tokens')).toEqual({
      model: 'some-model',
      messages: [{ role: 'user', content: 'hi' }],
      max_tokens: 100,
    });
    const full = toWireBody(
      request({
        temperature: 0.2,
        tools: [{ name: 'think', description: 'd', parameters: { type: 'object' } }],
        messages: [
          { role: 'system', content: 's' },
          { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'think', arguments: '{"thought":"x"}' }] },
          { role: 'tool', content: 'Noted.', toolCallId: 'a' },
          { role: 'assistant', content: '' },
        ],
      }),
      'max_completion_tokens',
    );
    expect(full).toEqual({
      model: 'some-model',
      temperature: 0.2,
      max_completion_tokens: 100,
      tools: [{ type: 'function', function: { name: 'think', description: 'd', parameters: { type: 'object' } } }],
      messages: [
        { role: 'system', content: 's' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'think', arguments: '{"thought":"x"}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'Noted.' },
        { role: 'assistant', content: '' },
      ],
    });
  });

  it('sends names and arguments that a model made up in a form that servers take', () => {
    const sent = (name: string, args: string) => {
      const messages = [{ role: 'assistant', content: '', toolCalls: [{ id: 'a', name, arguments: args }] }] as const;
      const [message] = toWireBody(request({ messages }), 'max_tokens').messages;
      return JSON.stringify(message);
    };
    expect(sent('write file!', '{}')).toContain('"name":"write_file_"');
    expect(sent('', '')).toContain('"name":"unnamed","arguments":"{}"');
    const { tool_calls } = JSON.parse(sent('x', '{"path": "a'));
    expect(JSON.parse(tool_calls[0].function.arguments)).toEqual({ malformed: '{"path": "a' });
  });

  it("limits the reply by the field that the server's models know", () => {
    expect(tokenLimitField('https://api.openai.com/v1')).toBe('max_completion_tokens');
    expect(tokenLimitField('https://eu.api.openai.com/v1')).toBe('max_completion_tokens');
    expect(tokenLimitField('https://name.openai.azure.com/openai/v1')).toBe('max_completion_tokens');
    expect(tokenLimitField('https://api.deepseek.com')).toBe('max_tokens');
    expect(tokenLimitField('https://api.openai.com.evil.example/v1')).toBe('max_tokens');
  });

  it('corrects that field once when a gateway hides a model that refuses it, and remembers', async () => {
    const client = makeModelClient({ guarded: makeGuardedFetch({ allow: [] }) });
    provider.answer = (response, { body }) => {
      if ('max_tokens' in body) {
        const message =
          "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        json(response, 400, { error: { message, param: 'max_tokens', code: 'unsupported_parameter' } });
      } else json(response, 200, completion({ content: 'hello' }));
    };
    expect(await client.complete(request())).toMatchObject({ kind: 'reply' });
    expect(await client.complete(request())).toMatchObject({ kind: 'reply' });
    expect(provider.seen.map(({ body }) => 'max_tokens' in body)).toEqual([true, false, false]);
  });
});

describe("a tenant's account", () => {
  it('goes through the guarded fetch, and a private address is refused with a reason', async () => {
    const account = { baseUrl: provider.url, apiKey: 'key-of-a-tenant', trusted: false };
    const refused = await makeModelClient({ guarded: makeGuardedFetch({ allow: [] }) }).complete(request({ account }));
    expect(refused).toMatchObject({ kind: 'stop', code: 'model_bad_request' });
    expect(refused).toHaveProperty('message', expect.stringContaining('not an address on the public internet'));
    expect(provider.seen).toHaveLength(0);
  });

  it('works where the address is let through, and sends nothing of the operator', async () => {
    const host = new URL(provider.url).host;
    const client = makeModelClient({ guarded: makeGuardedFetch({ allow: [host] }) });
    const account = { baseUrl: provider.url, apiKey: 'key-of-a-tenant', trusted: false };
    process.env.OPENAI_ORG_ID = 'org-of-the-operator';
    process.env.OPENAI_CUSTOM_HEADERS = 'x-operator: secret';
    try {
      expect(await client.complete(request({ account }))).toMatchObject({ kind: 'reply', content: 'hello' });
    } finally {
      delete process.env.OPENAI_ORG_ID;
      delete process.env.OPENAI_CUSTOM_HEADERS;
    }
    expect(JSON.stringify(provider.seen)).not.toMatch(/operator|stainless/i);
    expect(provider.seen[0]?.headers.authorization).toBe('Bearer key-of-a-tenant');
    provider.answer = () => undefined;
    expect(await client.complete(request({ account, timeoutMs: 150 }))).toMatchObject({
      kind: 'retry',
      code: 'model_timeout',
      billed: true,
    });
  });
});
