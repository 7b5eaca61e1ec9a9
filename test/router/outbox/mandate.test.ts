import { describe, expect, it } from 'vitest';
import { keys } from '../../../lib/kernel/keys.ts';
import { add, set } from '../../../lib/kernel/table.ts';
import { documentWrites, postingWrites } from '../../../lib/router/outbox/write.ts';
import { makeWorld, ORG, place, START, threadRow, ticketRow } from './support/world.ts';

const revoked = (w: Awaited<ReturnType<typeof makeWorld>>) =>
  w
    .ticket()
    .then(({ mandate }) =>
      w.table.update(keys.ticket(ORG, 'tkt_1'), [
        set('mandate', { id: mandate.id, verb: mandate.verb, state: 'revoked', grantedBy: 'x', policyVersion: 1 }),
        add('version', 1),
      ]),
    );

describe('I8 a ticket says nothing outside of its mandate', () => {
  it.each([
    ['in a Thread that it does not subscribe to', {}, place('thr_2')],
    ['at another address of its Thread', {}, { ...place(), replyTo: { thread: '502/issues/1' } }],
    ['in the Thread of another source', {}, { ...place(), sourceId: 'src_2' }],
    ['with a mandate to read', { verb: 'read' }, place()],
    ['with a mandate that is revoked', { state: 'revoked' }, place()],
  ] as const)('%s', async (_, mandate, where) => {
    const w = await makeWorld({ ticket: ticketRow({}, mandate) });
    const said = { orgId: ORG, at: START, place: where, ticket: await w.ticket(), body: 'x' };
    expect(() => postingWrites({ ...said, cause: 'c' })).toThrow(expect.objectContaining({ name: 'OutsideMandate' }));
    expect(() => documentWrites(said)).toThrow(expect.objectContaining({ name: 'OutsideMandate' }));
  });

  it('whatever a row says that was written around the check', async () => {
    const w = await makeWorld();
    await w.table.put(threadRow('thr_2'));
    const id = await w.post('x');
    await w.table.update(keys.posting(ORG, id), [
      set('threadId', 'thr_2'),
      set('replyTo', { thread: '501/issues/thr_2' }),
    ]);
    await w.send(id);
    expect(w.remote.asked).toEqual([]);
    expect(await w.posting(id)).toMatchObject({ state: 'dead', reason: { code: 'outside_mandate' } });
  });

  it('nor under the mandate of another ticket', async () => {
    const w = await makeWorld();
    const id = await w.post('x');
    await w.table.update(keys.posting(ORG, id), [set('mandateId', 'mdt_2')]);
    await w.send(id);
    expect(w.remote.asked).toEqual([]);
    expect(await w.posting(id)).toMatchObject({ state: 'dead', reason: { code: 'outside_mandate' } });
  });
});

describe('I9 a revoked mandate stops', () => {
  it('what is queued', async () => {
    const w = await makeWorld();
    const [post, document] = [await w.post('x'), await w.wish({ body: 'y' })];
    await revoked(w);
    await w.send(post);
    await w.send(document);
    expect(w.remote.asked).toEqual([]);
    for (const id of [post, document]) {
      expect(await w.posting(id)).toMatchObject({ state: 'dead', reason: { code: 'mandate_revoked' } });
    }
    expect(w.attention()).toEqual([]);
  });

  it('what waits for its next attempt, and edits of what is out', async () => {
    const w = await makeWorld();
    const document = await w.wish({ body: 'one' });
    await w.send(document);
    await w.wish({ body: 'two' });
    await revoked(w);
    await w.send(document);
    expect(w.remote.posts.map(({ body }) => body)).toEqual(['one']);
  });

  it('what a sender has judged already and not yet claimed (I21)', async () => {
    const w = await makeWorld();
    const id = await w.post('x');
    // Between the reading and the claim; the rights of a provider are asked for in between.
    const { provider } = w.deps;
    let first = true;
    Object.assign(w.deps, {
      provider: async (...needs: Parameters<typeof provider>) => {
        if (first) await revoked(w);
        first = false;
        return provider(...needs);
      },
    });
    await w.send(id);
    expect(w.remote.asked).toEqual([]);
    expect(await w.posting(id)).toMatchObject({ state: 'dead', reason: { code: 'mandate_revoked' } });
  });

  it('and any other change of the ticket meanwhile does not', async () => {
    const w = await makeWorld();
    const id = await w.post('x');
    const { provider } = w.deps;
    let first = true;
    Object.assign(w.deps, {
      provider: async (...needs: Parameters<typeof provider>) => {
        if (first) await w.table.update(keys.ticket(ORG, 'tkt_1'), [add('version', 1)]);
        first = false;
        return provider(...needs);
      },
    });
    await w.send(id);
    expect(w.remote.posts).toHaveLength(1);
  });
});

describe('A7 what is closed', () => {
  const closed = (w: Awaited<ReturnType<typeof makeWorld>>, at: number, state = 'closed') =>
    w.table.update(keys.thread(ORG, 'thr_1'), [set('subject', { state, at })]);

  it.each(['closed', 'merged'])('(%s) is told nothing more', async (state) => {
    const w = await makeWorld();
    const ids = [await w.post('a', { askedAt: START }), await w.post('b'), await w.wish({ body: 'c' })];
    await closed(w, START + 120_000, state);
    for (const id of ids) await w.send(id);
    expect(w.remote.asked).toEqual([]);
    for (const id of ids)
      expect(await w.posting(id)).toMatchObject({ state: 'dead', reason: { code: 'subject_closed' } });
    expect(w.attention()).toEqual([]);
  });

  it('but what was asked there since, or in the same go, is answered', async () => {
    const w = await makeWorld();
    await closed(w, START + 30_000);
    await w.send(await w.post('a', { askedAt: START + 40_000 }));
    await w.send(await w.post('b', { askedAt: START + 29_000 }));
    expect(w.remote.posts.map(({ body }) => body)).toEqual(['a', 'b']);
  });

  it('and what stands there already may be set right', async () => {
    const w = await makeWorld();
    const id = await w.wish({ body: 'one' });
    await w.send(id);
    await closed(w, START + 120_000, 'merged');
    await w.wish({ note: 'merged' });
    await w.send(id);
    expect(w.remote.posts).toMatchObject([{ body: 'one\n\n---\n\nmerged' }]);
  });

  it('what was deleted is never answered', async () => {
    const w = await makeWorld();
    const id = await w.post('a', { askedAt: START + 999_000 });
    await closed(w, START, 'gone');
    await w.send(id);
    expect(w.remote.asked).toEqual([]);
    expect(await w.posting(id)).toMatchObject({ state: 'dead', reason: { code: 'gone' } });
  });
});
