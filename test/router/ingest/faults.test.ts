/**
 * Ingest and resolver die at each of their requests in turn, before it or after it was carried out. The provider delivers
 * again what it was not answered for, the queue what was not finished, and the sweep what lost its message: in the end
 * there is exactly one Trigger of each event, and every delivery has its verdict.
 */
import { describe, expect, it } from 'vitest';
import type { Item, Write } from '../../../lib/kernel/table.ts';
import { ingest } from '../../../lib/router/ingest/ingest.ts';
import { resolveDelivery } from '../../../lib/router/ingest/resolve.ts';
import { sweepDelivery } from '../../../lib/router/ingest/tend.ts';
import { githubDelivery, type Inbox, makeInbox } from '../support/inbox.ts';
import { commentCreated, commentEdited } from '../support/payloads.ts';

class Died extends Error {}

type When = 'before' | 'after';

/** Counts requests and lets the chosen ones die. */
const makeFaults = (at: readonly (readonly [number, When])[]) => {
  let count = 0;
  const wrap = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(target, name, receiver) {
        const value: unknown = Reflect.get(target, name, receiver);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]): Promise<unknown> => {
          const mine = count++;
          const fault = at.find(([number]) => number === mine)?.[1];
          if (fault === 'before') throw new Died(String(name));
          const answer: unknown = await Reflect.apply(value, target, args);
          if (fault === 'after') throw new Died(String(name));
          return answer;
        };
      },
    });
  return { wrap, count: () => count };
};

interface World {
  readonly h: Inbox;
  readonly requests: number;
}

/** @param mutate changes every transaction, to see whether the checks notice */
const play = async (
  faults: readonly (readonly [number, When])[],
  mutate: (writes: readonly Write[]) => readonly Write[] = (writes) => writes,
): Promise<World> => {
  const h = await makeInbox();
  const { wrap, count } = makeFaults(faults);
  const plain = { ...h.table, transact: (writes: readonly Write[]) => h.table.transact(mutate(writes)) };
  const table = wrap(plain);
  const deps = { ...h.deps, table, blobs: wrap(h.blobs), inbox: wrap(h.inbox) };
  const resolveDeps = { ...h.resolveDeps, table, blobs: deps.blobs };
  const events = [
    githubDelivery('issue_comment', commentCreated({ body: 'one' })),
    githubDelivery('issue_comment', commentEdited({ body: 'two' }, 'one')),
  ];
  const survive = async (work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      return false;
    }
  };
  for (const raw of events) {
    let answered = false;
    while (!answered) answered = await survive(() => ingest(deps, h.sourceId, raw));
    // A provider that was late to hear the answer delivers once more.
    await survive(() => ingest(deps, h.sourceId, raw));
  }
  for (let round = 0; round < 12; round++) {
    for (const { message } of h.inbox.take()) {
      // What failed comes back to the queue; a second copy is usual.
      if (!(await survive(() => resolveDelivery(resolveDeps, message)))) {
        await h.inbox.send(message, { delaySeconds: 0, tenant: message.orgId });
      }
    }
    await h.clock.advance(3_600_000);
    const marked: Item[] = h.table.dump().filter((item) => item.sk.startsWith('DELIVERY#') && item.dueSk !== undefined);
    for (const found of marked) await survive(() => sweepDelivery({ table, clock: h.clock, inbox: deps.inbox }, found));
  }
  return { h, requests: count() };
};

const check = ({ h }: World, name: string): void => {
  const verdicts = h.deliveries().map(({ verdict }) => verdict);
  expect(verdicts, name).not.toContain('received');
  expect(verdicts, name).not.toContain('failed');
  expect(verdicts.filter((verdict) => verdict === 'resolved').length, name).toBe(2);
  expect(h.triggers(), name).toMatchObject([{ text: 'two', state: 'pending' }]);
  expect(h.threads(), name).toHaveLength(1);
  expect(
    h.table.dump().filter(({ sk, dueSk }) => sk.startsWith('DELIVERY#') && dueSk !== undefined),
    name,
  ).toEqual([]);
};

describe('I13: ingest and resolver under faults', () => {
  it('without faults nothing is odd', async () => {
    check(await play([]), 'none');
  });

  it('survive a death at each request', async () => {
    const { requests } = await play([]);
    expect(requests).toBeGreaterThan(15);
    for (let at = 0; at < requests; at++) {
      for (const when of ['before', 'after'] as const) check(await play([[at, when]]), `${when} ${at}`);
    }
  });

  it('survive pairs of deaths', async () => {
    const { requests } = await play([]);
    for (let first = 0; first < requests; first++) {
      for (let second = first + 1; second < Math.min(requests, first + 6); second++) {
        const faults = [
          [first, first % 2 === 0 ? 'before' : 'after'],
          [second, second % 3 === 0 ? 'before' : 'after'],
        ] as const;
        check(await play(faults), JSON.stringify(faults));
      }
    }
  });

  it('the checks notice when repeats are not known any more, and when no mark is left', async () => {
    const forgetful = (writes: readonly Write[]): readonly Write[] =>
      writes.filter((write) => !('put' in write && write.put.sk.startsWith('SEEN#')));
    const twice = await play([], forgetful);
    expect(() => check(twice, 'no SEEN row')).toThrow();
    const unmarked = (writes: readonly Write[]): readonly Write[] =>
      writes.map((write) => {
        if (!('put' in write) || !write.put.sk.startsWith('DELIVERY#')) return write;
        const { dueSk: _, duePk: __, ...put } = write.put;
        return { ...write, put: put as Item };
      });
    const { requests } = await play([], unmarked);
    const outcomes = await Promise.all(
      Array.from({ length: requests }, async (_, at) => {
        const world = await play([[at, 'before']], unmarked);
        return world.h.deliveries().some(({ verdict }) => verdict === 'received');
      }),
    );
    expect(outcomes).toContain(true);
  });
});
