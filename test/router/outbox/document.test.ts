import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../../lib/router/channel.ts';
import { speechOf } from '../../../lib/router/outbox/speech.ts';
import { refusal } from '../../support/refusal.ts';
import { Crash, makeWorld } from './support/world.ts';

describe('E49 a ticket has one comment in a Thread', () => {
  it('that the first reply makes and all that follows edits', async () => {
    const w = await makeWorld();
    const id = await w.wish({ body: 'Looking.' });
    await w.send(id);
    expect(await w.wish({ body: 'Found it.' })).toBe(id);
    await w.send(id);
    await w.wish({ note: 'Writing a test.' });
    await w.send(id);
    expect(w.remote.asked).toEqual(['post', 'edit', 'edit']);
    expect(w.remote.posts).toMatchObject([{ body: 'Found it.\n\n---\n\nWriting a test.', key: id }]);
    expect(await w.posting(id)).toMatchObject({ state: 'sent', desired: 3, sentRevision: 3 });
    expect((await w.posting(id)).dueSk).toBeUndefined();
  });

  it('that progress alone does not make', async () => {
    const w = await makeWorld();
    const id = await w.wish({ note: 'Reading.' });
    await w.send(id);
    expect(w.remote.asked).toEqual([]);
    expect((await w.posting(id)).dueSk).toBeUndefined();
    await w.wish({ body: 'Done.' });
    await w.send(id);
    expect(w.remote.posts).toMatchObject([{ body: 'Done.\n\n---\n\nReading.' }]);
  });

  it.each([
    ['progress', undefined, 'note'],
    ['waiting', 'person', 'post'],
    ['waiting', 'event', 'note'],
    ['ready', undefined, 'review'],
    ['blocked', undefined, 'post'],
    ['failed', undefined, 'post'],
    ['dropped', undefined, 'note'],
  ] as const)('%s (on %s) is a %s', (report, on, speech) => {
    expect(speechOf(report, on)).toBe(speech);
  });
});

describe('a document', () => {
  it('is wanted whatever its sender is at, and the newest revision wins', async () => {
    const w = await makeWorld();
    const id = await w.wish({ body: '1' });
    w.remote.fail('post', async () => {
      for (const body of ['2', '3', '4']) await w.wish({ body });
    });
    await w.send(id);
    expect(await w.posting(id)).toMatchObject({ state: 'pending', sentRevision: 1, desired: 4, remoteId: '1' });
    await w.settle();
    expect(w.remote.asked).toEqual(['post', 'edit']);
    expect(w.remote.posts).toMatchObject([{ body: '4' }]);
  });

  it('whose making is in doubt is looked for first, also when it is wanted otherwise by then', async () => {
    const w = await makeWorld();
    const id = await w.wish({ body: '1' });
    w.remote.fail('post', 'lost');
    await w.send(id);
    await w.wish({ body: '2' });
    await w.send(id);
    expect(w.remote.asked).toEqual(['post']);
    await w.settle();
    expect(w.remote.asked).toEqual(['post', 'list', 'edit']);
    expect(w.remote.posts).toMatchObject([{ body: '2' }]);
  });

  it('is never edited by two at once, so that an old text cannot overwrite a new one', async () => {
    const w = await makeWorld();
    const id = await w.wish({ body: '1' });
    await w.send(id);
    await w.wish({ body: '2' });
    w.remote.fail('edit', async () => {
      await w.wish({ body: '3' });
      await w.send(id);
    });
    await w.send(id);
    expect(w.remote.posts).toMatchObject([{ body: '2' }]);
    await w.settle();
    expect(w.remote.posts).toMatchObject([{ body: '3' }]);
    expect(w.remote.asked).toEqual(['post', 'edit', 'edit']);
  });

  it('whose edit met a crash is edited again after the lease', async () => {
    const w = await makeWorld();
    const id = await w.wish({ body: '1' });
    await w.send(id);
    await w.wish({ body: '2' });
    w.remote.fail('edit', 'crash');
    expect(await refusal(w.send(id))).toBeInstanceOf(Crash);
    await w.send(id);
    expect(w.remote.asked).toEqual(['post', 'edit']);
    await w.clock.advance(60_000);
    await w.send(id);
    expect(w.remote.asked).toEqual(['post', 'edit', 'edit']);
    expect(await w.posting(id)).toMatchObject({ state: 'sent', sentRevision: 2 });
  });

  it('whose edit may still be on its way waits a minute before the next one', async () => {
    const w = await makeWorld();
    const id = await w.wish({ body: '1' });
    await w.send(id);
    await w.wish({ body: '2' });
    w.remote.fail('edit', new ProviderError('unknown', 'No answer.'));
    await w.send(id);
    expect((await w.posting(id)).notBefore).toBe(w.clock.now() + 60_000);
  });

  it('C37 that somebody deleted is not made anew, and nobody is told', async () => {
    const w = await makeWorld();
    const id = await w.wish({ body: '1' });
    await w.send(id);
    w.remote.fail('edit', new ProviderError('gone', 'Not Found', { status: 404 }));
    await w.wish({ body: '2' });
    await w.send(id);
    await w.wish({ body: '3' });
    await w.send(id);
    expect(w.remote.asked).toEqual(['post', 'edit']);
    expect(await w.posting(id)).toMatchObject({ state: 'dead', reason: { code: 'gone' } });
    expect(w.attention()).toEqual([]);
  });
});
