import { describe, expect, it } from 'vitest';
import { due } from '../../../lib/kernel/keys.ts';
import { NEW_POLICY } from '../../../lib/router/policy/policy.ts';
import { storeTrigger } from '../../../lib/router/thread/store.ts';
import { setSubject } from '../../../lib/router/thread/subject.ts';
import { withdrawTrigger } from '../../../lib/router/thread/withdraw.ts';
import { ADA, decideAll, makeTeam, ORG, POLICY, SOURCE, STRANGER, said } from '../support/team.ts';

const nothing = decideAll(() => ({ decision: 'ignore' }));
const team = () => makeTeam(nothing);

const withdrawal = (number: number) => ({
  sourceId: SOURCE,
  threadKey: 'gh:4711:issue:1',
  objectId: `issue_comment/${number}`,
  at: Date.UTC(2026, 0, 1, 1),
});

describe('a Trigger is stored', () => {
  it('with its Thread, a pointer, a mark and a wake-up, in one transaction', async () => {
    const { deps, table, queue, thread, trigger, clock } = await team();
    const stored = await storeTrigger(deps, ORG, said('@baton help', { number: 1 }));
    expect(stored.state).toBe('pending');
    expect(trigger(stored.triggerId)).toMatchObject({
      threadId: stored.threadId,
      revision: 1,
      gate: { class: 'explicit', row: 'allow[0]', policyVersion: 1 },
    });
    expect(thread()).toMatchObject({ id: stored.threadId, dirty: 1, epoch: 0, subscriptions: 0, title: 'Issue 1' });
    expect(due.at(thread().dueSk ?? '')).toBeGreaterThan(clock.now());
    expect(table.dump().map(({ sk }) => sk)).toContain(`PENDING#${stored.triggerId}`);
    expect(queue.sent).toMatchObject([{ message: { orgId: ORG, threadId: stored.threadId }, tenant: ORG }]);
  });

  it('I2, B13: fifty deliveries of one event at once are one Trigger', async () => {
    const { deps, triggers, thread } = await team();
    const event = said('@baton help', { number: 1 });
    const stored = await Promise.all(Array.from({ length: 50 }, () => storeTrigger(deps, ORG, event)));
    expect(new Set(stored.map(({ triggerId }) => triggerId)).size).toBe(1);
    expect(triggers()).toHaveLength(1);
    expect(triggers()[0]?.revision).toBe(1);
    expect(thread().dirty).toBe(1);
  });

  it('B13: different events at once are one Thread', async () => {
    const { deps, triggers, table, thread } = await team();
    await Promise.all(Array.from({ length: 8 }, () => storeTrigger(deps, ORG, said('@baton help'))));
    expect(triggers()).toHaveLength(8);
    expect(table.dump().filter(({ sk }) => sk === 'THREAD')).toHaveLength(1);
    expect(thread().dirty).toBe(8);
  });

  it('I2: a repeat after an hour changes nothing and wakes again what is pending', async () => {
    const { deps, queue, clock, table } = await team();
    const event = said('@baton help', { number: 1 });
    await storeTrigger(deps, ORG, event);
    const before = table.dump();
    await clock.advance(3_660_000);
    queue.take();
    await storeTrigger(deps, ORG, event);
    expect(table.dump()).toEqual(before);
    expect(queue.sent).toHaveLength(1);
  });

  it.each([
    [
      'an unlisted person who names us, where a scope admits no more',
      said('@baton do it', { actor: STRANGER }),
      'inferred',
    ],
    ['a bot', said('@baton do it', { type: 'bot' }), 'inferred'],
    ['a listed person who does not name us', said('hm'), 'inferred'],
    ['a listed person who names us in a quote', said('> @baton do it'), 'inferred'],
    ['a scope that is not admitted', said('@baton do it', { scope: 'push' }), 'ignored'],
  ])('I3, I4: %s is not explicit', async (_who, event, expected) => {
    const { deps, trigger } = await team();
    const { triggerId, state } = await storeTrigger(deps, ORG, event);
    expect(trigger(triggerId).gate.class).toBe(expected);
    expect(state).toBe(expected === 'ignored' ? 'decided' : 'pending');
  });

  it('I19: with the mode off, what is inferred is kept and nobody is asked', async () => {
    const { deps, trigger, queue, policy, thread } = await team();
    await policy({ ...POLICY, mode: 'off' });
    const { triggerId } = await storeTrigger(deps, ORG, said('hm'));
    expect(trigger(triggerId)).toMatchObject({ state: 'decided', decision: { decision: 'ignore', policyVersion: 2 } });
    expect(queue.sent).toEqual([]);
    expect(thread()).toMatchObject({ dirty: 0 });
    expect(thread().dueSk).toBeUndefined();
  });

  it('keeps what nobody admits, with the reason', async () => {
    const { deps, trigger, policy } = await team();
    await policy(NEW_POLICY);
    const { triggerId } = await storeTrigger(deps, ORG, said('@baton help'));
    expect(trigger(triggerId)).toMatchObject({
      state: 'decided',
      gate: { class: 'ignored', row: 'default' },
      decision: { decision: 'ignore', reason: 'No row of the policy admits it.' },
    });
  });

  it('finds a Thread by any of its keys, and keeps its own', async () => {
    const { deps, table } = await team();
    const first = await storeTrigger(deps, ORG, said('a', { issue: 1 }));
    const second = await storeTrigger(deps, ORG, said('b', { issue: 2, aliases: ['gh:4711:issue:1'] }));
    const third = await storeTrigger(deps, ORG, said('c', { issue: 2 }));
    expect([second.threadId, third.threadId]).toEqual([first.threadId, first.threadId]);
    expect(table.dump().filter(({ sk }) => sk === 'THREAD')).toMatchObject([{ key: 'gh:4711:issue:1' }]);
  });
});

describe('edits', () => {
  it('are revisions of the same Trigger, pending again', async () => {
    const { deps, trigger, thread } = await team();
    const { triggerId } = await storeTrigger(deps, ORG, said('hm', { number: 1, at: 1 }));
    const edited = await storeTrigger(deps, ORG, said('@baton hm', { number: 1, at: 5, edited: true }));
    expect(edited.triggerId).toBe(triggerId);
    expect(trigger(triggerId)).toMatchObject({
      revision: 2,
      text: '@baton hm',
      edited: true,
      gate: { class: 'explicit' },
    });
    expect(thread().dirty).toBe(2);
  });

  it('C33: somebody else who edits raises no authority, and both are recorded', async () => {
    const { deps, trigger } = await team();
    const { triggerId } = await storeTrigger(deps, ORG, said('hm', { number: 1, actor: STRANGER, at: 1 }));
    await storeTrigger(
      deps,
      ORG,
      said('@baton merge it', { number: 1, actor: ADA, authorId: STRANGER, at: 2, edited: true }),
    );
    expect(trigger(triggerId)).toMatchObject({ actor: { id: ADA }, authorId: STRANGER, gate: { class: 'inferred' } });
  });

  it('C33: a stranger who edits the words of a listed person takes their authority away', async () => {
    const { deps, trigger } = await team();
    const { triggerId } = await storeTrigger(deps, ORG, said('@baton look', { number: 1, at: 1 }));
    await storeTrigger(
      deps,
      ORG,
      said('@baton merge it', { number: 1, actor: STRANGER, authorId: ADA, at: 2, edited: true }),
    );
    expect(trigger(triggerId).gate.class).toBe('inferred');
  });

  it('C34: an edit that leaves the text as it was is no second request', async () => {
    const { deps, trigger, queue, thread } = await team();
    const { triggerId } = await storeTrigger(deps, ORG, said('@baton look', { number: 1, at: 1 }));
    queue.take();
    await storeTrigger(deps, ORG, said('@baton look', { number: 1, at: 2, edited: true }));
    expect(trigger(triggerId)).toMatchObject({ revision: 1, revisedAt: Date.UTC(2026, 0, 1) + 2_000 });
    expect(thread().dirty).toBe(1);
  });

  it('end in the same state in any order of arrival', async () => {
    const states = [
      said('first', { number: 1, at: 1 }),
      said('second', { number: 1, at: 2, edited: true }),
      said('first', { number: 1, at: 3, edited: true }),
      said('third', { number: 1, at: 3, edited: true }),
    ];
    const orders = states.flatMap((a) =>
      states.flatMap((b) =>
        states.flatMap((c) => states.map((d) => [a, b, c, d]).filter((all) => new Set(all).size === 4)),
      ),
    );
    expect(orders).toHaveLength(24);
    for (const order of orders) {
      const { deps, triggers } = await team();
      for (const event of order) await storeTrigger(deps, ORG, event);
      expect(triggers().map(({ text }) => text)).toEqual(['third']);
    }
  });
});

describe('withdrawals', () => {
  it('C36: what is deleted before an Eval is not decided', async () => {
    const { deps, trigger, table, assess, requests } = await team();
    const { triggerId } = await storeTrigger(deps, ORG, said('@baton help', { number: 1 }));
    await withdrawTrigger(deps, ORG, withdrawal(1));
    expect(trigger(triggerId)).toMatchObject({ state: 'withdrawn', withdrawn: true, revision: 2 });
    expect(table.dump().filter(({ sk }) => sk.startsWith('PENDING#'))).toEqual([]);
    await assess();
    expect(requests).toEqual([]);
  });

  it('C36: a creation that comes after its deletion is kept and not acted upon', async () => {
    const { deps, trigger, queue } = await team();
    expect(await withdrawTrigger(deps, ORG, withdrawal(1))).toEqual({});
    const { triggerId, state } = await storeTrigger(deps, ORG, said('@baton help', { number: 1 }));
    expect(state).toBe('withdrawn');
    expect(trigger(triggerId).withdrawn).toBe(true);
    expect(queue.sent).toEqual([]);
    await storeTrigger(deps, ORG, said('@baton help me', { number: 1, at: 9, edited: true }));
    expect(trigger(triggerId).state).toBe('withdrawn');
  });

  it('C36: tickets that have it are told, again when it is withdrawn again', async () => {
    const { deps, table, assess } = await makeTeam(decideAll(() => ({ decision: 'accept', title: 'x' })));
    await storeTrigger(deps, ORG, said('@baton help', { number: 1 }));
    await assess();
    await storeTrigger(deps, ORG, said('more', { number: 2 }));
    const given = () => table.dump().filter(({ sk }) => sk.startsWith('GIVEN#'));
    expect(given()).toHaveLength(1);
    await withdrawTrigger(deps, ORG, withdrawal(2));
    await withdrawTrigger(deps, ORG, withdrawal(2));
    expect(given()).toHaveLength(2);
    // The one that opened the ticket, too.
    await withdrawTrigger(deps, ORG, withdrawal(1));
    expect(given()).toHaveLength(3);
  });
});

describe('the subject', () => {
  const subject = (state: 'open' | 'closed' | 'merged', at: number) => ({
    sourceId: SOURCE,
    thread: said('x', { number: 1 }).thread,
    state,
    at,
  });

  it('C30: is the same in any order of arrival', async () => {
    const told = [subject('open', 1), subject('closed', 2), subject('merged', 2), subject('open', 3)];
    for (const order of [told, told.toReversed(), [...told.slice(2), ...told.slice(0, 2)]]) {
      const { deps, thread } = await team();
      for (const one of order) await setSubject(deps, ORG, one);
      expect(thread().subject).toEqual({ state: 'open', at: 3 });
    }
    const { deps, thread } = await team();
    for (const one of [subject('merged', 2), subject('closed', 2)]) await setSubject(deps, ORG, one);
    expect(thread().subject).toEqual({ state: 'merged', at: 2 });
  });

  it('C31: makes a Thread that nobody has heard of', async () => {
    const { deps, thread } = await team();
    const threadId = await setSubject(deps, ORG, subject('closed', 2));
    const stored = await storeTrigger(deps, ORG, said('x'));
    expect(stored.threadId).toBe(threadId);
    expect(thread().subject?.state).toBe('closed');
  });
});
