import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../../lib/router/outbox/authority.ts';
import { answerTicket, retryTicket } from '../../../lib/router/ticket/people.ts';
import { stopTicket } from '../../../lib/router/ticket/stop.ts';
import { ADA, ORG, POLICY, SOURCE, STRANGER, said } from '../support/team.ts';
import { makeShop, type Worker } from './shop.ts';

const waiting: Worker = (_, { turn }) => [
  ['reply', { content: `Words ${turn}.` }],
  ['report', { state: 'waiting', on: 'event', text: 'For CI.' }],
];
const asked = { actor: 'key_1', key: '1' };

describe('I21: stop', () => {
  it('revokes, terminates and closes in one transaction', async () => {
    const shop = await makeShop(() => [['think', { thought: 'On and on.' }]]);
    const id = await shop.accept(await shop.hear(said('@baton go on')));
    const stored = await shop.hear(said('@baton stop'));
    expect(stored.state).toBe('decided');
    expect(shop.ticket(id)).toMatchObject({
      phase: 'closed',
      mandate: { state: 'revoked', revokedBy: `${SOURCE}:${ADA}` },
      reason: { code: 'stopped' },
    });
    expect(shop.run(id).status).toBe('TERMINATED');
    expect(await shop.slots()).toMatchObject({ holders: [], queue: [] });
    expect(shop.rows(/^DIGEST$/)).toMatchObject([{ end: 'stopped' }]);
    await shop.drain();
    expect(shop.ticket(id)).toMatchObject({ phase: 'closed', reason: { code: 'stopped' } });
    expect(shop.requests).toHaveLength(0);
  });

  it('beats what is queued: a message of before it revives nothing and is decided', async () => {
    const shop = await makeShop(waiting);
    const id = await shop.open(said('@baton look', { at: 1 }));
    await shop.hear(said('@baton stop', { at: 20 }));
    const late = await shop.say(said('And fix it, too', { at: 10 }));
    expect(late.state).toBe('decided');
    expect(shop.ticket(id)).toMatchObject({ phase: 'closed', mandate: { state: 'revoked' } });
    expect(shop.ticket(id).executionIds).toHaveLength(1);
    expect(shop.run(id).status).toBe('TERMINATED');
  });

  it('a message of after it is not silence but an Eval', async () => {
    const shop = await makeShop(waiting);
    const id = await shop.open(said('@baton look', { at: 1 }));
    await shop.hear(said('@baton stop', { at: 20 }));
    const next = await shop.say(said('@baton and now something else', { at: 30 }));
    expect(next.state).toBe('pending');
    expect(shop.ticket(id).phase).toBe('closed');
  });

  it('a stranger stops nothing', async () => {
    const shop = await makeShop(waiting);
    const id = await shop.open(said('@baton look'));
    await shop.say(said('@baton stop', { actor: STRANGER }));
    expect(shop.ticket(id)).toMatchObject({ phase: 'idle', mandate: { state: 'active' } });
  });

  it('a place that it held, or waited for, goes to the next', async () => {
    const shop = await makeShop(waiting, { policy: { maxWorkers: 1 } });
    const first = await shop.accept(await shop.hear(said('@baton one', { issue: 1 })));
    const second = await shop.accept(await shop.hear(said('@baton two', { issue: 2 })));
    const third = await shop.accept(await shop.hear(said('@baton three', { issue: 3 })));
    const by = { by: 'key key_1', at: shop.clock.now() };
    await stopTicket(shop.deps, { orgId: ORG, ticketId: second }, by);
    await stopTicket(shop.deps, { orgId: ORG, ticketId: first }, by);
    expect(shop.ticket(third)).toMatchObject({ phase: 'working', slot: 'ordinary' });
    expect((await shop.slots()).queue).toEqual([]);
  });

  it('twice is once, and nothing brings it back', async () => {
    const shop = await makeShop(waiting);
    const id = await shop.open(said('@baton look'));
    const by = { by: 'key key_1', at: shop.clock.now() };
    const once = await stopTicket(shop.deps, { orgId: ORG, ticketId: id }, by);
    expect(await stopTicket(shop.deps, { orgId: ORG, ticketId: id }, by)).toEqual(once);
    const at = { orgId: ORG, ticketId: id };
    await expect(answerTicket(shop.deps, at, 'Go on', asked)).rejects.toMatchObject({ code: 'mandate_revoked' });
    await expect(retryTicket(shop.deps, at, asked)).rejects.toMatchObject({ code: 'mandate_revoked' });
  });
});

describe('I9: what a stopped ticket still wants to say', () => {
  it('is refused to its worker, and to what was queued before', async () => {
    let stop = async (): Promise<unknown> => undefined;
    const shop = await makeShop((_, { turn }) => {
      if (turn === 2) void stop();
      return [['reply', { content: `Words ${turn}.` }]];
    });
    const id = await shop.accept(await shop.hear(said('@baton look')));
    stop = () => stopTicket(shop.deps, { orgId: ORG, ticketId: id }, { by: 'key key_1', at: shop.clock.now() });
    await shop.drain();
    const [document] = shop.postings();
    expect(document).toMatchObject({ body: 'Words 1.', desired: 1 });
    expect(document && refusalOf(shop.ticket(id), 'comment', document)).toMatchObject({ code: 'mandate_revoked' });
  });
});

describe('revival', () => {
  const dropping: Worker = () => [['report', { state: 'dropped', text: 'Nothing left.' }]];

  it("a person's message revives an ended ticket as it was, without a mention", async () => {
    const shop = await makeShop(dropping);
    const id = await shop.open(said('@baton look'));
    const before = shop.ticket(id);
    expect(before).toMatchObject({ phase: 'closed' });
    const stored = await shop.hear(said('One more thing'));
    expect(stored.state).toBe('delivered');
    expect(shop.ticket(id)).toMatchObject({ phase: 'working', mandate: before.mandate });
    expect(shop.ticket(id).endedAt).toBeUndefined();
  });

  it.each([
    ['I3: a bot', { actor: '55', type: 'bot' }],
    ['a stranger', { actor: STRANGER }],
    ['a check', { actor: '55', type: 'app', scope: 'status' }],
  ] as const)('%s never revives one', async (_, who) => {
    const shop = await makeShop(dropping);
    const id = await shop.open(said('@baton look'));
    const stored = await shop.say(said('@baton go on', who));
    expect(stored.state).not.toBe('delivered');
    expect(shop.ticket(id)).toMatchObject({ phase: 'closed', mandate: { state: 'active' } });
  });

  it('J74: a source that is gone takes the mandate along, one that is only away refuses for now', async () => {
    for (const [state, mandate] of [
      ['suspended', 'active'],
      ['gone', 'revoked'],
    ] as const) {
      const shop = await makeShop(dropping);
      const id = await shop.open(said('@baton look'));
      await shop.source({ state });
      const stored = await shop.say(said('One more thing'));
      expect(stored.state).toBe('pending');
      expect(shop.ticket(id)).toMatchObject({ phase: 'closed', mandate: { state: mandate } });
      expect(shop.ticket(id).executionIds).toHaveLength(1);
    }
  });

  it('a repository that the installation does not show any more takes it along too', async () => {
    const shop = await makeShop(dropping);
    const id = await shop.open(said('@baton look'));
    await shop.source({ repositories: [{ id: '1', fullName: 'other/one' }] });
    await shop.say(said('One more thing'));
    expect(shop.ticket(id).mandate.state).toBe('revoked');
  });

  it('who is not listed any more revives nothing', async () => {
    const shop = await makeShop(dropping);
    const id = await shop.open(said('@baton look'));
    await shop.savePolicy({ allow: [], admission: POLICY.admission });
    await shop.say(said('One more thing'));
    expect(shop.ticket(id)).toMatchObject({ phase: 'closed', mandate: { state: 'active' } });
  });
});
