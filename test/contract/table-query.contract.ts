import { beforeAll, describe, expect, it } from 'vitest';
import { type Item, type Query, remove, set, type Table, type Value } from '../../lib/kernel/table.ts';
import { refusal } from '../support/refusal.ts';
import { freshPk } from './table.contract.ts';

const SKS = ['A', 'B#1', 'B#10', 'B#2', 'B#ü', 'B#\uffff', 'B#🎈', 'C'] as const;

/** Follows a query over all its pages. */
const all = async (table: Table, query: Query): Promise<Item[]> => {
  const items: Item[] = [];
  let after: Value | undefined;
  for (let pages = 0; pages < 100; pages++) {
    const page = await table.query(after === undefined ? query : { ...query, after });
    items.push(...page.items);
    if (page.next === undefined) return items;
    after = page.next;
  }
  throw new Error('A query of a few rows did not end after 100 pages.');
};

const sks = (items: readonly Item[]): string[] => items.map(({ sk }) => sk);

/** Order, ranges, paging, and the two sparse indexes. */
export const queryContract = (subject: () => Table): void => {
  describe('queries', () => {
    const pk = freshPk();

    beforeAll(async () => {
      for (const [n, sk] of SKS.entries()) await subject().put({ pk, sk, n });
      await subject().put({ pk: `${pk}#other`, sk: 'B#1' });
    });

    it.each<[string, Omit<Query, 'pk'>, readonly string[]]>([
      ['everything, by UTF-8 bytes', {}, SKS],
      ['newest first', { newestFirst: true }, [...SKS].reverse()],
      ['a prefix', { prefix: 'B#' }, ['B#1', 'B#10', 'B#2', 'B#ü', 'B#\uffff', 'B#🎈']],
      ['a prefix, newest first', { prefix: 'B#1', newestFirst: true }, ['B#10', 'B#1']],
      ['a prefix of nothing', { prefix: 'D' }, []],
      ['a range, both ends included', { from: 'B#1', to: 'B#2' }, ['B#1', 'B#10', 'B#2']],
      ['a range of one', { from: 'C', to: 'C' }, ['C']],
      ['a range between rows', { from: 'A#', to: 'B#11' }, ['B#1', 'B#10']],
      ['a range that ends in U+FFFF', { from: 'B#2', to: 'B#\uffff' }, ['B#2', 'B#ü', 'B#\uffff']],
      ['from only', { from: 'B#🎈' }, ['B#🎈', 'C']],
      ['to only, newest first', { to: 'B#1', newestFirst: true }, ['B#1', 'A']],
      ['a range upside down holds nothing', { from: 'C', to: 'A' }, []],
      ['consistently', { prefix: 'A', consistent: true }, ['A']],
    ])('reads %s, in one page and in small ones', async (_, query, expected) => {
      const page = await subject().query({ pk, ...query });
      expect(sks(page.items)).toEqual(expected);
      expect(page.next).toBeUndefined();
      for (const limit of [1, 2, 3]) expect(sks(await all(subject(), { pk, ...query, limit }))).toEqual(expected);
    });

    it('answers whole items', async () => {
      expect((await subject().query({ pk, prefix: 'A' })).items).toEqual([{ pk, sk: 'A', n: 0 }]);
    });

    it('keeps a limit and says that more may follow', async () => {
      const page = await subject().query({ pk, limit: 3 });
      expect(page.items).toHaveLength(3);
      expect(page.next).toBeDefined();
    });

    it('goes on after a row that is gone', async () => {
      const own = freshPk();
      for (const sk of ['A', 'B', 'C']) await subject().put({ pk: own, sk });
      const { next } = await subject().query({ pk: own, limit: 2 });
      await subject().delete({ pk: own, sk: 'B' });
      expect(sks((await subject().query({ pk: own, after: next as Value })).items)).toEqual(['C']);
    });

    it('ends a page at 1 MB, and the pages hold every row once', async () => {
      const own = freshPk();
      const big = 'x'.repeat(300 * 1024);
      for (const sk of ['A', 'B', 'C', 'D', 'E']) await subject().put({ pk: own, sk, big });
      const first = await subject().query({ pk: own });
      expect(first.items.length).toBeLessThan(5);
      expect(first.next).toBeDefined();
      expect(sks(await all(subject(), { pk: own }))).toEqual(['A', 'B', 'C', 'D', 'E']);
    });

    it.each<[string, Partial<Query>]>([
      ['an empty pk', { pk: '' }],
      ['an empty prefix', { prefix: '' }],
      ['an empty end', { to: '' }],
      ['a prefix and a range', { prefix: 'A', from: 'A' }],
      ['a limit of 0', { limit: 0 }],
      ['half a row as limit', { limit: 0.5 }],
      ['a consistent read of an index', { index: 'due', consistent: true }],
      ['a cursor that is none', { after: 'somewhere' }],
      ['a cursor of another partition', { after: { pk: 'ORG#another', sk: 'A' } }],
    ])('refuses %s', async (_, query) => {
      expect(await refusal(subject().query({ pk, ...query }))).toBeInstanceOf(Error);
    });
  });

  describe('indexes', () => {
    it('hold the rows that have both keys, keys only, in the order of the index', async () => {
      const pk = freshPk();
      const ownerPk = `${pk}#AGENTS`;
      await subject().put({ pk, sk: 'one', ownerPk, ownerSk: '2', name: 'not in the index' });
      await subject().put({ pk, sk: 'two', ownerPk, ownerSk: '1' });
      await subject().put({ pk, sk: 'three', ownerPk });
      await subject().put({ pk, sk: 'four', ownerSk: '3' });
      const query: Query = { pk: ownerPk, index: 'byOwner', newestFirst: true };
      const expected = [
        { pk, sk: 'one', ownerPk, ownerSk: '2' },
        { pk, sk: 'two', ownerPk, ownerSk: '1' },
      ];
      expect((await subject().query(query)).items).toEqual(expected);
      expect(await all(subject(), { ...query, limit: 1 })).toEqual(expected);
    });

    it('follow updates, removals and deletes', async () => {
      const pk = freshPk();
      const key = { pk, sk: 'A' };
      const duePk = `DUE#${pk}`;
      const other = `DUE#${pk}#other`;
      const found = async (at: string): Promise<string[]> =>
        (await subject().query({ pk: at, index: 'due', to: '2026' })).items.map((item) => String(item.dueSk));
      await subject().put({ ...key, duePk, dueSk: '2025-01' });
      expect(await found(duePk)).toEqual(['2025-01']);
      await subject().update(key, [set('dueSk', '2025-02')]);
      expect(await found(duePk)).toEqual(['2025-02']);
      await subject().update(key, [set('duePk', other)]);
      expect([await found(duePk), await found(other)]).toEqual([[], ['2025-02']]);
      await subject().update(key, [remove('duePk'), remove('dueSk')]);
      expect(await found(other)).toEqual([]);
      await subject().put({ ...key, duePk, dueSk: '2025-03' });
      await subject().delete(key);
      expect(await found(duePk)).toEqual([]);
    });

    it('keep rows with the same index keys apart, also over pages', async () => {
      const pk = freshPk();
      const duePk = `DUE#${pk}`;
      for (const sk of ['A', 'B', 'C']) await subject().put({ pk, sk, duePk, dueSk: 'same' });
      const items = await all(subject(), { pk: duePk, index: 'due', limit: 1 });
      expect(sks(items).sort()).toEqual(['A', 'B', 'C']);
    });
  });
};
