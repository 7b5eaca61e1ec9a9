import { describe, expect, it } from 'vitest';
import { UnreadableRow } from '../../lib/kernel/errors.ts';
import { makeIds } from '../../lib/kernel/ids.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { set, type Table, TransactionRefused } from '../../lib/kernel/table.ts';
import { idsOf, numberOf, numbersOf, numberWrites, reserveNumbers } from '../../lib/superagi/integer-ids.ts';
import { makeMemoryTable } from '../support/memory-table.ts';

const ORG = 'org_a';
const ids = makeIds();
const some = (count: number, kind: 'agt' | 'exe' = 'exe') => Array.from({ length: count }, () => ids.next(kind, 1));

/** A table that fails before or after one of its writes. */
const failing = (table: Table, call: 'update' | 'transact', when: 'before' | 'after', at = 1): Table => {
  let calls = 0;
  const around = async <T>(act: () => Promise<T>): Promise<T> => {
    if (++calls !== at) return act();
    if (when === 'after') await act();
    throw new Error('the line went dead');
  };
  return {
    ...table,
    update: (...args) => (call === 'update' ? around(() => table.update(...args)) : table.update(...args)),
    transact: (...args) => (call === 'transact' ? around(() => table.transact(...args)) : table.transact(...args)),
  };
};

describe('numbers of ids', () => {
  it('begin at 1, rise in the order asked for, and stay', async () => {
    const table = makeMemoryTable();
    const [a, b, c] = some(3) as [string, string, string];
    expect(await numbersOf(table, ORG, 'exe', [a, b])).toEqual([1, 2]);
    expect(await numbersOf(table, ORG, 'exe', [c, b, a, c])).toEqual([3, 2, 1, 3]);
    expect(await idsOf(table, ORG, 'exe', [3, 1, 3, 4])).toEqual([c, a, c, undefined]);
  });

  it('are counted for each kind and each organisation apart', async () => {
    const table = makeMemoryTable();
    const [run] = some(1) as [string];
    const [agent] = some(1, 'agt') as [string];
    expect([await numberOf(table, ORG, 'exe', run), await numberOf(table, ORG, 'agt', agent)]).toEqual([1, 1]);
    expect(await idsOf(table, ORG, 'agt', [1])).toEqual([agent]);
    expect(await idsOf(table, 'org_b', 'exe', [1])).toEqual([undefined]);
    const [other] = some(1) as [string];
    expect(await numberOf(table, 'org_b', 'exe', other)).toBe(1);
  });

  it('of many at once are given in transactions that fit', async () => {
    const table = makeMemoryTable();
    const all = some(230);
    expect(await numbersOf(table, ORG, 'exe', all)).toEqual(all.map((_, at) => at + 1));
    const numbers = all.map((_, at) => at + 1);
    expect(await idsOf(table, ORG, 'exe', numbers)).toEqual(all);
  });

  it('are the same for all who ask at once, and never two for one id', async () => {
    const table = makeMemoryTable();
    const all = some(60);
    const orders = Array.from({ length: 8 }, (_, at) => (at % 2 === 0 ? all : all.toReversed()).slice(at));
    const answers = await Promise.all(orders.map((order) => numbersOf(table, ORG, 'exe', order)));
    const byId = new Map<string, Set<number>>();
    for (const [at, order] of orders.entries())
      for (const [n, id] of order.entries()) {
        byId.set(id, (byId.get(id) ?? new Set()).add(answers[at]?.[n] ?? 0));
      }
    expect([...byId.values()].every((numbers) => numbers.size === 1)).toBe(true);
    const given = [...byId.values()].map((numbers) => [...numbers][0]);
    expect(new Set(given).size).toBe(60);
    expect(given).not.toContain(0);
    const rows = table.dump().filter(({ sk }) => sk.startsWith('exe#'));
    expect(rows).toHaveLength(60);
  });

  it.each([
    ['update', 'before', 1],
    ['update', 'after', 2],
    ['transact', 'before', 2],
    ['transact', 'after', 1],
  ] as const)('are stable when a write is lost (%s, %s)', async (call, when, expected) => {
    const table = makeMemoryTable();
    const [id] = some(1) as [string];
    const broken = failing(table, call, when);
    await expect(numberOf(broken, ORG, 'exe', id)).rejects.toThrow('the line went dead');
    const number = await numberOf(broken, ORG, 'exe', id);
    expect(number).toBe(expected);
    expect(await numberOf(table, ORG, 'exe', id)).toBe(number);
    expect(await idsOf(table, ORG, 'exe', [number])).toEqual([id]);
    expect(table.dump().filter(({ sk }) => sk.startsWith('exe#'))).toHaveLength(1);
  });

  it('are not taken away by whoever reserved another one before', async () => {
    const table = makeMemoryTable();
    const [id] = some(1) as [string];
    const reserved = await reserveNumbers(table, ORG, 'exe', 1);
    expect(await numberOf(table, ORG, 'exe', id)).toBe(reserved + 1);
    await expect(table.transact(numberWrites(ORG, id, reserved))).rejects.toThrow(TransactionRefused);
    expect(await numberOf(table, ORG, 'exe', id)).toBe(reserved + 1);
    expect(await idsOf(table, ORG, 'exe', [reserved])).toEqual([undefined]);
  });

  it('never point at two things, even where the counter was set back', async () => {
    const table = makeMemoryTable();
    const [a, b] = some(2) as [string, string];
    await numberOf(table, ORG, 'exe', a);
    await table.delete(keys.lastNumber(ORG, 'exe'));
    expect(await numberOf(table, ORG, 'exe', b)).toBe(2);
    expect(await idsOf(table, ORG, 'exe', [1, 2])).toEqual([a, b]);
  });

  it('leave rows of a newer writer alone', async () => {
    const table = makeMemoryTable();
    const [a, b] = some(2) as [string, string];
    await numberOf(table, ORG, 'exe', a);
    await table.update(keys.lastNumber(ORG, 'exe'), [set('v', 2)]);
    await expect(numberOf(table, ORG, 'exe', b)).rejects.toThrow(UnreadableRow);
    expect(await numberOf(table, ORG, 'exe', a)).toBe(1);
    await table.update(keys.numberOf(ORG, a), [set('v', 2)]);
    await expect(numberOf(table, ORG, 'exe', a)).rejects.toThrow(UnreadableRow);
    await table.update(keys.numbered(ORG, 'exe', 1), [set('v', 2)]);
    await expect(idsOf(table, ORG, 'exe', [1])).rejects.toThrow(UnreadableRow);
  });
});
