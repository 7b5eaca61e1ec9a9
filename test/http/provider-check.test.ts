import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakeProvider, json, startFakeProvider } from '../openai/fake-provider.ts';
import { type Harness, makeHarness } from './support/harness.ts';

let server: FakeProvider;
let h: Harness;
let usual: FakeProvider['answer'];
beforeAll(async () => {
  server = await startFakeProvider();
  usual = server.answer;
});
afterAll(() => server.close());
beforeEach(async () => {
  h = await makeHarness([new URL(server.url).host]);
  server.seen.length = 0;
  server.answer = usual;
});

const account = (more: object = {}) => ({
  baseUrl: server.url,
  apiKey: 'sk-right',
  models: [{ name: 'first' }, { name: 'second' }],
  ...more,
});
const put = (more: object = {}) => h.call('PUT', '/v1/providers/mine', account(more));
const check = (body: object = {}, options = {}) => h.call('POST', '/v1/providers/mine/check', body, options);
const refuse = (status: number, message: string) => {
  server.answer = (response) => json(response, status, { error: { message } });
};

describe('trying a stored account', () => {
  it('makes one cheap call of the first model and says how it went', async () => {
    await put();
    expect(server.seen).toHaveLength(0);
    expect((await check()).json).toEqual({ ok: true, model: 'first', milliseconds: expect.any(Number) });
    expect(server.seen).toHaveLength(1);
    expect(server.seen[0]?.headers.authorization).toBe('Bearer sk-right');
    expect(server.seen[0]?.body).toMatchObject({ model: 'first', max_tokens: 16 });
    expect((await check({ model: 'second' })).json).toMatchObject({ ok: true, model: 'second' });
  });

  it.each([
    [401, 'no such key', 'model_unauthorized'],
    [404, 'The model `first` does not exist', 'model_not_found'],
    [503, 'overloaded', 'model_unavailable'],
    [429, 'slow down', 'model_rate_limited'],
  ])('says of HTTP %i why a run would stop or wait', async (status, message, code) => {
    await put();
    refuse(status, message);
    const answer = await check();
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ ok: false, code, message: expect.stringContaining(message) });
    expect(answer.text).not.toContain('sk-right');
  });

  it('is refused for a model that it does not list, to strangers and to lesser keys', async () => {
    await put();
    expect(await check({ model: 'third' })).toMatchObject({ status: 400, json: { code: 'bad_request' } });
    expect((await check({}, { key: h.b.apiKey })).status).toBe(404);
    expect((await check({}, { key: await h.keyWith('write') })).status).toBe(403);
    expect(server.seen).toHaveLength(0);
  });

  it('does not reach private addresses that the operator has not allowed', async () => {
    h = await makeHarness();
    await put();
    expect((await check()).json).toMatchObject({ ok: false });
    expect(server.seen).toHaveLength(0);
  });
});

describe('check: true', () => {
  it('stores an account that works', async () => {
    expect((await put({ check: true })).status).toBe(201);
    expect(server.seen).toHaveLength(1);
  });

  it.each([
    [401, 'no such key', 'apiKey'],
    [404, 'The model `first` does not exist', 'models'],
    [500, 'broken', 'baseUrl'],
  ])('stores nothing when the answer is HTTP %i', async (status, message, field) => {
    refuse(status, message);
    const answer = await put({ check: true });
    expect(answer).toMatchObject({ status: 400, json: { code: 'provider_check_failed', errors: [{ field }] } });
    expect(answer.text).not.toContain('sk-right');
    expect((await h.call('GET', '/v1/providers')).json.items).toEqual([]);
  });
});
