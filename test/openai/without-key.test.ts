import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import { makeModelClient } from '../../lib/openai/model-client.ts';
import { completion, type FakeProvider, json, startFakeProvider } from './fake-provider.ts';

let provider: FakeProvider;
beforeAll(async () => {
  provider = await startFakeProvider();
});
afterAll(() => provider?.close());

test('a server of one’s own, without keys and on a private address that the operator allows, answers', async () => {
  provider.answer = (response) => json(response, 200, completion({ content: 'hello from next door' }));
  const client = makeModelClient({ guarded: makeGuardedFetch({ allow: [new URL(provider.url).host] }) });
  const outcome = await client.complete({
    account: { baseUrl: provider.url, apiKey: '', trusted: false },
    model: 'llama3.2',
    messages: [{ role: 'user', content: 'hi' }],
    tools: [],
    maxReplyTokens: 100,
    timeoutMs: 5_000,
    signal: new AbortController().signal,
  });
  expect(outcome).toMatchObject({ kind: 'reply', content: 'hello from next door' });
  expect(provider.seen[0]?.body).toMatchObject({ model: 'llama3.2', max_tokens: 100 });
});
