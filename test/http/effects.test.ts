import { beforeEach, describe, expect, it } from 'vitest';
import { keys } from '../../lib/kernel/keys.ts';
import { set } from '../../lib/kernel/table.ts';
import { postingWrites } from '../../lib/router/outbox/write.ts';
import { type Harness, makeHarness } from './support/harness.ts';

let h: Harness;
beforeEach(async () => {
  h = await makeHarness();
});

const THREAD = `thr_${'0'.repeat(26)}`;

const post = async (body: string, state?: string, orgId = h.a.organisationId): Promise<string> => {
  const { postingId, writes } = postingWrites({
    orgId,
    at: h.clock.now(),
    cause: body,
    place: { threadId: THREAD, sourceId: 'src_1', replyTo: { thread: '501/issues/7' } },
    body,
  });
  await h.table.transact(writes);
  if (state !== undefined) await h.table.update(keys.posting(orgId, postingId), [set('state', state)]);
  await h.clock.advance(1);
  return postingId;
};

describe('/v1/effects', () => {
  it('lists the outbox, newest first, by state, thread and ticket', async () => {
    const [a, b] = [await post('a', 'sent'), await post('b')];
    const ids = async (query = '') =>
      ((await h.call('GET', `/v1/effects${query}`)).json.items as { readonly id: string }[]).map(({ id }) => id);
    expect(await ids()).toEqual([b, a]);
    expect(await ids('?state=pending')).toEqual([b]);
    expect(await ids(`?threadId=${THREAD}`)).toEqual([b, a]);
    expect(await ids(`?ticketId=tkt_${'0'.repeat(26)}`)).toEqual([]);
    expect((await h.call('GET', '/v1/effects?state=gone')).status).toBe(400);
    const first = await h.call('GET', '/v1/effects?limit=1');
    expect(await ids(`?limit=1&cursor=${String(first.json.nextCursor)}`)).toEqual([a]);
  });

  it('shows one as the contract has it', async () => {
    const id = await post('Hello.');
    expect((await h.call('GET', `/v1/effects/${id}`)).json).toEqual({
      id,
      kind: 'post',
      state: 'pending',
      sourceId: 'src_1',
      threadId: THREAD,
      verb: 'comment',
      body: 'Hello.',
      attempts: 0,
      createdAt: '2026-03-01T12:00:00.000Z',
    });
    expect((await h.call('GET', '/v1/effects/eff_1')).status).toBe(404);
  });

  it('lets go, tries again and drops, and says which state is in the way', async () => {
    const [held, dead, sent] = [await post('a', 'held'), await post('b', 'dead'), await post('c', 'sent')];
    expect((await h.call('POST', `/v1/effects/${held}/release`)).json).toMatchObject({ state: 'pending' });
    expect((await h.call('POST', `/v1/effects/${dead}/retry`)).json).toMatchObject({ state: 'pending' });
    expect(h.postings.take().map(({ message }) => message.postingId)).toEqual([held, dead]);
    expect((await h.call('POST', `/v1/effects/${held}/drop`)).json).toMatchObject({
      state: 'dead',
      reason: { code: 'dropped' },
    });
    for (const what of ['retry', 'release', 'drop']) {
      const refused = await h.call('POST', `/v1/effects/${sent}/${what}`);
      expect(refused.json).toMatchObject({ status: 409, code: 'wrong_state', state: 'sent' });
    }
  });

  it('needs the scope, and never reaches another organisation', async () => {
    const foreign = await post('theirs', 'held', h.b.organisationId);
    expect((await h.call('GET', '/v1/effects')).json).toEqual({ items: [] });
    for (const what of ['', '/release', '/retry', '/drop']) {
      const method = what === '' ? 'GET' : 'POST';
      expect((await h.call(method, `/v1/effects/${foreign}${what}`)).status).toBe(404);
    }
    const mine = await post('mine', 'held');
    const key = await h.keyWith('read');
    expect((await h.call('POST', `/v1/effects/${mine}/release`, undefined, { key })).status).toBe(403);
    expect((await h.call('GET', `/v1/effects/${mine}`, undefined, { key })).status).toBe(200);
    expect((await h.call('GET', '/v1/effects', undefined, { key: undefined })).status).toBe(401);
  });
});
