import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settleTicket } from '../../../lib/router/ticket/settle.ts';
import {
  enqueue,
  isFull,
  leave,
  MOST_WAITING,
  NO_SLOTS,
  next,
  type Slots,
  take,
} from '../../../lib/router/ticket/slots.ts';
import { ORG, said } from '../support/team.ts';
import { makeShop, newest, type Worker } from './shop.ts';

const taken = (slots: Slots, ticketId: string, human: boolean, most: number): Slots =>
  take(slots, { ticketId, human }, most, 0)?.slots ?? enqueue(slots, ticketId, human, 0);

describe('the rule', () => {
  it('gives ordinary places up to the limit, and the extra one to a person alone', () => {
    let slots = taken(NO_SLOTS, 'a', false, 1);
    expect(take(slots, { ticketId: 'b', human: false }, 1, 0)).toBeUndefined();
    slots = taken(slots, 'b', true, 1);
    expect(slots.holders.map(({ ticketId, kind }) => [ticketId, kind])).toEqual([
      ['a', 'ordinary'],
      ['b', 'human'],
    ]);
    expect(take(slots, { ticketId: 'c', human: true }, 1, 0)).toBeUndefined();
  });

  it('lets people go before work, and each in the order of coming', () => {
    let slots = taken(NO_SLOTS, 'a', false, 1);
    for (const [id, human] of [
      ['b', false],
      ['c', true],
      ['d', true],
      ['e', false],
    ] as const) {
      slots = enqueue(slots, id, human, 0);
    }
    expect(slots.queue.map(({ ticketId }) => ticketId)).toEqual(['c', 'd', 'b', 'e']);
    expect(next(slots, 1)).toBeUndefined();
    expect(next(leave(slots, 'a'), 1)?.ticketId).toBe('c');
    // Work that waits goes before work that comes.
    expect(take(leave(slots, 'a'), { ticketId: 'f', human: false }, 1, 0)).toBeUndefined();
    // A person speaks to who waits already.
    expect(enqueue(slots, 'e', true, 0).queue.map(({ ticketId }) => ticketId)).toEqual(['c', 'd', 'e', 'b']);
    expect(enqueue(slots, 'c', false, 0).queue.map(({ ticketId }) => ticketId)).toEqual(['c', 'd', 'b', 'e']);
  });

  it('holds no ticket twice, and never more ordinary places than there are, whatever happens', () => {
    const act = fc.record({
      what: fc.constantFrom('come', 'say', 'leave', 'next'),
      id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), fc.integer({ min: 1, max: 3 }), (acts, most) => {
        let slots = NO_SLOTS;
        for (const { what, id } of acts) {
          const holds = slots.holders.some(({ ticketId }) => ticketId === id);
          if (what === 'leave') slots = leave(slots, id);
          else if (what === 'next') {
            const head = next(slots, most);
            if (head !== undefined) slots = taken(slots, head.ticketId, head.human, most);
          } else if (!holds) slots = taken(slots, id, what === 'say', most);
          const ids = [...slots.holders, ...slots.queue].map(({ ticketId }) => ticketId);
          expect(new Set(ids).size).toBe(ids.length);
          expect(slots.holders.filter(({ kind }) => kind === 'ordinary').length).toBeLessThanOrEqual(most);
          expect(slots.holders.filter(({ kind }) => kind === 'human').length).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  it('takes a thousand into the queue', () => {
    const queue = Array.from({ length: MOST_WAITING }, (_, n) => ({ ticketId: `${n}`, human: false, since: 0 }));
    expect(isFull({ ...NO_SLOTS, queue: queue.slice(1) })).toBe(false);
    expect(isFull({ ...NO_SLOTS, queue })).toBe(true);
  });
});

const busy: Worker = (_, { turn }) => [['think', { thought: `Step ${turn}.` }]];

const idle: Worker = () => [['report', { state: 'waiting', on: 'event', text: 'For CI.' }]];

describe('workers', () => {
  it('a ticket beyond the limit waits with its run between its turns, and goes on when a place is free', async () => {
    const shop = await makeShop(idle, { policy: { maxWorkers: 1 } });
    const first = await shop.accept(await shop.hear(said('@baton one', { issue: 1 })));
    const second = await shop.accept(await shop.hear(said('@baton two', { issue: 2 })));
    expect(shop.ticket(second)).toMatchObject({ phase: 'queued' });
    expect(shop.run(second)).toMatchObject({ status: 'WAITING_FOR_INPUT', parked: 'over', inputs: 1 });
    expect((await shop.slots()).queue).toMatchObject([{ ticketId: second, human: false }]);
    await shop.drain();
    expect(shop.ticket(first)).toMatchObject({ phase: 'idle', reports: 1 });
    expect(shop.ticket(second)).toMatchObject({ phase: 'idle', reports: 1 });
    expect(await shop.slots()).toMatchObject({ holders: [], queue: [] });
  });

  it('I10: with all places taken a person is answered from the extra one, which new work never gets', async () => {
    let talker = '';
    const shop = await makeShop(
      (request, { ticket, turn }) => {
        if (talker !== '' && ticket !== talker) return [['think', { thought: `Step ${turn}.` }]];
        return talk(request, { ticket, turn });
      },
      { policy: { maxWorkers: 1 } },
    );
    talker = await shop.open(said('@baton talk', { issue: 2 }));
    const worker = await shop.accept(await shop.hear(said('@baton work', { issue: 1 })));
    await shop.hear(said('Say hello', { issue: 2 }));
    expect(shop.ticket(talker)).toMatchObject({ phase: 'working', slot: 'human' });
    expect(shop.run(talker).turnUntil).toBe(shop.run(talker).seq + 4);
    const third = await shop.accept(await shop.hear(said('@baton more', { issue: 3 })));
    expect(shop.ticket(third).phase).toBe('queued');
    await shop.rounds(3);
    expect(shop.postings()).toMatchObject([{ kind: 'document', ticketId: talker, body: 'Hello.' }]);
    expect(shop.ticket(worker)).toMatchObject({ phase: 'working', slot: 'ordinary' });
    expect(shop.ticket(talker)).toMatchObject({ phase: 'idle', reports: 2 });
    expect((await shop.slots()).holders.filter(({ kind }) => kind === 'human')).toEqual([]);
    expect(shop.ticket(third).phase).toBe('queued');
  });

  it('a lent place ends with the reply, and the rest of the turn waits for an ordinary one', async () => {
    const shop = await makeShop(
      (request, { ticket, turn }) => {
        if (ticket === worker) return [['think', { thought: `Step ${turn}.` }]];
        if (turn === 1) return [['report', { state: 'waiting', on: 'event', text: 'Ready.' }]];
        return turn === 2
          ? [['reply', { content: 'Hello.' }]]
          : [['report', { state: 'waiting', on: 'event', text: newest(request) }]];
      },
      { policy: { maxWorkers: 1, worker: { maxIterations: 6 } } },
    );
    let worker = '';
    const talker = await shop.open(said('@baton talk', { issue: 2 }));
    worker = await shop.accept(await shop.hear(said('@baton work', { issue: 1 })));
    await shop.hear(said('Say hello', { issue: 2 }));
    expect(shop.ticket(talker).slot).toBe('human');
    // The worker of the ordinary place stops at the limit of its turn, and only then the talker may go on.
    await shop.drain();
    expect(shop.postings().filter(({ kind }) => kind === 'document')).toMatchObject([{ body: 'Hello.' }]);
    expect(shop.ticket(worker)).toMatchObject({ phase: 'blocked', reason: { code: 'max_iterations' } });
    expect(shop.ticket(talker)).toMatchObject({ phase: 'idle', reports: 2 });
    const seen = shop.told.map(({ detail }) => JSON.parse(detail)).filter(({ ticketId }) => ticketId === talker);
    expect(seen.map(({ to }) => to)).toEqual(['working', 'idle', 'working', 'queued', 'working', 'idle']);
    expect(await shop.slots()).toMatchObject({ holders: [], queue: [] });
  });

  it('a lent place ends after five steps where no reply ends it', async () => {
    let worker = '';
    const shop = await makeShop(
      (_, { ticket, turn }) => {
        if (ticket === worker || (turn > 1 && turn < 9)) return [['think', { thought: `Step ${turn}.` }]];
        return [['report', { state: 'waiting', on: 'event', text: 'Ready.' }]];
      },
      { policy: { maxWorkers: 1, worker: { maxIterations: 12 } } },
    );
    const talker = await shop.open(said('@baton talk', { issue: 2 }));
    worker = await shop.accept(await shop.hear(said('@baton work', { issue: 1 })));
    await shop.hear(said('Say hello', { issue: 2 }));
    const from = shop.run(talker).seq;
    await shop.rounds(8);
    expect(shop.ticket(talker)).toMatchObject({ phase: 'queued' });
    expect(shop.run(talker)).toMatchObject({ status: 'WAITING_FOR_INPUT', parked: 'yield', seq: from + 5 });
    expect((await shop.slots()).queue).toMatchObject([{ ticketId: talker, human: true }]);
  });

  it('what is told again does not undo what has come since', async () => {
    let worker = '';
    const shop = await makeShop(
      (_, { ticket, turn }) =>
        ticket === worker
          ? [['think', { thought: `Step ${turn}.` }]]
          : [['report', { state: 'waiting', on: 'event', text: 'Ready.' }]],
      { policy: { maxWorkers: 1 } },
    );
    const waits = await shop.open(said('@baton one', { issue: 1 }));
    worker = await shop.accept(await shop.hear(said('@baton two', { issue: 2 })));
    const lends = await shop.accept(await shop.hear(said('@baton three', { issue: 3 })));
    await shop.answer(lends, 'First things first');
    await shop.answer(waits, 'And now?');
    expect(shop.ticket(waits).phase).toBe('queued');
    await settleTicket(shop.deps, ORG, { ticketId: waits, executionId: shop.run(waits).executionId });
    expect(shop.ticket(waits).phase).toBe('queued');
    expect((await shop.slots()).queue.map(({ ticketId }) => ticketId)).toEqual([waits]);
  });

  it('more places in a new policy go to who waits', async () => {
    const shop = await makeShop(busy, { policy: { maxWorkers: 1 } });
    await shop.accept(await shop.hear(said('@baton one', { issue: 1 })));
    const second = await shop.accept(await shop.hear(said('@baton two', { issue: 2 })));
    await shop.savePolicy({ maxWorkers: 2 });
    await shop.tellPolicy(2);
    expect(shop.ticket(second)).toMatchObject({ phase: 'working', slot: 'ordinary' });
    const notice = shop.inputs(shop.run(second).executionId).at(-1);
    expect(notice).toMatchObject({ kind: 'policy', wake: false });
    expect(notice?.text).toContain('version 2');
    await shop.tellPolicy(2);
    expect(shop.inputs(shop.run(second).executionId).filter(({ kind }) => kind === 'policy')).toHaveLength(1);
  });
});

const talk: Worker = (request) =>
  /Say hello/.test(newest(request))
    ? [
        ['reply', { content: 'Hello.' }],
        ['report', { state: 'waiting', on: 'event', text: 'Said.' }],
      ]
    : [['report', { state: 'waiting', on: 'event', text: 'Ready.' }]];
