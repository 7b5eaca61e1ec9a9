import { describe, expect, it } from 'vitest';
import { eachDue } from '../../../lib/execution/clock.ts';
import { keys } from '../../../lib/kernel/keys.ts';
import { remove, set } from '../../../lib/kernel/table.ts';
import { overview } from '../../../lib/router/ticket/list.ts';
import { isSlots, sweepSlots } from '../../../lib/router/ticket/repair.ts';
import { followSubject } from '../../../lib/router/ticket/subject.ts';
import { ORG, said } from '../support/team.ts';
import { type Calls, makeShop, type Shop } from './shop.ts';

const report = (state: string, text: string, on?: string): Calls => [['report', { state, text, ...(on && { on }) }]];

/** The subject of the ticket's first Thread, as the provider tells of it. */
const become = async (shop: Shop, id: string, state: string): Promise<void> => {
  const threadId = shop.ticket(id).threads[0]?.threadId ?? '';
  await shop.memory.update(keys.thread(ORG, threadId), [set('subject', { state, at: shop.clock.now() })]);
  await followSubject(shop.deps, ORG, threadId);
};

describe('what is discussed comes to its end', () => {
  it('closes a ticket that waits for its review, with what is left of it', async () => {
    const shop = await makeShop((_, { turn }) =>
      turn === 1 ? report('progress', 'The cause is the cache.') : report('ready', 'It is fixed in pull request 7.'),
    );
    const id = await shop.open(said('@baton fix it'));
    expect(shop.ticket(id).phase).toBe('person/review');
    await become(shop, id, 'open');
    expect(shop.ticket(id).phase).toBe('person/review');
    await become(shop, id, 'merged');
    await become(shop, id, 'merged');
    expect(shop.ticket(id)).toMatchObject({ phase: 'closed', reason: { code: 'subject_merged' } });
    expect(shop.attention()).toEqual([]);
    expect(shop.rows(/^DIGEST$/)).toMatchObject([
      {
        asked: '@baton fix it',
        done: 'It is fixed in pull request 7.',
        learned: ['The cause is the cache.'],
        end: 'subject_merged',
      },
    ]);
    // A person may go on with it.
    expect((await shop.say(said('One more thing'))).state).toBe('delivered');
  });

  it('leaves alone who asks, and who was opened elsewhere', async () => {
    const shop = await makeShop(() => report('waiting', 'Which?', 'person'));
    const id = await shop.open(said('@baton fix it', { issue: 1 }));
    await become(shop, id, 'closed');
    expect(shop.ticket(id).phase).toBe('person/answer');
  });

  it('shows what is going on, of those that one may know of', async () => {
    const shop = await makeShop(() => report('waiting', 'For CI.', 'event'));
    const one = await shop.open(said('@baton one', { issue: 1 }));
    const two = await shop.open(said('@baton two', { issue: 2 }), { repositoryId: '9' });
    const deps = { table: shop.memory, log: shop.deps.log };
    const all = await overview(deps, ORG, () => true);
    expect(all).toEqual([expect.stringContaining(two), expect.stringContaining(one)]);
    expect(await overview(deps, ORG, ({ mandate }) => mandate.repositoryId === '9')).toHaveLength(1);
    expect(await overview(deps, ORG, () => false)).toEqual(['Nothing is going on.']);
  });
});

describe('the repair of the places', () => {
  const sweep = (shop: Shop): Promise<void> =>
    eachDue(shop.deps, 'sweep', shop.clock.now(), async (found) => {
      if (isSlots(found)) await sweepSlots(shop.deps, found);
    });

  it('gives back what nobody works with, an hour after every other way has failed', async () => {
    const shop = await makeShop(() => report('waiting', 'For CI.', 'event'), { policy: { maxWorkers: 1 } });
    const first = await shop.accept(await shop.hear(said('@baton one', { issue: 1 })));
    const second = await shop.accept(await shop.hear(said('@baton two', { issue: 2 })));
    for (const { message } of shop.queues.steps.take()) await shop.step(message);
    // The effect of the end of the turn is lost for good.
    shop.queues.effects.take();
    for (const { pk, sk } of shop.rows(/^EFFECT$/)) {
      await shop.memory.update({ pk, sk }, [set('state', 'dead'), remove('duePk'), remove('dueSk')]);
    }
    expect(shop.ticket(first)).toMatchObject({ phase: 'working', slot: 'ordinary' });
    await sweep(shop);
    expect(shop.queues.effects.sent).toHaveLength(0);
    await shop.clock.advance(2 * 3_600_000);
    await sweep(shop);
    await shop.drain();
    expect(shop.ticket(first)).toMatchObject({ phase: 'idle' });
    expect(shop.ticket(second)).toMatchObject({ phase: 'idle' });
    expect(await shop.slots()).toMatchObject({ holders: [], queue: [] });
  });
});
