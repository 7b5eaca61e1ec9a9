import { beforeEach, describe, expect, it } from 'vitest';
import { type Harness, makeHarness } from './support/harness.ts';

let h: Harness;
beforeEach(async () => {
  h = await makeHarness();
});

const withKey = (key: string) => ({ headers: { 'Idempotency-Key': key } });
const rowsOf = (sk: RegExp) => h.table.dump().filter((item) => sk.test(item.sk));

describe('Idempotency-Key', () => {
  it('answers a repeat with the first answer and creates once', async () => {
    const body = { name: 'a', config: { goals: ['x'], odd: { b: 1, a: 2 } } };
    const first = await h.call('POST', '/v1/agents', body, withKey('k1'));
    const second = await h.call(
      'POST',
      '/v1/agents',
      '{"config":{"odd":{"a":2,"b":1},"goals":["x"]},"name":"a"}',
      withKey('k1'),
    );
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.json).toEqual(first.json);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(rowsOf(/^AGENT$/)).toHaveLength(1);
    const other = await h.call('POST', '/v1/agents', body, withKey('k2'));
    expect(other.json.id).not.toBe(first.json.id);
  });

  it('creates once when both come at the same moment', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => h.call('POST', '/v1/agents', { name: 'a' }, withKey('k'))),
    );
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1);
    expect(answers.every(({ status }) => status === 201)).toBe(true);
    expect(rowsOf(/^AGENT$/)).toHaveLength(1);
  });

  it('refuses another body', async () => {
    await h.call('POST', '/v1/projects', { name: 'a' }, withKey('k'));
    const refused = await h.call('POST', '/v1/projects', { name: 'b' }, withKey('k'));
    expect([refused.status, refused.json.code]).toEqual([422, 'idempotency_mismatch']);
    expect(rowsOf(/^PROJECT#/)).toHaveLength(3); // two defaults and one
  });

  it('belongs to one route and one organisation', async () => {
    await h.call('POST', '/v1/projects', { name: 'a' }, withKey('k'));
    expect((await h.call('POST', '/v1/agents', { name: 'a' }, withKey('k'))).status).toBe(201);
    const foreign = await h.call('POST', '/v1/projects', { name: 'b' }, { ...withKey('k'), key: h.b.apiKey });
    expect(foreign.status).toBe(201);
  });

  it('starts one execution and gives one input', async () => {
    const id = await h.agent();
    const path = `/v1/agents/${id}/executions`;
    const [first, second] = [
      await h.call('POST', path, {}, withKey('k')),
      await h.call('POST', path, {}, withKey('k')),
    ];
    expect([first?.status, second?.status]).toEqual([202, 202]);
    expect(second?.json.id).toBe(first?.json.id);
    for (let i = 0; i < 2; i++) {
      await h.call('POST', `/v1/executions/${first?.json.id}/input`, { content: 'hello' }, withKey('k'));
    }
    expect(h.executions.calls.filter((call) => call === 'input hello')).toHaveLength(1);
  });

  it('never repeats an answer that showed a secret', async () => {
    const body = { name: 'k', scopes: ['read'] };
    const first = await h.call('POST', '/v1/keys', body, withKey('k'));
    expect(first.status).toBe(201);
    const second = await h.call('POST', '/v1/keys', body, withKey('k'));
    expect([second.status, second.json.code, second.json.id]).toEqual([409, 'secret_already_shown', first.json.id]);
    expect(JSON.stringify(h.table.dump())).not.toContain(first.json.apiKey);
  });

  it('is forgotten after 24 hours, whether or not the row is still there', async () => {
    const first = await h.call('POST', '/v1/projects', { name: 'a' }, withKey('k'));
    await h.clock.advance(24 * 3_600_000 - 1_000);
    expect((await h.call('POST', '/v1/projects', { name: 'a' }, withKey('k'))).json.id).toBe(first.json.id);
    await h.clock.advance(1_000);
    const later = await h.call('POST', '/v1/projects', { name: 'other' }, withKey('k'));
    expect(later.status).toBe(201);
    expect(later.json.id).not.toBe(first.json.id);
  });

  it('remembers no refusal', async () => {
    expect((await h.call('POST', '/v1/projects', { name: '' }, withKey('k'))).status).toBe(400);
    expect((await h.call('POST', '/v1/projects', { name: 'a' }, withKey('k'))).status).toBe(201);
  });

  it.each(['', 'x'.repeat(256), 'ü'])('refuses the key %j', async (key) => {
    const refused = await h.call('POST', '/v1/projects', { name: 'a' }, withKey(key));
    expect(refused.json.errors).toMatchObject([{ field: 'Idempotency-Key' }]);
  });
});
