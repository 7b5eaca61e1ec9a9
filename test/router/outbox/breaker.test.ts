import { describe, expect, it } from 'vitest';
import { keys } from '../../../lib/kernel/keys.ts';
import { ProviderError } from '../../../lib/router/channel.ts';
import { dropPosting, listPostings, releasePosting, retryPosting } from '../../../lib/router/outbox/manage.ts';
import { refusal } from '../../support/refusal.ts';
import { makeWorld, ORG, threadRow, ticketRow } from './support/world.ts';

const minutes = (n: number): number => n * 60_000;

describe('A1 the breaker', () => {
  const trip = async () => {
    const w = await makeWorld();
    const ids: string[] = [];
    for (let n = 1; n <= 14; n++) {
      ids.push(await w.answer(`reply ${n}`));
      await w.send(ids.at(-1) ?? '');
      await w.clock.advance(minutes(1));
    }
    return { ...w, ids, held: ids.slice(10) };
  };

  it('holds the eleventh reply within an hour and all that follow, with one attention item', async () => {
    const { remote, held, posting, attention, thread } = await trip();
    expect(remote.posts).toHaveLength(10);
    for (const id of held) expect(await posting(id)).toMatchObject({ state: 'held', reason: { code: 'breaker' } });
    expect(attention()).toMatchObject([{ kind: 'thread_muted', subjectId: 'thr_1', url: '/v1/threads/thr_1' }]);
    expect((await thread()).mutedSince).toBeDefined();
  });

  it('stays as it is when the hour is over: a person decides', async () => {
    const w = await trip();
    await w.clock.advance(minutes(120));
    for (const id of w.held) await w.send(id);
    expect(w.remote.posts).toHaveLength(10);
    expect(w.attention()).toHaveLength(1);
  });

  it('is let go by a person, with everything that it held, and closes its item', async () => {
    const w = await trip();
    await releasePosting(w.deps, ORG, w.held[0] ?? '');
    await w.settle();
    expect(w.remote.posts.map(({ body }) => body).sort()).toEqual(w.ids.map((_, n) => `reply ${n + 1}`).sort());
    expect(w.attention()).toEqual([]);
    expect((await w.thread()).mutedSince).toBeUndefined();
  });

  it('opens again for the next crowd after a person dropped one, with an item of its own', async () => {
    const w = await trip();
    const first = w.held[0] ?? '';
    await dropPosting(w.deps, ORG, first);
    expect(w.attention()).toEqual([]);
    expect(await w.posting(first)).toMatchObject({ state: 'dead', reason: { code: 'dropped' } });
    await w.send(w.held[1] ?? '');
    expect(w.remote.posts).toHaveLength(10);
    expect(w.attention()).toHaveLength(1);
  });

  it('counts replies of the last hour only, each once however often it is tried', async () => {
    const w = await makeWorld({ repliesPerHour: 2 });
    for (let n = 0; n < 6; n++) {
      await w.send(await w.answer(`${n}`));
      await w.clock.advance(minutes(31));
    }
    expect(w.remote.posts).toHaveLength(6);
  });

  it('lets edits pass: they notify nobody', async () => {
    const w = await makeWorld({ repliesPerHour: 1 });
    const id = await w.wish({ body: '0' });
    for (let n = 1; n < 5; n++) {
      await w.send(id);
      await w.wish({ body: `${n}` });
    }
    await w.send(id);
    expect(w.remote.posts).toMatchObject([{ body: '4' }]);
    expect(w.attention()).toEqual([]);
  });

  it('is not passed by two senders at once', async () => {
    const w = await makeWorld({ repliesPerHour: 1 });
    const ids = [await w.answer('a'), await w.answer('b'), await w.answer('c')];
    await Promise.all(ids.map((id) => w.send(id)));
    expect(w.remote.posts).toHaveLength(1);
    expect(w.attention()).toHaveLength(1);
  });

  it('of one Thread is not the breaker of another', async () => {
    const w = await makeWorld({ repliesPerHour: 1 });
    await w.table.put(threadRow('thr_2'));
    for (const [n, id] of ['thr_1', 'thr_1', 'thr_2'].entries()) await w.send(await w.answer(`${n}`, id));
    expect(w.remote.posts.map(({ thread }) => thread)).toEqual(['501/issues/thr_1', '501/issues/thr_2']);
  });
});

describe('people', () => {
  it('list what is where, newest first', async () => {
    const w = await makeWorld({ repliesPerHour: 1 });
    await w.send(await w.answer('a'));
    await w.clock.advance(1);
    const held = await w.answer('b');
    await w.send(held);
    const list = async (filter: Parameters<typeof listPostings>[2]) =>
      (await listPostings(w.deps, ORG, filter, { limit: 10 })).items.map(({ body }) => body);
    expect(await list({})).toEqual(['b', 'a']);
    expect(await list({ state: 'held' })).toEqual(['b']);
    expect(await list({ state: 'sent', threadId: 'thr_1' })).toEqual(['a']);
    expect(await list({ ticketId: 'tkt_1' })).toEqual([]);
  });

  it('try again what was given up, and its item closes', async () => {
    const w = await makeWorld();
    const id = await w.post('x');
    w.remote.fail('post', new ProviderError('refused', 'Locked.'));
    await w.send(id);
    expect(w.attention()).toHaveLength(1);
    expect(await retryPosting(w.deps, ORG, id)).toMatchObject({ state: 'pending', released: true });
    expect(w.attention()).toEqual([]);
    await w.settle();
    expect(w.remote.posts).toHaveLength(1);
    expect(await refusal(retryPosting(w.deps, ORG, id))).toMatchObject({ status: 409, code: 'wrong_state' });
  });

  it('drop one revision of a document, and the next one goes out', async () => {
    const w = await makeWorld();
    const id = await w.wish({ body: '1' });
    await dropPosting(w.deps, ORG, id);
    await w.send(id);
    expect(w.remote.asked).toEqual([]);
    await w.wish({ body: '2' });
    await w.send(id);
    expect(w.remote.posts).toMatchObject([{ body: '2' }]);
  });

  it('cannot release, drop or retry what is out', async () => {
    const w = await makeWorld();
    const id = await w.post('x');
    await w.send(id);
    for (const act of [retryPosting, releasePosting, dropPosting]) {
      expect(await refusal(act(w.deps, ORG, id))).toMatchObject({ status: 409, details: { state: 'sent' } });
    }
    expect(await refusal(dropPosting(w.deps, ORG, 'eff_nothing'))).toMatchObject({ status: 404 });
    expect(await refusal(dropPosting(w.deps, 'org_other', id))).toMatchObject({ status: 404 });
  });

  it('do not widen a mandate by trying again (I9)', async () => {
    const w = await makeWorld();
    const id = await w.post('x');
    await w.table.put(ticketRow({ version: 2 }, { state: 'revoked' }));
    await w.send(id);
    await retryPosting(w.deps, ORG, id);
    await w.settle();
    expect(w.remote.asked).toEqual([]);
    expect(await w.table.get(keys.posting(ORG, id))).toMatchObject({ state: 'dead' });
  });
});
