import { describe, expect, it } from 'vitest';
import {
  add,
  addFrom,
  ConditionFailed,
  eq,
  exists,
  type Item,
  missing,
  remove,
  set,
  type Table,
} from '../../lib/kernel/table.ts';
import { refusal } from '../support/refusal.ts';

let partitions = 0;

/** A partition of its own for each test, so that the suite can run against a table that is never emptied. */
export const freshPk = (): string => `ORG#contract-${process.pid}-${Date.now()}-${partitions++}`;

/** Single items: what is stored, what comes back, what is refused. */
export const itemContract = (subject: () => Table): void => {
  describe('items', () => {
    it('gives back what was put, every kind of value', async () => {
      const item: Item = {
        pk: freshPk(),
        sk: 'A',
        text: 'Grüße 🎈 \u0000 "quoted"',
        empty: '',
        whole: 42,
        zero: 0,
        negative: -7.25,
        tiny: 1.5e-9,
        most: Number.MAX_SAFE_INTEGER,
        yes: true,
        no: false,
        nothing: null,
        list: [1, 'two', [true, null], {}],
        map: { 'a.b': { deep: [] }, status: 'reserved word' },
      };
      await subject().put(item);
      expect(await subject().get(item, { consistent: true })).toEqual(item);
    });

    it('answers undefined for an item that is not there', async () => {
      expect(await subject().get({ pk: freshPk(), sk: 'A' })).toBeUndefined();
    });

    it('replaces the whole item on put', async () => {
      const key = { pk: freshPk(), sk: 'A' };
      await subject().put({ ...key, old: 1 });
      await subject().put({ ...key, new: 2 });
      expect(await subject().get(key)).toEqual({ ...key, new: 2 });
    });

    it('shares nothing with the writer', async () => {
      const key = { pk: freshPk(), sk: 'A' };
      const list = [1, 2];
      await subject().put({ ...key, list });
      list.push(3);
      expect((await subject().get(key))?.list).toEqual([1, 2]);
    });

    it('shares nothing with a reader, who gets a frozen item or a copy', async () => {
      const key = { pk: freshPk(), sk: 'A' };
      await subject().put({ ...key, list: [1, 2] });
      const read = await subject().get(key);
      try {
        (read as unknown as { list: number[] }).list.push(3);
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError);
      }
      expect((await subject().get(key))?.list).toEqual([1, 2]);
    });

    it.each([
      ['undefined', { value: undefined }],
      ['undefined inside', { value: { inner: undefined } }],
      ['NaN', { value: Number.NaN }],
      ['infinity', { value: Number.POSITIVE_INFINITY }],
      ['an unsafe integer', { value: Number.MAX_SAFE_INTEGER + 1 }],
      ['a number too close to zero', { value: 1e-200 }],
      ['a class instance', { value: new Date(0) }],
      ['a set', { value: new Set(['a']) }],
      ['a bigint', { value: 1n }],
      ['a member called __proto__', { value: JSON.parse('{"__proto__": {"a": 1}}') as unknown }],
      ['an item above 400 KB', { value: 'x'.repeat(410 * 1024) }],
    ])('refuses %s and writes nothing', async (_, bad) => {
      const key = { pk: freshPk(), sk: 'A' };
      expect(await refusal(subject().put({ ...key, ...bad } as unknown as Item))).toBeInstanceOf(Error);
      expect(await subject().get(key)).toBeUndefined();
    });

    it('replaces lone surrogates, which UTF-8 cannot hold', async () => {
      const key = { pk: freshPk(), sk: 'A' };
      await subject().put({ ...key, text: 'broken \ud800 text', in: ['\udfff'] });
      expect(await subject().get(key)).toEqual({ ...key, text: 'broken \ufffd text', in: ['\ufffd'] });
    });

    it.each([
      ['pk', { pk: '', sk: 'A' }],
      ['sk', { pk: 'ORG#x', sk: '' }],
      ['a broken sk', { pk: 'ORG#x', sk: 'a\ud800' }],
      ['a sort key above 1,024 bytes', { pk: 'ORG#x', sk: 'ü'.repeat(513) }],
      ['a partition key above 2,048 bytes', { pk: 'x'.repeat(2049), sk: 'A' }],
    ])('refuses an empty or impossible key: %s', async (_, key) => {
      expect(await refusal(subject().put({ ...key, a: 1 }))).toBeInstanceOf(Error);
      expect(await refusal(subject().get(key))).toBeInstanceOf(Error);
      expect(await refusal(subject().update(key, [set('a', 1)]))).toBeInstanceOf(Error);
      expect(await refusal(subject().delete(key))).toBeInstanceOf(Error);
      expect(await refusal(subject().transact([{ put: { ...key, a: 1 } }]))).toBeInstanceOf(Error);
    });

    it('deletes, and deleting nothing is fine', async () => {
      const key = { pk: freshPk(), sk: 'A' };
      await subject().put(key);
      await subject().delete(key);
      await subject().delete(key);
      expect(await subject().get(key)).toBeUndefined();
    });

    it('reads many in the order asked, holes and repeats included', async () => {
      const pk = freshPk();
      await subject().put({ pk, sk: 'A', n: 1 });
      await subject().put({ pk, sk: 'B', n: 2 });
      const keys = ['B', 'none', 'A', 'B'].map((sk) => ({ pk, sk }));
      expect(await subject().getMany(keys, { consistent: true })).toEqual([
        { pk, sk: 'B', n: 2 },
        undefined,
        { pk, sk: 'A', n: 1 },
        { pk, sk: 'B', n: 2 },
      ]);
      expect(await subject().getMany([])).toEqual([]);
    });

    it('reads 100 at once and refuses 101', async () => {
      const keys = Array.from({ length: 101 }, (_, n) => ({ pk: freshPk(), sk: `${n}` }));
      expect(await subject().getMany(keys.slice(0, 100))).toHaveLength(100);
      expect(await refusal(subject().getMany(keys))).toBeInstanceOf(Error);
    });
  });

  describe('updates', () => {
    it('creates a missing item and answers the item after the update', async () => {
      const key = { pk: freshPk(), sk: 'A' };
      const after = await subject().update(key, [set('name', 'x'), add('count', 2), addFrom('sum', 'other')]);
      expect(after).toEqual({ ...key, name: 'x', count: 2, sum: 0 });
      expect(await subject().get(key)).toEqual(after);
    });

    it('evaluates every operand before the first change', async () => {
      const key = { pk: freshPk(), sk: 'A' };
      await subject().put({ ...key, cost: 10, reserved: 7, claims: 2, gone: 1 });
      const after = await subject().update(key, [
        addFrom('cost', 'reserved'),
        set('reserved', 0),
        addFrom('spent', 'gone'),
        remove('gone'),
        add('claims', -1),
      ]);
      expect(after).toEqual({ ...key, cost: 17, reserved: 0, spent: 1, claims: 1 });
    });

    it('adds an attribute to itself', async () => {
      const key = { pk: freshPk(), sk: 'A' };
      await subject().put({ ...key, n: 21 });
      expect((await subject().update(key, [addFrom('n', 'n')])).n).toBe(42);
    });

    it('adds decimals without binary rounding', async () => {
      const key = { pk: freshPk(), sk: 'A' };
      await subject().put({ ...key, n: 0.1 });
      expect((await subject().update(key, [add('n', 0.2)])).n).toBe(0.3);
    });

    it('removes what is not there without a word', async () => {
      const key = { pk: freshPk(), sk: 'A' };
      await subject().put({ ...key, a: 1 });
      expect(await subject().update(key, [remove('b')])).toEqual({ ...key, a: 1 });
    });

    it.each([
      ['no change at all', []],
      ['the same path twice', [set('a', 1), remove('a')]],
      ['a part of the key', [set('sk', 'B')]],
      ['a sum over text', [add('text', 1)]],
      ['a sum over null', [add('nothing', 1)]],
      ['a sum from text', [addFrom('n', 'text')]],
      ['an index key that is a number', [set('duePk', 1)]],
      ['an index key that is empty', [set('ownerSk', '')]],
    ])('refuses %s and changes nothing', async (_, changes) => {
      const item: Item = { pk: freshPk(), sk: 'A', text: 'x', n: 1, nothing: null };
      await subject().put(item);
      expect(await refusal(subject().update(item, changes))).toBeInstanceOf(Error);
      expect(await subject().get(item)).toEqual(item);
    });
  });

  describe('guards of single writes', () => {
    it('refuses with the item as it stands', async () => {
      const item: Item = { pk: freshPk(), sk: 'A', status: 'RUNNING', nested: { list: [1, null, true] } };
      await subject().put(item);
      const refused = [
        await refusal(subject().put({ ...item, status: 'NEW' }, missing('pk'))),
        await refusal(subject().update(item, [set('status', 'NEW')], eq('status', 'PAUSED'))),
        await refusal(subject().delete(item, eq('status', 'PAUSED'))),
      ];
      for (const error of refused) {
        expect(error).toBeInstanceOf(ConditionFailed);
        expect((error as ConditionFailed).item).toEqual(item);
      }
      expect(await subject().get(item)).toEqual(item);
    });

    it('refuses without an item where there is none', async () => {
      const key = { pk: freshPk(), sk: 'A' };
      const error = await refusal(subject().update(key, [set('a', 1)], exists('pk')));
      expect(error).toBeInstanceOf(ConditionFailed);
      expect((error as ConditionFailed).item).toBeUndefined();
      expect(await subject().get(key)).toBeUndefined();
    });

    it('judges a race of put-if-absent for exactly one', async () => {
      const key = { pk: freshPk(), sk: 'A' };
      const tries = await Promise.allSettled(
        Array.from({ length: 10 }, (_, by) => subject().put({ ...key, by }, missing('pk'))),
      );
      expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });
  });
};
