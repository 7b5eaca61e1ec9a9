import { beforeEach, describe, expect, it } from 'vitest';
import { keys, owner } from '../../lib/kernel/keys.ts';
import { NEW_POLICY } from '../../lib/router/policy/policy.ts';
import { makeRow } from '../../lib/tenancy/row.ts';
import { type Harness, makeHarness } from './support/harness.ts';

const SOURCE = 'src_00000000000000000000000001';
const ALICE = '700000001';
const SELF = '700000042';

let h: Harness;
beforeEach(async () => {
  h = await makeHarness();
  const at = '2026-11-30T00:00:00.000Z';
  await h.table.put(
    makeRow(keys.source(h.a.organisationId, SOURCE), {
      id: SOURCE,
      orgId: h.a.organisationId,
      kind: 'github',
      name: 'github',
      state: 'active',
      self: { id: SELF, login: 'team-agent[bot]' },
      signsInBy: 'app',
      secretRef: 'x',
      createdAt: at,
      updatedAt: at,
    }),
  );
});

const listening = {
  mode: 'auto',
  allow: [{ sourceId: SOURCE, actorId: ALICE }],
  admission: [{ sourceId: SOURCE, scope: 'issue_comment', ceiling: 'explicit' }],
};
const put = (body: unknown, options = {}) => h.call('PUT', '/v1/policy', body, options);
const get = (options = {}) => h.call('GET', '/v1/policy', undefined, options);
const fieldsOf = (answer: { readonly json: { readonly errors?: unknown } }) =>
  (answer.json.errors as readonly { readonly field: string }[]).map(({ field }) => field);

describe('the policy', () => {
  it('begins as observe, nobody listed, nothing admitted', async () => {
    expect((await get()).json).toEqual({ version: 0, ...NEW_POLICY });
  });

  it('is replaced as a whole; what is left out is as in a new one', async () => {
    const saved = await put(listening);
    expect(saved.status).toBe(200);
    expect(saved.json).toEqual({ version: 1, ...NEW_POLICY, ...listening });
    expect((await get()).json).toEqual(saved.json);
    expect((await put({ mode: 'off' })).json).toEqual({ version: 2, ...NEW_POLICY, mode: 'off' });
  });

  it('can be sent back as it was shown, and not over a change that was not seen', async () => {
    const shown = (await put(listening)).json;
    expect((await put({ ...shown, mode: 'off' })).json).toMatchObject({
      version: 2,
      mode: 'off',
      allow: listening.allow,
    });
    const late = await put({ ...shown, mode: 'observe' });
    expect([late.status, late.json]).toMatchObject([409, { code: 'policy_changed', version: 2 }]);
    expect((await get()).json).toMatchObject({ version: 2, mode: 'off' });
  });

  it('answers a repeat of the same key with the first answer and makes no version', async () => {
    const options = { headers: { 'idempotency-key': 'k' } };
    const both = await Promise.all([put(listening, options), put(listening, options)]);
    expect(both[1]?.json).toEqual(both[0]?.json);
    expect((await put(listening, options)).json).toMatchObject({ version: 1 });
    expect((await get()).json.version).toBe(1);
  });

  it('refuses what does not fit, naming each place', async () => {
    expect(fieldsOf(await put({ mode: 'always', maxWorkers: 17, bogus: 1 }))).toEqual(['mode', 'maxWorkers', 'bogus']);
    expect(fieldsOf(await put({ allow: [{ sourceId: SOURCE }] }))).toEqual(['allow[0].actorId']);
    const self = await put({ allow: [{ sourceId: SOURCE, actorId: SELF }] });
    expect([self.status, self.json.code, fieldsOf(self)]).toEqual([400, 'invalid_policy', ['allow[0].actorId']]);
    expect((await get()).json.version).toBe(0);
  });

  it("does not take another organisation's source", async () => {
    const theirs = await put(listening, { key: h.b.apiKey });
    expect([theirs.status, fieldsOf(theirs)]).toEqual([400, ['allow[0].sourceId', 'admission[0].sourceId']]);
    await put(listening);
    expect((await get({ key: h.b.apiKey })).json.version).toBe(0);
  });

  it('is written by admins alone', async () => {
    expect((await put(listening, { key: await h.keyWith('write') })).status).toBe(403);
    expect((await put(listening, { key: await h.keyWith('admin') })).status).toBe(200);
    expect((await get({ key: await h.keyWith('read') })).status).toBe(200);
  });

  it.each([1, 2, 10])('lists its versions newest first, by pages of %i', async (limit) => {
    for (const mode of ['off', 'observe', 'auto']) await put({ mode });
    const seen: unknown[] = [];
    let cursor = '';
    do {
      const page = await h.call('GET', `/v1/policy/versions?limit=${limit}&cursor=${cursor}`);
      seen.push(...(page.json.items as unknown[]));
      cursor = (page.json.nextCursor as string | undefined) ?? '';
    } while (cursor !== '');
    expect(seen).toMatchObject([
      { version: 3, mode: 'auto', createdAt: '2026-03-01T12:00:00.000Z', createdBy: expect.stringMatching(/^key_/) },
      { version: 2, mode: 'observe' },
      { version: 1, mode: 'off' },
    ]);
    expect((await h.call('GET', '/v1/policy/versions', undefined, { key: h.b.apiKey })).json.items).toEqual([]);
  });
});

describe('the preview of a policy', () => {
  const trigger = async (n: number, given: object = {}, orgId = h.a.organisationId): Promise<void> => {
    const id = `trg_${String(n).padStart(26, '0')}`;
    const threadId = 'thr_00000000000000000000000001';
    const row = {
      id,
      orgId,
      threadId,
      sourceId: SOURCE,
      scope: 'issue_comment',
      kind: 'comment',
      actor: { id: ALICE, type: 'user', login: 'alice' },
      text: '@team-agent please',
      revision: 1,
      replyTo: { thread: '1/issues/2' },
      state: 'decided',
      gate: { class: 'ignored', row: 'default', reason: 'r', policyVersion: 0 },
      deliveryId: 'dlv_1',
      occurredAt: n,
      receivedAt: n,
      ownerPk: owner.triggers(orgId),
      ownerSk: id,
      ...given,
    };
    await h.table.put(makeRow(keys.trigger(orgId, threadId, id), row));
  };
  const preview = (body: unknown, query = '', options = {}) =>
    h.call('POST', `/v1/policy/preview${query}`, body, options);
  const items = (answer: { readonly json: { readonly items?: unknown } }) =>
    answer.json.items as readonly { readonly triggerId: string; readonly draft: { readonly class: string } }[];

  it('shows what the Gate of a draft would make of the last triggers, and changes nothing', async () => {
    await trigger(1);
    await trigger(2, { text: 'please' });
    await trigger(3, { actor: { id: '9', type: 'bot' } });
    await trigger(4, { scope: 'issues' });
    await trigger(5, { text: '@team-agent stop' });
    await trigger(6, {}, h.b.organisationId);
    await get(); // the first use of a key leaves its time
    const before = h.table.dump();
    const answer = await preview(listening);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      version: 1,
      changed: 4,
      counts: { explicit: { now: 0, draft: 2 }, inferred: { now: 0, draft: 2 }, ignored: { now: 5, draft: 1 } },
    });
    expect(items(answer).map(({ draft }) => draft.class)).toEqual([
      'explicit',
      'ignored',
      'inferred',
      'inferred',
      'explicit',
    ]);
    expect(items(answer)[0]).toMatchObject({
      triggerId: `trg_${'5'.padStart(26, '0')}`,
      now: { class: 'ignored', policyVersion: 0 },
      draft: { row: 'allow[0]', policyVersion: 1, stop: true },
      changed: true,
      occurredAt: '1970-01-01T00:00:00.005Z',
    });
    const own = (rows: readonly { readonly pk: string }[]) => rows.filter(({ pk }) => !pk.endsWith('#AUDIT'));
    expect(own(h.table.dump())).toEqual(own(before));
  });

  it('looks at as many as it is asked to, newest first', async () => {
    for (let n = 1; n <= 3; n++) await trigger(n);
    expect(items(await preview(listening, '?limit=2')).map(({ triggerId }) => triggerId.at(-1))).toEqual(['3', '2']);
    expect(items(await preview(listening))).toHaveLength(3);
    for (const limit of ['0', '201', 'x']) expect((await preview(listening, `?limit=${limit}`)).status).toBe(400);
  });

  it('judges triggers whose source is gone as unnamed', async () => {
    await trigger(1, { sourceId: 'src_00000000000000000000000009' });
    expect(items(await preview(listening))[0]?.draft.class).toBe('ignored');
  });

  it('refuses a draft that could not be saved', async () => {
    const refused = await preview({ allow: [{ sourceId: 'src_x', actorId: '1' }] });
    expect([refused.status, refused.json.code]).toEqual([400, 'invalid_policy']);
  });

  it('leaves out what cannot be read, and says so', async () => {
    await trigger(1);
    await trigger(2, { state: 'odd' });
    expect(items(await preview(listening))).toHaveLength(1);
    expect(h.errors).toHaveLength(1);
  });
});
