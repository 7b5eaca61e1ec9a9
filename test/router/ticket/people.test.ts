import { describe, expect, it } from 'vitest';
import { pauseExecution, terminateExecution } from '../../../lib/execution/control.ts';
import { MAX_ATTEMPTS } from '../../../lib/execution/step/fuses.ts';
import { keys } from '../../../lib/kernel/keys.ts';
import { eq, TransactionRefused } from '../../../lib/kernel/table.ts';
import { openTicket } from '../../../lib/router/ticket/open.ts';
import { ORG, said } from '../support/team.ts';
import { makeShop, newest, type Worker } from './shop.ts';

const later: Worker = () => [['report', { state: 'waiting', on: 'event', text: 'For CI.' }]];
const thinking: Worker = (_, { turn }) => [['think', { thought: `Step ${turn}.` }]];

describe('a fuse', () => {
  it('makes the ticket blocked, gives its place back and asks for a person once', async () => {
    const shop = await makeShop(thinking, { policy: { maxWorkers: 1, worker: { maxIterations: 3 } } });
    const first = await shop.accept(await shop.hear(said('@baton one', { issue: 1 })));
    const second = await shop.accept(await shop.hear(said('@baton two', { issue: 2 })));
    await shop.drain();
    for (const id of [first, second]) {
      expect(shop.ticket(id)).toMatchObject({ phase: 'blocked', reason: { code: 'max_iterations' } });
    }
    const items = shop.attention();
    expect(items.map(({ kind, subjectId }) => [kind, subjectId])).toEqual([
      ['ticket_blocked', first],
      ['ticket_blocked', second],
    ]);
    expect(items[0]?.actions).toMatchObject([
      { method: 'POST', path: `/v1/tickets/${first}/retry` },
      { method: 'POST', path: `/v1/tickets/${first}/stop` },
    ]);
    expect(await shop.slots()).toMatchObject({ holders: [], queue: [] });
  });

  it('is extended by a retry, for one more turn', async () => {
    const shop = await makeShop((request, seen) => (seen.turn > 3 ? later(request, seen) : thinking(request, seen)), {
      policy: { worker: { maxIterations: 3 } },
    });
    const id = await shop.open(said('@baton one'));
    expect(shop.ticket(id).phase).toBe('blocked');
    await shop.retry(id);
    expect(shop.ticket(id)).toMatchObject({ phase: 'working', retries: 1 });
    expect(shop.attention()).toEqual([]);
    await shop.drain();
    expect(shop.ticket(id)).toMatchObject({ phase: 'idle', retries: 1 });
  });

  it('counts for each turn anew', async () => {
    const shop = await makeShop(
      (request, seen) => (seen.turn % 3 === 0 ? later(request, seen) : thinking(request, seen)),
      {
        policy: { worker: { maxIterations: 3 } },
      },
    );
    const id = await shop.open(said('@baton one'));
    for (let turn = 0; turn < 3; turn++) await shop.say(said('More'));
    expect(shop.ticket(id)).toMatchObject({ phase: 'idle', reports: 4 });
    expect(shop.run(id).calls).toBe(12);
  });

  it("is extended by a person's own message", async () => {
    const shop = await makeShop(
      (request, seen) => (/Go on/.test(newest(request)) ? later(request, seen) : thinking(request, seen)),
      {
        policy: { worker: { maxIterations: 2 } },
      },
    );
    const id = await shop.open(said('@baton one'));
    expect(shop.ticket(id).phase).toBe('blocked');
    await shop.say(said('Go on'));
    expect(shop.ticket(id)).toMatchObject({ phase: 'idle', retries: 1 });
  });

  it('of money is extended by a retry and by nothing else', async () => {
    const shop = await makeShop(thinking, { policy: { worker: { maxCostUsd: 0.0523 } } });
    const id = await shop.open(said('@baton one'));
    expect(shop.ticket(id)).toMatchObject({ phase: 'blocked', reason: { code: 'max_cost' } });
    await shop.say(said('Go on'));
    expect(shop.ticket(id).phase).toBe('blocked');
    await shop.retry(id);
    expect(shop.ticket(id).phase).toBe('working');
    expect(shop.run(id).maxCost).toBeGreaterThanOrEqual(104_600);
  });
});

describe('crashes', () => {
  it('H67: a worker that crashes again and again is blocked, and its place goes to the next', async () => {
    let broken = '';
    const shop = await makeShop(
      (request, seen) => {
        if (seen.ticket === broken) throw new Error('It crashes.');
        return later(request, seen);
      },
      { policy: { maxWorkers: 1 }, crashes: true },
    );
    broken = await shop.accept(await shop.hear(said('@baton one', { issue: 1 })));
    const next = await shop.accept(await shop.hear(said('@baton two', { issue: 2 })));
    await shop.drain();
    expect(shop.ticket(broken)).toMatchObject({ phase: 'blocked', reason: { code: 'step_failed' } });
    expect(shop.ticket(next)).toMatchObject({ phase: 'idle' });
  });

  it('H65: tries of a step wear neither the turn nor the ticket out', async () => {
    let failures = 0;
    const shop = await makeShop(
      (request, seen) => {
        if (failures++ < MAX_ATTEMPTS - 1) throw new Error('It crashes.');
        return later(request, seen);
      },
      { policy: { worker: { maxIterations: 1 } }, crashes: true },
    );
    const id = await shop.open(said('@baton one'));
    expect(shop.ticket(id)).toMatchObject({ phase: 'idle', retries: 0, reports: 1 });
    expect(shop.run(id)).toMatchObject({ calls: 1, attempts: 0 });
  });
});

describe('people', () => {
  it('B13: fifty decisions about one request at once open one ticket', async () => {
    const shop = await makeShop(later);
    const stored = await shop.hear(said('@baton one'));
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => shop.accept(stored)));
    const ids = new Set(results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])));
    expect(ids.size).toBe(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(TransactionRefused);
    }
    expect(shop.tickets()).toHaveLength(1);
    expect(shop.executions()).toHaveLength(1);
    await shop.drain();
    expect(shop.requests).toHaveLength(1);
  });

  it('a ticket without its decision is not opened, nor a decision without its ticket', async () => {
    const shop = await makeShop(later);
    const stored = await shop.hear(said('@baton one'));
    const guard = { check: keys.policy(ORG), if: eq('version', 99) };
    await expect(shop.acceptWith(stored, [guard])).rejects.toMatchObject({ refused: [true, false, false, false] });
    expect(shop.tickets()).toEqual([]);
    expect(shop.executions()).toEqual([]);
    expect(await shop.slots()).toMatchObject({ holders: [], queue: [] });
  });

  it('an answer goes on where a question was asked, once for its key', async () => {
    const shop = await makeShop((request, seen) =>
      /blue/.test(newest(request))
        ? later(request, seen)
        : [['report', { state: 'waiting', on: 'person', text: 'Which?' }]],
    );
    const { id } = await shop.openOverHttp('Paint', 'Paint it.');
    await shop.drain();
    expect(shop.ticket(id)).toMatchObject({ phase: 'person/answer', openedBy: 'key key_1' });
    await shop.answer(id, 'blue');
    await shop.drain();
    expect(shop.ticket(id)).toMatchObject({ phase: 'idle', reports: 2 });
  });

  it('a paused worker blocks its ticket without asking for anybody, and a retry lets it go on', async () => {
    const shop = await makeShop((request, seen) => (seen.turn > 2 ? later(request, seen) : thinking(request, seen)));
    const id = await shop.accept(await shop.hear(said('@baton one')));
    await pauseExecution(shop.deps, shop.run(id));
    await shop.drain();
    expect(shop.ticket(id)).toMatchObject({ phase: 'blocked', reason: { code: 'paused' } });
    expect(shop.attention()).toEqual([]);
    expect((await shop.slots()).holders).toEqual([]);
    await shop.retry(id);
    await shop.drain();
    expect(shop.ticket(id).phase).toBe('idle');
  });

  it("who ends a worker's run ends its ticket", async () => {
    const shop = await makeShop(thinking);
    const id = await shop.accept(await shop.hear(said('@baton one')));
    await terminateExecution(shop.deps, shop.run(id));
    await shop.drain();
    expect(shop.ticket(id)).toMatchObject({
      phase: 'closed',
      mandate: { state: 'revoked' },
      reason: { code: 'terminated' },
    });
  });

  it('a ticket is not opened in a discussion that is not there', async () => {
    const shop = await makeShop(later);
    const given = { orgId: ORG, actor: 'key_1', title: 'x', text: 'x', policyVersion: 1, alongside: () => [] };
    const mandate = { verb: 'comment' as const };
    await expect(
      openTicket(shop.deps, { ...given, mandate, threadId: 'thr_00000000000000000000000000' }),
    ).rejects.toMatchObject({ status: 404 });
  });
});
