import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { keys } from '../../lib/kernel/keys.ts';
import { set } from '../../lib/kernel/table.ts';
import { type Provider, ProviderError } from '../../lib/router/channel.ts';
import { countRefused } from '../../lib/router/ingest/refused.ts';
import { deliveryItem } from '../../lib/router/ingest/rows.ts';
import { postingWrites } from '../../lib/router/outbox/write.ts';
import { tellSource } from '../../lib/router/source/told.ts';
import { makeHarness } from './support/harness.ts';

type Harness = Awaited<ReturnType<typeof makeHarness>>;

const pair = (type: 'rsa' | 'ec') => {
  const encoding = {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  } as const;
  return type === 'rsa'
    ? generateKeyPairSync('rsa', { modulusLength: 2048, ...encoding }).privateKey
    : generateKeyPairSync('ec', { namedCurve: 'P-256', ...encoding }).privateKey;
};
const privateKey = pair('rsa');

const self = { id: '700000999', login: 'team-agent[bot]' };
const byToken = { kind: 'github', name: 'widget', webhookSecrets: ['hook-secret'], token: 'ghp_hidden', self };
const { token: _, ...rest } = byToken;
const byApp = { ...rest, appId: '31337', installationId: '55500001', privateKey };
const http = { kind: 'http', name: 'alerts', secrets: ['http-secret'], replyUrl: 'https://hooks.example.org/reply' };

const documents = async (h: Harness, id: string) => {
  const item = await h.table.get(keys.source(h.a.organisationId, id));
  const text = await h.secrets.get(`org/${h.a.organisationId}/source/${id}/${String(item?.secretRef)}`);
  return JSON.parse(text ?? 'null') as unknown;
};
const made = async (h: Harness, body: object): Promise<string> => {
  const answer = await h.call('POST', '/v1/sources', body);
  expect(answer.status, answer.text).toBe(201);
  return answer.json.id as string;
};

describe('/v1/sources', () => {
  it('makes one of each kind, says where events go, and shows no secret ever', async () => {
    const h = await makeHarness();
    const answers = [];
    for (const body of [byToken, byApp, http]) answers.push(await h.call('POST', '/v1/sources', body));
    expect(answers.map(({ json }) => json.signsInBy)).toEqual(['token', 'app', 'none']);
    const [first] = answers;
    expect(first?.json).toMatchObject({ kind: 'github', name: 'widget', state: 'active', self });
    expect(first?.json.ingestUrl).toMatch(new RegExp(`^https?://[^/]+/ingest/${first?.json.id}$`));
    // Without it the app's own checks would come back as somebody else's.
    expect(answers[1]?.json.self).toEqual({ ...self, appId: '31337' });
    const listed = await h.call('GET', '/v1/sources');
    expect(listed.json.items).toHaveLength(3);
    const got = await h.call('GET', `/v1/sources/${first?.json.id}`);
    for (const text of [...answers.map((each) => each.text), listed.text, got.text, JSON.stringify(h.table.dump())]) {
      expect(text).not.toMatch(/hook-secret|ghp_hidden|http-secret|PRIVATE KEY/);
    }
    expect(await documents(h, String(first?.json.id))).toEqual({ v: 1, signing: ['hook-secret'], token: 'ghp_hidden' });
  });

  it('is made once under one idempotency key', async () => {
    const h = await makeHarness();
    const twice = { headers: { 'idempotency-key': 'k1' } };
    const first = await h.call('POST', '/v1/sources', byToken, twice);
    const again = await h.call('POST', '/v1/sources', byToken, twice);
    expect([again.status, again.json]).toEqual([201, first.json]);
    expect((await h.call('GET', '/v1/sources')).json.items).toHaveLength(1);
  });

  it.each([
    ['kind', { ...byToken, kind: 'lark' }],
    ['name', { ...byToken, name: '' }],
    ['webhookSecrets', { ...byToken, webhookSecrets: [] }],
    ['webhookSecrets[0]', { ...byToken, webhookSecrets: ['short'] }],
    ['self', { ...byToken, self: undefined }],
    ['self.id', { ...byToken, self: { id: 'team-agent', login: 'team-agent' } }],
    ['self.login', { ...byToken, self: { id: '1', login: '' } }],
    ['token', { ...byApp, token: 'ghp_x' }],
    ['appId', { ...byApp, appId: undefined }],
    ['installationId', { ...byApp, installationId: undefined }],
    ['installationId', { ...byApp, installationId: 'x' }],
    ['privateKey', { ...byApp, privateKey: 'no key' }],
    ['privateKey', { ...byApp, privateKey: pair('ec') }],
    ['webhookSecrets', { ...byApp, webhookSecrets: Array.from({ length: 5 }, () => 'x'.repeat(500)) }],
    ['repositories[0].id', { ...byToken, repositories: [{ id: 'widget', fullName: 'a/widget' }] }],
    ['repositories', { ...byToken, repositories: [] }],
    ['apiBaseUrl', { ...byToken, apiBaseUrl: 'https://169.254.169.254/' }],
    ['apiBaseUrl', { ...byToken, apiBaseUrl: 'http://ghe.example.org/' }],
    ['replyUrl', { ...byToken, replyUrl: 'https://hooks.example.org/' }],
    ['replyUrl', { ...http, replyUrl: 'https://10.0.0.1/' }],
    ['secrets', { ...http, secrets: undefined }],
    ['token', { ...http, token: 'ghp_x' }],
    ['merge', { ...byToken, merge: {} }],
  ])('refuses a wrong %s and keeps nothing', async (field, body) => {
    const h = await makeHarness();
    const refused = await h.call('POST', '/v1/sources', body);
    expect(refused.status, refused.text).toBe(400);
    expect((refused.json.errors as { field: string }[]).map((error) => error.field)).toContain(field);
    expect(refused.text).not.toMatch(/ghp_|hook-secret/);
    expect(h.table.dump().filter(({ sk, pk }) => sk.startsWith('SOURCE') || pk.startsWith('SOURCE'))).toEqual([]);
  });

  it('is changed field by field; secrets are replaced and the others stay', async () => {
    const h = await makeHarness();
    const id = await made(h, byToken);
    const path = `/v1/sources/${id}`;
    const both = { webhookSecrets: ['newer-secret', 'hook-secret'] };
    expect((await h.call('PATCH', path, both)).status).toBe(200);
    expect(await documents(h, id)).toMatchObject({ signing: both.webhookSecrets, token: 'ghp_hidden' });
    const { appId, installationId } = byApp;
    const app = await h.call('PATCH', path, { privateKey, appId, installationId });
    expect(app.json).toMatchObject({ signsInBy: 'app', appId });
    expect(await documents(h, id)).toEqual({ v: 1, signing: both.webhookSecrets, privateKey });
    expect((await h.call('PATCH', path, { name: 'other' })).json).toMatchObject({ name: 'other', signsInBy: 'app' });
    const wrong = await h.call('PATCH', path, { secrets: ['x'.repeat(20)], webhookSecrets: ['y'.repeat(20)] });
    expect(wrong.status).toBe(400);
  });

  it('gives credentials to no other server than the one they were given for', async () => {
    const h = await makeHarness();
    const path = `/v1/sources/${await made(h, byToken)}`;
    const moved = { apiBaseUrl: 'https://evil.example.org/api/v3' };
    expect(await h.call('PATCH', path, moved)).toMatchObject({
      status: 400,
      json: { errors: [{ field: 'apiBaseUrl' }] },
    });
    expect((await h.call('PATCH', path, { ...moved, token: 'ghp_of_evil' })).status).toBe(200);
    expect((await h.call('PATCH', path, { apiBaseUrl: 'https://evil.example.org/api/v4' })).status).toBe(200);
  });

  it('can be paused and taken up, and with it goes the question of why it stopped', async () => {
    const h = await makeHarness();
    const id = await made(h, byApp);
    const now = h.clock.now();
    await tellSource(h.table, h.a.organisationId, id, { at: now, state: 'suspended', reason: 'Suspended.' }, now);
    expect((await h.call('GET', '/v1/attention')).json.items).toMatchObject([{ kind: 'source_stopped' }]);
    const back = await h.call('PATCH', `/v1/sources/${id}`, { state: 'active' });
    expect(back.json.state).toBe('active');
    expect(back.json).not.toHaveProperty('reason');
    expect((await h.call('GET', '/v1/attention')).json.items).toEqual([]);
    expect((await h.call('PATCH', `/v1/sources/${id}`, { state: 'paused' })).json.state).toBe('paused');
    expect((await h.call('PATCH', `/v1/sources/${id}`, { state: 'gone' })).status).toBe(400);
  });

  it('taken up, it wakes what waited for it, and nothing else', async () => {
    const h = await makeHarness();
    const orgId = h.a.organisationId;
    const [id, other] = [await made(h, http), await made(h, byToken)];
    const hold = async (sourceId: string, code: string): Promise<string> => {
      const place = { threadId: `thr_${'0'.repeat(26)}`, sourceId, replyTo: { thread: 'x' } };
      const cause = `${sourceId} ${code}`;
      const { postingId, writes } = postingWrites({ orgId, at: h.clock.now(), cause, place, body: 'x' });
      await h.table.transact(writes);
      const reason = { code, message: 'It waits.' };
      await h.table.update(keys.posting(orgId, postingId), [set('state', 'held'), set('reason', reason)]);
      return postingId;
    };
    const waits = await hold(id, 'source');
    await hold(id, 'breaker');
    await hold(other, 'source');
    h.postings.take();
    await h.call('PATCH', `/v1/sources/${id}`, { name: 'another' });
    expect(h.postings.take()).toEqual([]);
    expect((await h.call('PATCH', `/v1/sources/${id}`, { state: 'active' })).status).toBe(200);
    expect(h.postings.take().map(({ message }) => message)).toEqual([{ orgId, postingId: waits }]);
  });

  it('deleted it leaves no secret and no way in, and is gone for the next request', async () => {
    const h = await makeHarness();
    const id = await made(h, byToken);
    expect((await h.call('DELETE', `/v1/sources/${id}`)).status).toBe(204);
    expect(await h.table.get(keys.sourceLookup(id))).toBeUndefined();
    expect(await documents(h, id)).toBeNull();
    for (const [method, path] of [
      ['GET', `/v1/sources/${id}`],
      ['PATCH', `/v1/sources/${id}`],
      ['DELETE', `/v1/sources/${id}`],
      ['POST', `/v1/sources/${id}/test`],
      ['GET', `/v1/sources/${id}/deliveries`],
    ] as const) {
      expect((await h.call(method, path, method === 'PATCH' ? {} : undefined)).status, path).toBe(404);
    }
  });

  it('fifty are the most of an organisation', async () => {
    const h = await makeHarness();
    for (let n = 0; n < 50; n++) await made(h, { ...http, name: `s${n}` });
    const more = await h.call('POST', '/v1/sources', http);
    expect([more.status, more.json.code]).toEqual([400, 'too_many_sources']);
  });
});

describe('POST /v1/sources/{id}/test', () => {
  const answering = (check: () => Promise<{ login?: string }>) => async () => ({ check }) as Provider;

  it('says who the credentials say we are, and how much came without a good signature', async () => {
    const h = await makeHarness();
    const id = await made(h, byToken);
    h.provide(answering(async () => ({ login: 'Team-Agent' })));
    await countRefused(h.table, { orgId: h.a.organisationId, id }, 'signature_mismatch', h.clock.now());
    const answer = await h.call('POST', `/v1/sources/${id}/test`);
    expect(answer.json).toEqual({ ok: true, asked: true, login: 'Team-Agent', refused: 1 });
  });

  it('says what is wrong: refused credentials, another account', async () => {
    const h = await makeHarness();
    const path = `/v1/sources/${await made(h, byToken)}/test`;
    h.provide(answering(() => Promise.reject(new ProviderError('unauthorized', 'Bad credentials', { status: 401 }))));
    expect((await h.call('POST', path)).json).toMatchObject({ ok: false, problem: { code: 'unauthorized' } });
    h.provide(answering(async () => ({ login: 'somebody-else' })));
    expect((await h.call('POST', path)).json).toMatchObject({ ok: false, problem: { code: 'another_login' } });
  });

  it('asks nobody where there is nobody to ask', async () => {
    const h = await makeHarness();
    const { replyUrl: __, ...mute } = http;
    const { token: ___, ...observer } = byToken;
    for (const body of [mute, observer]) {
      const id = await made(h, body);
      expect((await h.call('POST', `/v1/sources/${id}/test`)).json).toEqual({ ok: true, asked: false, refused: 0 });
    }
  });
});

describe('GET /v1/sources/{id}/deliveries', () => {
  it('lists them with verdict and reason, newest first, by verdict too', async () => {
    const h = await makeHarness();
    const sourceId = await made(h, byToken);
    for (const [n, verdict] of (['resolved', 'dropped', 'resolved'] as const).entries()) {
      await h.table.put(
        deliveryItem({
          id: h.deps.ids.next('dlv', h.clock.now() + n),
          orgId: h.a.organisationId,
          sourceId,
          providerId: `guid-${n}`,
          event: 'issue_comment',
          verdict,
          ...(verdict === 'dropped' && { reason: { code: 'own_message', message: 'We said it.' } }),
          bytes: 10,
          headers: {},
          triggerIds: verdict === 'resolved' ? ['trg_1'] : [],
          threadIds: [],
          receivedAt: h.clock.now() + n,
          attempts: 0,
        }),
      );
    }
    const path = `/v1/sources/${sourceId}/deliveries`;
    const all = (await h.call('GET', path)).json.items as { providerId: string }[];
    expect(all.map(({ providerId }) => providerId)).toEqual(['guid-2', 'guid-1', 'guid-0']);
    const dropped = await h.call('GET', `${path}?verdict=dropped`);
    expect(dropped.json.items).toMatchObject([{ providerId: 'guid-1', reason: { code: 'own_message' } }]);
    expect((await h.call('GET', `${path}?verdict=lost`)).status).toBe(400);
  });

  it('leaves out a row that cannot be read', async () => {
    const h = await makeHarness();
    const sourceId = await made(h, byToken);
    await h.table.update(keys.delivery(h.a.organisationId, sourceId, 'dlv_x'), [set('v', 99)]);
    expect((await h.call('GET', `/v1/sources/${sourceId}/deliveries`)).json.items).toEqual([]);
  });
});
