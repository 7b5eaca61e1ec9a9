import { describe, expect, it } from 'vitest';
import { keys } from '../../../lib/kernel/keys.ts';
import { set } from '../../../lib/kernel/table.ts';
import { ProviderError } from '../../../lib/router/channel.ts';
import { buryPostingMessage, wakePosting } from '../../../lib/router/outbox/wake.ts';
import { postingWrites, reviewRequestWrites } from '../../../lib/router/outbox/write.ts';
import { refusal } from '../../support/refusal.ts';
import { Crash, makeWorld, ORG, place, START, ticketRow } from './support/world.ts';

describe('a posting', () => {
  it('goes out once, to the Thread of what it answers, however often its message comes (I2, I16)', async () => {
    const w = await makeWorld();
    const id = await w.post('Which branch?');
    await Promise.all([w.send(id), w.send(id), w.send(id)]);
    await w.send(id);
    expect(w.remote.posts).toMatchObject([{ thread: '501/issues/thr_1', body: 'Which branch?', key: id }]);
    expect(await w.posting(id)).toMatchObject({ state: 'sent', remoteId: '1', sentAt: START });
    expect((await w.posting(id)).dueSk).toBeUndefined();
    expect(w.needs.at(0)).toMatchObject({ verb: 'comment', repositoryId: '501' });
  });

  it('goes to the very note that is answered', async () => {
    const w = await makeWorld({ ticket: null });
    const id = await w.keep(
      postingWrites({ orgId: ORG, at: START, cause: 'x', place: place('thr_1', '77'), body: 'Here.' }),
    );
    await w.send(id);
    expect(w.remote.posts).toMatchObject([{ thread: '501/issues/thr_1', root: '77' }]);
  });

  it('A6 written twice for one cause is refused the second time and not brought back', async () => {
    const w = await makeWorld();
    const id = await w.post('Once.');
    await w.send(id);
    await expect(w.post('Once.')).rejects.toMatchObject({ name: 'TransactionRefused' });
    await w.send(id);
    expect(w.remote.posts).toHaveLength(1);
    const answer = () =>
      postingWrites({ orgId: ORG, at: w.clock.now(), causeAt: START, cause: 'trg_1 1', place: place(), body: 'No.' });
    const first = await w.keep(answer());
    await w.clock.advance(60_000);
    expect(answer().postingId).toBe(first);
    await expect(w.keep(answer())).rejects.toMatchObject({ name: 'TransactionRefused' });
  });

  it('whose message was lost is found by its mark', async () => {
    const w = await makeWorld();
    const id = await w.post('Lost.');
    const row = await w.table.get(keys.posting(ORG, id));
    await w.clock.advance(60_000);
    if (row !== undefined) await wakePosting(w.deps, row);
    await w.settle();
    expect(w.remote.posts).toHaveLength(1);
    // The same look of the clock once more moves nothing.
    if (row !== undefined) await wakePosting(w.deps, row);
    expect(w.queue.take()).toEqual([]);
  });

  it('waits while the organisation is held', async () => {
    const w = await makeWorld();
    await w.table.update(keys.organisation(ORG), [set('stopped', START)]);
    const id = await w.post('Later.');
    await w.send(id);
    expect(w.remote.asked).toEqual([]);
    expect((await w.posting(id)).dueSk).toBeDefined();
  });
});

describe('B26 what is tried again', () => {
  it('has the key that it had', async () => {
    const w = await makeWorld();
    const id = await w.post('Again.');
    w.remote.fail(
      'post',
      new ProviderError('busy', 'Slow down.', { retryAfterMs: 90_000 }),
      new ProviderError('down', 'x'),
    );
    await w.send(id);
    expect(await w.posting(id)).toMatchObject({ state: 'pending', attempts: 1, notBefore: START + 90_000 });
    // A copy of the message before its time does nothing.
    await w.send(id);
    expect(w.remote.asked).toEqual(['post']);
    await w.settle();
    expect(w.remote.asked).toEqual(['post', 'post', 'post']);
    expect(w.remote.posts).toMatchObject([{ key: id }]);
  });

  it('waits 5 s first, then twice as long each time', async () => {
    const w = await makeWorld();
    const id = await w.post('Again.');
    const waits: number[] = [];
    w.remote.fail('post', ...Array.from({ length: 4 }, () => new ProviderError('down', 'x')));
    for (let i = 0; i < 4; i++) {
      await w.send(id);
      const until = (await w.posting(id)).notBefore ?? 0;
      waits.push(until - w.clock.now());
      await w.clock.advance(until - w.clock.now());
    }
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000]);
  });

  it('is given up after a day, with an attention item', async () => {
    const w = await makeWorld();
    const id = await w.post('Again.');
    await w.clock.advance(86_400_000);
    w.remote.fail('post', new ProviderError('down', 'x'));
    await w.send(id);
    expect(await w.posting(id)).toMatchObject({ state: 'dead', reason: { code: 'given_up' } });
    expect(w.attention()).toMatchObject([{ kind: 'effect_undelivered', subjectId: id }]);
  });
});

describe('B28 I13 a crash between the sending and its mark', () => {
  it('is found by looking, and there is no second comment', async () => {
    const w = await makeWorld();
    const id = await w.post('Hello.');
    w.remote.fail('post', 'crash');
    expect(await refusal(w.send(id))).toBeInstanceOf(Crash);
    // The message comes back while the lease lives: nothing happens.
    await w.send(id);
    expect(w.remote.asked).toEqual(['post']);
    await w.clock.advance(60_000);
    await w.send(id);
    expect(w.remote.asked).toEqual(['post', 'list']);
    expect(w.remote.posts).toHaveLength(1);
    expect(await w.posting(id)).toMatchObject({ state: 'sent', remoteId: '1' });
    expect(w.needs.at(-1)).toMatchObject({ verb: 'read' });
  });

  it('before it was sent is sent again after two looks that found nothing, a minute apart', async () => {
    const w = await makeWorld();
    const id = await w.post('Hello.');
    w.remote.fail('post', () => {
      throw new Crash();
    });
    expect(await refusal(w.send(id))).toBeInstanceOf(Crash);
    await w.clock.advance(60_000);
    await w.send(id);
    expect(await w.posting(id)).toMatchObject({ state: 'unknown', negatives: 1 });
    await w.send(id);
    expect(w.remote.asked).toEqual(['post', 'list']);
    await w.settle();
    expect(w.remote.asked).toEqual(['post', 'list', 'list', 'post']);
    expect(w.remote.posts).toHaveLength(1);
  });

  it('and an answer that is lost comes to the same', async () => {
    const w = await makeWorld();
    const id = await w.post('Hello.');
    w.remote.fail('post', 'lost');
    await w.send(id);
    expect(await w.posting(id)).toMatchObject({ state: 'unknown', notBefore: START + 60_000 });
    await w.settle();
    expect(w.remote.asked).toEqual(['post', 'list']);
    expect(w.remote.posts).toHaveLength(1);
    expect(await w.posting(id)).toMatchObject({ state: 'sent', remoteId: '1' });
  });

  it('takes nobody else for the author: a copied mark is not ours', async () => {
    const w = await makeWorld();
    const id = await w.post('Hello.');
    w.remote.fail('post', new ProviderError('unknown', 'No answer.'));
    await w.send(id);
    w.remote.posts.push({
      id: '66',
      body: 'x',
      authorId: '1',
      at: START,
      key: id,
      thread: '501/issues/thr_1',
      root: undefined,
    });
    await w.settle();
    expect(w.remote.posts.filter(({ authorId }) => authorId === '900')).toHaveLength(1);
    expect((await w.posting(id)).remoteId).not.toBe('66');
  });

  it('is no matter to a provider that knows a repeat: it is sent again with its key', async () => {
    const w = await makeWorld();
    Object.assign(w.remote.provider, { repeatsWithinMs: Number.POSITIVE_INFINITY });
    const id = await w.post('Hello.');
    w.remote.fail('post', new ProviderError('unknown', 'No answer.'));
    await w.send(id);
    await w.settle();
    expect(w.remote.asked).toEqual(['post', 'post']);
    expect(await w.posting(id)).toMatchObject({ state: 'sent' });
  });

  it('outlasts the trouble of its source', async () => {
    const w = await makeWorld();
    const id = await w.post('Hello.');
    w.remote.fail('post', 'lost');
    await w.send(id);
    await w.table.update(keys.source(ORG, 'src_1'), [set('state', 'paused')]);
    await w.clock.advance(60_000);
    await w.send(id);
    expect(await w.posting(id)).toMatchObject({ state: 'unknown' });
    await w.table.update(keys.source(ORG, 'src_1'), [set('state', 'active')]);
    await w.send(id);
    expect(w.remote.posts).toHaveLength(1);
    expect(await w.posting(id)).toMatchObject({ state: 'sent' });
  });
});

describe('a place that is gone', () => {
  it.each(['gone', 'refused'] as const)('C37 (%s) is the end and no reason to try again', async (kind) => {
    const w = await makeWorld();
    const id = await w.post('Hello.');
    w.remote.fail('post', new ProviderError(kind, 'No such issue.', { status: 404 }));
    await w.send(id);
    await w.settle();
    expect(w.remote.asked).toEqual(['post']);
    expect(await w.posting(id)).toMatchObject({ state: 'dead', reason: { code: kind } });
    expect((await w.posting(id)).dueSk).toBeUndefined();
  });

  it('E47 is told to a person, and nothing is posted elsewhere', async () => {
    const w = await makeWorld();
    const id = await w.post('The answer is 42.');
    w.remote.fail('post', new ProviderError('gone', 'No such issue.'));
    await w.send(id);
    expect(w.remote.posts).toEqual([]);
    expect(w.attention()).toMatchObject([
      { kind: 'effect_undelivered', subjectType: 'effect', subjectId: id, url: `/v1/effects/${id}` },
    ]);
    expect(String(w.attention()[0]?.question)).toContain('The answer is 42.');
  });
});

describe('J74 a source that refuses to serve', () => {
  it('is taken out of service once; what wants to go out waits, and goes when it is well', async () => {
    const w = await makeWorld();
    const [a, b] = [await w.post('a'), await w.post('b')];
    w.remote.fail(
      'post',
      new ProviderError('refused', 'This installation has been suspended', { status: 403, code: 'suspended' }),
    );
    await w.send(a);
    await w.send(b);
    await w.settle(3_600_000);
    expect(w.remote.asked).toEqual(['post']);
    expect(await w.source()).toMatchObject({ state: 'suspended', reason: expect.stringContaining('suspended') });
    expect(w.attention()).toMatchObject([{ kind: 'source_stopped' }]);
    for (const id of [a, b]) expect(await w.posting(id)).toMatchObject({ state: 'held', reason: { code: 'source' } });
    await w.table.update(keys.source(ORG, 'src_1'), [set('state', 'active')]);
    await w.send(a);
    await w.send(b);
    expect(w.remote.posts.map(({ body }) => body)).toEqual(['a', 'b']);
  });
});

describe('a message that its queue gave up on', () => {
  it('buries the posting and tells a person', async () => {
    const w = await makeWorld();
    const id = await w.post('x');
    await buryPostingMessage(w.deps, { orgId: ORG, postingId: id });
    expect(await w.posting(id)).toMatchObject({ state: 'dead', reason: { code: 'worker_failed' } });
    expect(w.attention()).toMatchObject([{ kind: 'effect_undelivered', subjectId: id }]);
  });

  it('leaves what is out, in doubt or in somebody’s hands as it is', async () => {
    const w = await makeWorld();
    const [out, doubt, hands] = [await w.post('a'), await w.post('b'), await w.post('c')];
    await w.send(out);
    w.remote.fail('post', 'lost', 'crash');
    await w.send(doubt);
    expect(await refusal(w.send(hands))).toBeInstanceOf(Crash);
    for (const [id, state] of [
      [out, 'sent'],
      [doubt, 'unknown'],
      [hands, 'sending'],
    ] as const) {
      await buryPostingMessage(w.deps, { orgId: ORG, postingId: id });
      expect(await w.posting(id)).toMatchObject({ state });
    }
    await buryPostingMessage(w.deps, { orgId: ORG, postingId: 'eff_nothing' });
    expect(w.attention()).toEqual([]);
  });
});

describe('a request for a review', () => {
  it('needs a mandate up to pr', async () => {
    const w = await makeWorld({ ticket: ticketRow({}, { verb: 'pr' }) });
    const ticket = await w.ticket();
    const request = { orgId: ORG, at: START, cause: 'ready', place: place(), ticket, reviewers: ['octocat'] };
    await w.send(await w.keep(reviewRequestWrites(request)));
    expect(w.remote.reviewers).toEqual(['octocat']);
    const narrow = { ...ticket, mandate: { ...ticket.mandate, verb: 'comment' as const } };
    expect(() => reviewRequestWrites({ ...request, ticket: narrow })).toThrow(/goes up to comment/);
    const elsewhere = { ...place(), repositoryId: '502' };
    expect(() => reviewRequestWrites({ ...request, place: elsewhere })).toThrow(/another repository/);
  });
});
