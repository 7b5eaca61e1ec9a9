import { describe, expect, it } from 'vitest';
import { keys } from '../../lib/kernel/keys.ts';
import { set } from '../../lib/kernel/table.ts';
import { newDeliveryItem } from '../../lib/webhook/delivery.ts';
import { attentionFor, readEndpoint } from '../../lib/webhook/endpoint.ts';
import { gateItem, newGate, readGate } from '../../lib/webhook/gate.ts';
import { makeHarness } from './support/harness.ts';

type Harness = Awaited<ReturnType<typeof makeHarness>>;

const good = { url: 'https://hooks.example.org/baton?a=b', events: ['execution.status_changed'] };
const documents = async (h: Harness, id: string) => {
  const item = await h.table.get(keys.webhook(h.a.organisationId, id));
  const { secretRef = '' } = item === undefined ? {} : readEndpoint(item);
  const text = await h.secrets.get(`org/${h.a.organisationId}/webhook/${id}/${secretRef}`);
  return JSON.parse(text ?? 'null') as { secrets: { secret: string; until?: number }[]; headers: object } | null;
};
const delivery = async (h: Harness, webhookId: string, more: object = {}, n = 1) => {
  const event = { id: `eff_${n}`, type: 'question.asked' as const, at: h.clock.now() + n, sequence: n, data: { n } };
  const item = { ...newDeliveryItem(h.a.organisationId, webhookId, event, h.clock.now()), ...more };
  await h.table.put(item);
  return String(item.deliveryId);
};

describe('/v1/webhooks', () => {
  it('shows the secret once, and neither it nor a header value ever again', async () => {
    const h = await makeHarness();
    const headers = { Authorization: 'Bearer hidden-value' };
    const made = await h.call('POST', '/v1/webhooks', { ...good, description: 'ours', headers });
    expect(made.status).toBe(201);
    const { id, secret, ...shown } = made.json;
    expect(id).toMatch(/^whk_/);
    expect(secret).toMatch(/^whsec_/);
    expect(shown).toMatchObject({ ...good, description: 'ours', headers: ['Authorization'], state: 'enabled' });
    expect(await documents(h, String(id))).toMatchObject({ secrets: [{ secret }], headers });
    const got = await h.call('GET', `/v1/webhooks/${id}`);
    const listed = await h.call('GET', '/v1/webhooks');
    expect(listed.json.items).toEqual([got.json]);
    for (const text of [got.text, listed.text, JSON.stringify(h.table.dump())]) {
      expect(text).not.toContain('hidden-value');
      expect(text).not.toContain('whsec_');
      expect(text.includes('secretRef')).toBe(text.includes('"v":1'));
    }
  });

  it('is made once under one idempotency key, and says that the secret was shown', async () => {
    const h = await makeHarness();
    const twice = { headers: { 'idempotency-key': 'k1' } };
    const made = await h.call('POST', '/v1/webhooks', good, twice);
    const again = await h.call('POST', '/v1/webhooks', good, twice);
    expect([again.status, again.json.code, again.json.id]).toEqual([409, 'secret_already_shown', made.json.id]);
    expect(((await h.call('GET', '/v1/webhooks')).json.items as unknown[]).length).toBe(1);
  });

  it.each([
    ['url', { url: 'http://hooks.example.org/' }],
    ['url', { url: 'https://127.0.0.1/' }],
    ['url', { url: 'https://10.1.2.3:8443/x' }],
    ['url', { url: 'https://[::1]/' }],
    ['url', { url: 'https://169.254.169.254/latest' }],
    ['url', { url: 'https://user:pass@hooks.example.org/' }],
    ['url', { url: 'ftp://hooks.example.org/' }],
    ['url', { url: 'hooks' }],
    ['events', { events: [] }],
    ['events[0]', { events: ['execution.everything'] }],
    ['headers.Host', { headers: { Host: 'other.example' } }],
    ['headers.content-length', { headers: { 'content-length': '1' } }],
    ['headers.Webhook-Id', { headers: { 'Webhook-Id': 'x' } }],
    ['headers.Proxy-Authorization', { headers: { 'Proxy-Authorization': 'x' } }],
    ['headers.a b', { headers: { 'a b': 'x' } }],
    ['headers.x', { headers: { x: 'line\r\nInjected: yes' } }],
    ['headers', { headers: { 'X-A': '1', 'x-a': '2' } }],
    ['headers', { headers: Object.fromEntries(Array.from({ length: 4 }, (_, n) => [`x${n}`, 'v'.repeat(900)])) }],
  ])('refuses a wrong %s', async (field, wrong) => {
    const h = await makeHarness();
    const refused = await h.call('POST', '/v1/webhooks', { ...good, ...wrong });
    expect(refused.status).toBe(400);
    const errors = refused.json.errors as { field: string; received: string; expected: string }[];
    expect(errors.map((error) => error.field)).toContain(field);
    if (field === 'url') {
      expect(errors[0]?.received).toMatch(/^string of \d+ characters$/);
      expect(errors[0]?.expected).toMatch(/^an https URL on the public internet/);
      // Why this one is none of those.
      expect(refused.json.detail).toMatch(/^The webhook cannot be kept like this\. .+\.$/);
    }
    expect(h.table.dump().filter(({ sk }) => sk.startsWith('WEBHOOK#'))).toEqual([]);
  });

  it('takes http and a private host where the operator allows it', async () => {
    const h = await makeHarness();
    expect((await h.call('POST', '/v1/webhooks', { ...good, url: 'http://127.0.0.1:8080/in' })).status).toBe(201);
    expect((await h.call('POST', '/v1/webhooks', { ...good, url: 'http://127.0.0.1:8081/in' })).status).toBe(400);
  });

  it('has an end to how many there are', async () => {
    const h = await makeHarness();
    for (let n = 0; n < 20; n++) expect((await h.call('POST', '/v1/webhooks', good)).status).toBe(201);
    const refused = await h.call('POST', '/v1/webhooks', good);
    expect([refused.status, refused.json.code]).toEqual([400, 'too_many_webhooks']);
  });

  it('is for admins of its organisation alone', async () => {
    const h = await makeHarness();
    const { id } = (await h.call('POST', '/v1/webhooks', good)).json;
    const dlv = await delivery(h, String(id));
    const routes = [
      ['POST', '/v1/webhooks', good],
      ['GET', '/v1/webhooks'],
      ['GET', `/v1/webhooks/${id}`],
      ['PATCH', `/v1/webhooks/${id}`, { description: 'theirs' }],
      ['POST', `/v1/webhooks/${id}/rotate-secret`, {}],
      ['GET', `/v1/webhooks/${id}/deliveries`],
      ['POST', `/v1/webhooks/${id}/deliveries/${dlv}/redeliver`, {}],
      ['DELETE', `/v1/webhooks/${id}`],
    ] as const;
    const writer = await h.keyWith('write');
    for (const [method, path, body] of routes) {
      expect([path, (await h.call(method, path, body, { key: writer })).status]).toEqual([path, 403]);
      const other = await h.call(method, path, body, { key: h.b.apiKey });
      if (path !== '/v1/webhooks') expect([path, other.status]).toEqual([path, 404]);
    }
    expect((await h.call('GET', '/v1/webhooks', undefined, { key: h.b.apiKey })).text).not.toContain(String(id));
    expect((await h.call('GET', `/v1/webhooks/${id}`)).status).toBe(200);
  });
});

describe('the limit of webhooks', () => {
  it('holds for thirty at once, and a place that was given up is free again', async () => {
    const h = await makeHarness();
    const kept = new Set<string>();
    const { put, delete: forget } = h.secrets;
    h.secrets.put = (name, value) => put(name, value).then(() => void kept.add(name));
    h.secrets.delete = (name) => forget(name).then(() => void kept.delete(name));
    const made = await Promise.all(Array.from({ length: 30 }, () => h.call('POST', '/v1/webhooks', good)));
    const refused = made.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, json }) => [status, json.code])).toEqual(Array(10).fill([400, 'too_many_webhooks']));
    const listed = (await h.call('GET', '/v1/webhooks?limit=100')).json.items as { id: string }[];
    expect(listed).toHaveLength(20);
    // Nobody keeps the secret of a webhook that is not there.
    expect(kept.size).toBe(20);
    await h.call('DELETE', `/v1/webhooks/${listed[0]?.id}`);
    expect((await h.call('POST', '/v1/webhooks', good)).status).toBe(201);
    expect((await h.call('POST', '/v1/webhooks', good)).json.code).toBe('too_many_webhooks');
    expect((await h.call('POST', '/v1/webhooks', good, { key: h.b.apiKey })).status).toBe(201);
  });
});

describe('PATCH /v1/webhooks/{webhookId}', () => {
  it('refuses a change that changes nothing', async () => {
    const h = await makeHarness();
    const { id } = (await h.call('POST', '/v1/webhooks', good)).json;
    const refused = await h.call('PATCH', `/v1/webhooks/${id}`, {});
    expect(refused.json).toMatchObject({ status: 400, errors: [{ field: 'body' }] });
  });

  it('changes what is given and keeps the rest, the secret too', async () => {
    const h = await makeHarness();
    const { id, secret } = (await h.call('POST', '/v1/webhooks', { ...good, headers: { 'X-Key': 'one' } })).json;
    const changed = await h.call('PATCH', `/v1/webhooks/${id}`, {
      url: 'https://hooks.example.org/new',
      events: ['question.asked', 'question.asked'],
    });
    expect(changed.json).toMatchObject({
      url: 'https://hooks.example.org/new',
      events: ['question.asked'],
      headers: ['X-Key'],
    });
    await h.call('PATCH', `/v1/webhooks/${id}`, { headers: { 'X-Other': 'two' } });
    expect(await documents(h, String(id))).toEqual({ v: 1, secrets: [{ secret }], headers: { 'X-Other': 'two' } });
  });

  it('sends header values to no host that they were not given for', async () => {
    const h = await makeHarness();
    const { id } = (await h.call('POST', '/v1/webhooks', { ...good, headers: { 'X-Key': 'one' } })).json;
    const moved = { url: 'https://elsewhere.example/' };
    const refused = await h.call('PATCH', `/v1/webhooks/${id}`, moved);
    expect([refused.status, (refused.json.errors as { field: string }[])[0]?.field]).toEqual([400, 'headers']);
    expect((await h.call('PATCH', `/v1/webhooks/${id}`, { ...moved, headers: {} })).json).toMatchObject({
      headers: [],
    });
    expect((await h.call('PATCH', `/v1/webhooks/${id}`, { url: 'https://10.0.0.1/' })).status).toBe(400);
  });

  it('enables again: people are asked no more, the gate begins afresh and is tended', async () => {
    const h = await makeHarness();
    const id = String((await h.call('POST', '/v1/webhooks', good)).json.id);
    const org = h.a.organisationId;
    const key = keys.webhook(org, id);
    const changes = [set('state', 'disabled'), set('reason', 'failing'), set('disabledAt', h.clock.now())];
    await h.table.transact([...attentionFor(readEndpoint(await h.table.update(key, changes)))]);
    await h.table.put(gateItem({ ...newGate(org, id), open: true, failures: 99, since: 1, probeAt: 1e15 }));
    const asked = () => h.table.dump().filter(({ pk }) => pk === `ORG#${org}#ATTENTION`).length;
    expect(asked()).toBe(1);
    expect((await h.call('GET', `/v1/webhooks/${id}`)).json).toMatchObject({ state: 'disabled', reason: 'failing' });
    const enabled = await h.call('PATCH', `/v1/webhooks/${id}`, { state: 'enabled' });
    expect(enabled.json).toMatchObject({ state: 'enabled' });
    expect(enabled.json).not.toHaveProperty('reason');
    expect(asked()).toBe(0);
    const gate = readGate((await h.table.get(keys.webhookGate(org, id))) ?? { ...key });
    expect(gate).toMatchObject({ open: false, failures: 0, releasing: expect.any(Number) });
    expect(h.webhooks.take()).toMatchObject([{ message: { orgId: org, webhookId: id } }]);
  });

  it('disables for a person without asking anybody', async () => {
    const h = await makeHarness();
    const { id } = (await h.call('POST', '/v1/webhooks', good)).json;
    const off = await h.call('PATCH', `/v1/webhooks/${id}`, { state: 'disabled' });
    expect(off.json).toMatchObject({ state: 'disabled', reason: 'requested', disabledAt: expect.any(String) });
    expect(h.table.dump().filter(({ pk }) => pk.endsWith('#ATTENTION'))).toEqual([]);
  });
});

describe('rotating a secret', () => {
  it('keeps the one before for a day, and no other', async () => {
    const h = await makeHarness();
    const made = (await h.call('POST', '/v1/webhooks', { ...good, headers: { 'X-Key': 'one' } })).json;
    const path = `/v1/webhooks/${made.id}/rotate-secret`;
    const first = (await h.call('POST', path, {})).json;
    const second = (await h.call('POST', path, {}, { headers: { 'idempotency-key': 'r' } })).json;
    expect(new Set([made.secret, first.secret, second.secret]).size).toBe(3);
    const until = h.clock.now() + 86_400_000;
    expect(second.previousUntil).toBe(new Date(until).toISOString());
    expect(await documents(h, String(made.id))).toEqual({
      v: 1,
      secrets: [{ secret: second.secret }, { secret: first.secret, until }],
      headers: { 'X-Key': 'one' },
    });
    const again = await h.call('POST', path, {}, { headers: { 'idempotency-key': 'r' } });
    expect([again.status, again.json.code]).toEqual([409, 'secret_already_shown']);
  });

  it('at the same moment answers one with the secret that counts and the other with 409', async () => {
    const h = await makeHarness();
    const { id } = (await h.call('POST', '/v1/webhooks', good)).json;
    await h.clock.advance(5);
    const both = await Promise.all([1, 2].map(() => h.call('POST', `/v1/webhooks/${id}/rotate-secret`, {})));
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const won = both.find(({ status }) => status === 200)?.json.secret;
    expect((await documents(h, String(id)))?.secrets[0]?.secret).toBe(won);
  });
});

describe('deleting', () => {
  it('takes the row, the gate and the secret', async () => {
    const h = await makeHarness();
    const { id } = (await h.call('POST', '/v1/webhooks', good)).json;
    const key = keys.webhook(h.a.organisationId, String(id));
    const { secretRef } = readEndpoint((await h.table.get(key)) ?? { ...key });
    expect((await h.call('DELETE', `/v1/webhooks/${id}`)).status).toBe(204);
    expect((await h.call('DELETE', `/v1/webhooks/${id}`)).status).toBe(404);
    expect((await h.call('GET', `/v1/webhooks/${id}/deliveries`)).status).toBe(404);
    expect(
      h.table.dump().filter((item) => !item.pk.endsWith('#AUDIT') && JSON.stringify(item).includes(String(id))),
    ).toEqual([]);
    expect(await h.secrets.get(`org/${h.a.organisationId}/webhook/${id}/${secretRef}`)).toBeUndefined();
  });
});

describe('deliveries', () => {
  it('are listed newest first, by state, page by page', async () => {
    const h = await makeHarness();
    const id = String((await h.call('POST', '/v1/webhooks', good)).json.id);
    const made: string[] = [];
    for (let n = 1; n <= 6; n++)
      made.push(await delivery(h, id, n % 2 === 0 ? { state: 'dead', lastError: 'no' } : {}, n));
    const path = `/v1/webhooks/${id}/deliveries`;
    const ids = (answer: { json: { items?: unknown } }) => (answer.json.items as { id: string }[]).map((one) => one.id);
    expect(ids(await h.call('GET', path))).toEqual(made.toReversed());
    const first = await h.call('GET', `${path}?state=dead&limit=2`);
    expect(ids(first)).toEqual([made[5], made[3]]);
    const rest = await h.call('GET', `${path}?state=dead&limit=2&cursor=${first.json.nextCursor}`);
    expect(ids(rest)).toEqual([made[1]]);
    expect(rest.json.items).toMatchObject([
      { state: 'dead', error: 'no', type: 'question.asked', sequence: 2, attempts: 0 },
    ]);
    expect((await h.call('GET', `${path}?state=lost`)).status).toBe(400);
  });

  it('are sent once more under their id, with a fresh day', async () => {
    const h = await makeHarness();
    const id = String((await h.call('POST', '/v1/webhooks', good)).json.id);
    const dead = await delivery(h, id, { state: 'dead', attempts: 9, triedSince: 1 });
    const path = `/v1/webhooks/${id}/deliveries/${dead}/redeliver`;
    const again = await h.call('POST', path, {});
    expect([again.status, again.json.id, again.json.state]).toEqual([202, dead, 'pending']);
    expect(h.webhooks.take()).toMatchObject([{ message: { webhookId: id, deliveryId: dead }, delaySeconds: 0 }]);
    const row = await h.table.get(keys.webhookDelivery(h.a.organisationId, id, dead));
    expect(row).toMatchObject({ triedSince: h.clock.now(), duePk: expect.stringContaining('DUE#sweep') });
    const twice = await h.call('POST', path, {});
    expect([twice.status, twice.json.code]).toEqual([409, 'delivery_pending']);
  });

  it('are not sent to a webhook that is disabled, nor when there is none', async () => {
    const h = await makeHarness();
    const id = String((await h.call('POST', '/v1/webhooks', good)).json.id);
    const dead = await delivery(h, id, { state: 'dead' });
    await h.call('PATCH', `/v1/webhooks/${id}`, { state: 'disabled' });
    const refused = await h.call('POST', `/v1/webhooks/${id}/deliveries/${dead}/redeliver`, {});
    expect([refused.status, refused.json.code]).toEqual([409, 'webhook_disabled']);
    const none = `/v1/webhooks/${id}/deliveries/dlv_00000000000000000000000000/redeliver`;
    expect((await h.call('POST', none, {})).status).toBe(404);
  });
});
