import { describe, expect, it } from 'vitest';
import { due, keys } from '../../../lib/kernel/keys.ts';
import { ingest } from '../../../lib/router/ingest/ingest.ts';
import { refusedLately } from '../../../lib/router/ingest/refused.ts';
import { resolveDelivery } from '../../../lib/router/ingest/resolve.ts';
import { buryDelivery, sweepDelivery } from '../../../lib/router/ingest/tend.ts';
import { ALICE, githubDelivery, makeInbox, SECRET, SELF, signed } from '../support/inbox.ts';
import { commentCreated, REPOSITORY } from '../support/payloads.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('ingest', () => {
  it('keeps the raw body, a row with a mark, and wakes the resolver with ids alone', async () => {
    const h = await makeInbox();
    const raw = githubDelivery('issue_comment', commentCreated({ body: 'café 😀 字' }));
    const answer = await h.send(raw);
    expect(answer).toEqual({ deliveryId: expect.stringMatching(/^dlv_/), verdict: 'received' });
    const [row] = h.deliveries();
    expect(row).toMatchObject({ verdict: 'received', event: 'issue_comment', action: 'created', attempts: 0 });
    expect(Buffer.from((await h.blobs.get(row?.body ?? '')) ?? [])).toEqual(Buffer.from(raw.body));
    expect(row?.body).toMatch(new RegExp(`^org/${h.orgId}/source/${h.sourceId}/`));
    expect(due.at(row?.dueSk ?? '')).toBeGreaterThan(h.clock.now());
    expect(h.inbox.take()).toEqual([
      {
        message: { orgId: h.orgId, sourceId: h.sourceId, deliveryId: answer.deliveryId },
        delaySeconds: 0,
        tenant: h.orgId,
      },
    ]);
    // Nothing is judged before the answer.
    expect([h.triggers(), h.threads()]).toEqual([[], []]);
  });

  it('keeps no header that is not read, no signature for one', async () => {
    const h = await makeInbox();
    await h.send(githubDelivery('issue_comment', commentCreated(), { authorization: 'Basic eDp5' }));
    const text = JSON.stringify(h.table.dump());
    expect(text).not.toMatch(/sha256=|Basic/);
  });

  it.each([
    ['of another secret', { 'x-hub-signature-256': signed('{}', 'other') }],
    ['of another length', { 'x-hub-signature-256': 'sha256=abc' }],
    ['that is none', { 'x-hub-signature-256': '' }],
    ['of the old kind', { 'x-hub-signature-256': 'sha1=abc' }],
  ])('answers 401 to a signature %s, counts it, and stores nothing else', async (_, headers) => {
    const h = await makeInbox();
    const before = h.table.dump().length;
    const raw = githubDelivery('issue_comment', commentCreated(), headers);
    await expect(h.send(raw)).rejects.toMatchObject({ status: 401, code: 'bad_signature' });
    await expect(h.send(raw)).rejects.toMatchObject({ status: 401 });
    expect([h.deliveries(), h.inbox.sent, h.blobs.keys()]).toEqual([[], [], []]);
    expect(h.table.dump().length).toBe(before + 1);
    expect(await refusedLately(h.table, h.source, h.clock.now(), 24)).toBe(2);
    await h.clock.advance(25 * HOUR);
    expect(await refusedLately(h.table, h.source, h.clock.now(), 24)).toBe(0);
  });

  it('answers 401 without a signature, and to a body that was changed by one byte', async () => {
    const h = await makeInbox();
    const { headers, body } = githubDelivery('issue_comment', commentCreated());
    const { 'x-hub-signature-256': _, ...unsigned } = headers;
    await expect(h.send({ headers: unsigned, body })).rejects.toMatchObject({ status: 401 });
    const changed = Buffer.from(body);
    changed[10] = (changed[10] ?? 0) ^ 1;
    await expect(h.send({ headers, body: changed })).rejects.toMatchObject({ status: 401 });
  });

  it('takes each signing secret of the source, so that one can be replaced', async () => {
    const h = await makeInbox({ kind: 'github', name: 'x', webhookSecrets: ['new-secret', SECRET], self: SELF });
    const raw = githubDelivery('issue_comment', commentCreated());
    expect((await h.send(raw)).verdict).toBe('received');
    const other = { ...raw.headers, 'x-hub-signature-256': signed(raw.body, 'new-secret'), 'x-github-delivery': 'b' };
    expect((await h.send({ headers: other, body: raw.body })).verdict).toBe('duplicate');
  });

  it.each(['src_00000000000000000000000000', 'src_', '../x', ''])('knows no source %j', async (sourceId) => {
    const h = await makeInbox();
    const asked = ingest(h.deps, sourceId, githubDelivery('ping', {}));
    await expect(asked).rejects.toMatchObject({ status: 404 });
  });

  it('answers 400 to what is signed and no event', async () => {
    const h = await makeInbox();
    const body = Buffer.from('not json');
    const headers = { ...githubDelivery('issues', {}).headers, 'x-hub-signature-256': signed(body) };
    await expect(h.send({ headers, body })).rejects.toMatchObject({ status: 400, code: 'unreadable_delivery' });
    await expect(h.send(githubDelivery('issues', { action: 'opened' }))).rejects.toMatchObject({ status: 400 });
    const bytes = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]);
    const latin = { ...headers, 'x-hub-signature-256': signed(bytes) };
    await expect(h.send({ headers: latin, body: bytes })).rejects.toMatchObject({ status: 400 });
  });

  it('shows what it dropped, with the reason, and keeps no body of it', async () => {
    const h = await makeInbox();
    expect(await h.send(githubDelivery('star', { action: 'created' }))).toMatchObject({
      verdict: 'dropped',
      reason: { code: 'event_not_read' },
    });
    expect(h.deliveries()).toMatchObject([{ verdict: 'dropped', event: 'star', reason: { code: 'event_not_read' } }]);
    expect([h.blobs.keys(), h.inbox.sent]).toEqual([[], []]);
  });

  it('drops everything while a person has paused the source, and takes it up afterwards', async () => {
    const h = await makeInbox();
    const raw = githubDelivery('issue_comment', commentCreated());
    await h.table.update(keys.source(h.orgId, h.sourceId), [{ do: 'set', path: 'state', value: 'paused' }]);
    expect(await h.send(raw)).toMatchObject({ verdict: 'dropped', reason: { code: 'source_paused' } });
    await h.table.update(keys.source(h.orgId, h.sourceId), [{ do: 'set', path: 'state', value: 'active' }]);
    expect(await h.send(raw)).toMatchObject({ verdict: 'received' });
  });
});

describe('repeats', () => {
  it('B13 I2: of fifty identical deliveries at once one is received, and one Trigger is made', async () => {
    const h = await makeInbox();
    const raw = githubDelivery('issue_comment', commentCreated());
    const answers = await Promise.all(Array.from({ length: 50 }, () => h.send(raw)));
    expect(answers.filter(({ verdict }) => verdict === 'received')).toHaveLength(1);
    expect(answers.filter(({ verdict }) => verdict === 'duplicate')).toHaveLength(49);
    expect(h.blobs.keys()).toHaveLength(1);
    await h.drain();
    expect(h.triggers()).toHaveLength(1);
    expect(h.deliveries().filter(({ verdict }) => verdict === 'resolved')).toHaveLength(1);
  });

  it('B16: two cold instances share what they know', async () => {
    const h = await makeInbox();
    const raw = githubDelivery('issue_comment', commentCreated());
    const other = { ...h.deps };
    const { deliveryId, verdict } = await h.send(raw);
    expect(verdict).toBe('received');
    expect(await ingest(other, h.sourceId, raw)).toMatchObject({
      verdict: 'duplicate',
      reason: { message: expect.stringContaining(deliveryId) },
    });
  });

  it('B17: one delivery at +15 s, +5 min, +1 h, +6 h and after 29 days is one Trigger', async () => {
    const h = await makeInbox();
    const raw = githubDelivery('issue_comment', commentCreated());
    const verdicts = [(await h.send(raw)).verdict];
    for (const wait of [15_000, 5 * MINUTE, HOUR, 6 * HOUR, 29 * 24 * HOUR - 8 * HOUR]) {
      await h.clock.advance(wait);
      await h.drain();
      verdicts.push((await h.send(raw)).verdict);
    }
    expect(verdicts).toEqual(['received', 'duplicate', 'duplicate', 'duplicate', 'duplicate', 'duplicate']);
    expect(h.triggers()).toHaveLength(1);
  });

  it('B18: what is marked as a repeat and was never seen is taken', async () => {
    const h = await makeInbox();
    const raw = githubDelivery('issue_comment', commentCreated(), { 'x-github-redelivery': 'true' });
    expect((await h.send(raw)).verdict).toBe('received');
    // An attempt that died before it stored anything leaves nothing that could be in the way.
    const torn = { ...h.deps, table: { ...h.table, transact: () => Promise.reject(new Error('gone')) } };
    const lost = githubDelivery('issue_comment', commentCreated({ id: 2 }));
    await expect(ingest(torn, h.sourceId, lost)).rejects.toThrow('gone');
    expect((await h.send(lost)).verdict).toBe('received');
  });

  it('I2: two hooks tell of one comment under ids of their own, and a text that differs is another state', async () => {
    const h = await makeInbox();
    const payload = commentCreated();
    expect((await h.send(githubDelivery('issue_comment', payload))).verdict).toBe('received');
    expect((await h.send(githubDelivery('issue_comment', { ...payload, organization: { id: 1 } }))).verdict).toBe(
      'duplicate',
    );
    const other = commentCreated({ body: 'another text within the same second' });
    expect((await h.send(githubDelivery('issue_comment', other))).verdict).toBe('received');
  });
});

describe('what dies on the way', () => {
  it('I13: a wake-up that cannot be sent is no error to the provider; the sweep sends it', async () => {
    const h = await makeInbox();
    const deps = { ...h.deps, inbox: { ...h.inbox, send: () => Promise.reject(new Error('busy')) } };
    const { deliveryId, verdict } = await ingest(deps, h.sourceId, githubDelivery('issue_comment', commentCreated()));
    expect(verdict).toBe('received');
    const found = h.table.dump().find(({ sk }) => sk === `DELIVERY#${deliveryId}`);
    if (found === undefined) throw new Error('no row');
    const sweep = { table: h.table, clock: h.clock, inbox: h.inbox };
    await sweepDelivery(sweep, found);
    expect(h.inbox.sent).toEqual([]);
    await h.clock.advance(4 * MINUTE);
    await Promise.all([sweepDelivery(sweep, found), sweepDelivery(sweep, found)]);
    expect(h.inbox.sent).toHaveLength(1);
    await h.drain();
    expect(h.deliveries()).toMatchObject([{ verdict: 'resolved', attempts: 1 }]);
    expect(h.deliveries()[0]?.dueSk).toBeUndefined();
    expect(h.triggers()).toHaveLength(1);
  });

  it('a delivery that nobody can resolve is looked at more and more seldom, and is failed after a day', async () => {
    const h = await makeInbox();
    await h.send(githubDelivery('issue_comment', commentCreated()));
    const message = h.inbox.take()[0]?.message;
    if (message === undefined) throw new Error('no message');
    await buryDelivery({ ...h, table: h.table }, message);
    expect(h.deliveries()[0]?.verdict).toBe('received');
    const waits: number[] = [];
    for (let look = 0; look < 7; look++) {
      const found = h.table.dump().find(({ sk }) => sk === `DELIVERY#${message.deliveryId}`);
      const at = due.at(String(found?.dueSk));
      waits.push(at - h.clock.now());
      await h.clock.advance(at - h.clock.now());
      if (found !== undefined) await sweepDelivery({ ...h, table: h.table }, found);
    }
    expect(waits.map((ms) => ms / MINUTE)).toEqual([3, 6, 12, 24, 48, 60, 60]);
    await h.clock.advance(24 * HOUR);
    await buryDelivery({ ...h, table: h.table }, message);
    expect(h.deliveries()).toMatchObject([{ verdict: 'failed', reason: { code: 'unresolved' } }]);
    await resolveDelivery(h.resolveDeps, message);
    expect(h.triggers()).toEqual([]);
  });

  it('I13: a resolver that dies before its verdict is followed by another, and nothing is there twice', async () => {
    const h = await makeInbox();
    await h.send(githubDelivery('issue_comment', commentCreated()));
    const message = h.inbox.take()[0]?.message;
    if (message === undefined) throw new Error('no message');
    const table = { ...h.table, update: () => Promise.reject(new Error('died')) };
    await expect(resolveDelivery({ ...h.resolveDeps, table }, message)).rejects.toThrow('died');
    expect(h.deliveries()[0]?.verdict).toBe('received');
    await Promise.all([resolveDelivery(h.resolveDeps, message), resolveDelivery(h.resolveDeps, message)]);
    expect(h.triggers()).toHaveLength(1);
    expect(h.deliveries()[0]).toMatchObject({ verdict: 'resolved', triggerIds: [h.triggers()[0]?.id] });
  });

  it('while the organisation is held nothing is resolved, and nothing is lost', async () => {
    const h = await makeInbox();
    await h.send(githubDelivery('issue_comment', commentCreated()));
    const message = h.inbox.take()[0]?.message;
    if (message === undefined) throw new Error('no message');
    await h.table.update(keys.organisation(h.orgId), [{ do: 'set', path: 'stopped', value: { at: 1 } }]);
    await resolveDelivery(h.resolveDeps, message);
    expect(h.deliveries()[0]).toMatchObject({ verdict: 'received', dueSk: expect.any(String) });
  });

  it('a source that was deleted meanwhile is told of in the verdict', async () => {
    const h = await makeInbox();
    await h.send(githubDelivery('issue_comment', commentCreated()));
    await h.table.delete(keys.source(h.orgId, h.sourceId));
    await h.drain();
    expect(h.deliveries()).toMatchObject([{ verdict: 'dropped', reason: { code: 'source_deleted' } }]);
  });
});

describe('size', () => {
  it('G62: five megabytes go to the bucket, and the message stays below a kilobyte', async () => {
    const h = await makeInbox();
    const raw = githubDelivery('issue_comment', commentCreated({ body: '字'.repeat(1_700_000) }));
    expect(raw.body.length).toBeGreaterThan(5_000_000);
    await h.send(raw);
    expect((await h.blobs.get(h.deliveries()[0]?.body ?? ''))?.length).toBe(raw.body.length);
    expect(JSON.stringify(h.inbox.sent[0]?.message).length).toBeLessThan(1_024);
    expect(JSON.stringify(h.table.dump().find(({ sk }) => sk.startsWith('DELIVERY#'))).length).toBeLessThan(2_000);
    await h.drain();
    expect(h.triggers()).toMatchObject([{ actor: { id: ALICE }, repositoryId: String(REPOSITORY.id) }]);
  });
});
