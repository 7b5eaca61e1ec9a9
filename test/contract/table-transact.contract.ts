import { describe, expect, it } from 'vitest';
import {
  add,
  addFrom,
  and,
  eq,
  exists,
  lt,
  missing,
  set,
  type Table,
  TransactionRefused,
  type Write,
} from '../../lib/kernel/table.ts';
import { refusal } from '../support/refusal.ts';
import { freshPk } from './table.contract.ts';

/** All or nothing, with a reason for each write. */
export const transactContract = (subject: () => Table): void => {
  describe('transactions', () => {
    it('do every kind of write at once', async () => {
      const pk = freshPk();
      await subject().put({ pk, sk: 'update', n: 1, more: 5 });
      await subject().put({ pk, sk: 'delete' });
      await subject().put({ pk, sk: 'check', open: true });
      await subject().transact([
        { put: { pk, sk: 'put', made: true }, if: missing('pk') },
        { update: { pk, sk: 'update' }, changes: [add('n', 1), addFrom('sum', 'more')], if: eq('n', 1) },
        { update: { pk, sk: 'new' }, changes: [set('a', 'b')] },
        { delete: { pk, sk: 'delete' }, if: exists('pk') },
        { check: { pk, sk: 'check' }, if: eq('open', true) },
      ]);
      expect((await subject().query({ pk, consistent: true })).items).toEqual([
        { pk, sk: 'check', open: true },
        { pk, sk: 'new', a: 'b' },
        { pk, sk: 'put', made: true },
        { pk, sk: 'update', n: 2, more: 5, sum: 5 },
      ]);
    });

    it('write nothing when one guard does not hold, and say which, with the rows as they stand', async () => {
      const pk = freshPk();
      const standing = { pk, sk: 'B', status: 'PAUSED', list: [1] };
      await subject().put(standing);
      const error = await refusal(
        subject().transact([
          { put: { pk, sk: 'A' } },
          { update: { pk, sk: 'B' }, changes: [set('status', 'RUNNING')], if: eq('status', 'RUNNING') },
          { check: { pk, sk: 'C' }, if: exists('pk') },
          { delete: { pk, sk: 'D' } },
        ]),
      );
      expect(error).toBeInstanceOf(TransactionRefused);
      const { refused, items } = error as TransactionRefused;
      expect(refused).toEqual([false, true, true, false]);
      expect(items).toEqual([undefined, standing, undefined, undefined]);
      expect((await subject().query({ pk, consistent: true })).items).toEqual([standing]);
    });

    it('are a no-op under a token that was used for the same writes', async () => {
      const key = { pk: freshPk(), sk: 'A' };
      const writes: Write[] = [{ update: key, changes: [add('n', 1)] }];
      const token = `t-${Date.now()}-${Math.random()}`.slice(0, 36);
      await subject().transact(writes, token);
      await subject().transact(writes, token);
      expect((await subject().get(key))?.n).toBe(1);
      expect(await refusal(subject().transact([{ update: key, changes: [add('n', 2)] }], token))).toBeInstanceOf(Error);
      expect((await subject().get(key))?.n).toBe(1);
    });

    it('are a no-op under a used token even where the guard no longer holds', async () => {
      const key = { pk: freshPk(), sk: 'A' };
      const token = `u-${Date.now()}-${Math.random()}`.slice(0, 36);
      const writes: Write[] = [{ put: { ...key, n: 1 }, if: missing('pk') }];
      await subject().transact(writes, token);
      await subject().transact(writes, token);
      expect(await subject().get(key)).toEqual({ ...key, n: 1 });
    });

    it('leave a token unused when they are refused', async () => {
      const key = { pk: freshPk(), sk: 'A' };
      const token = `r-${Date.now()}-${Math.random()}`.slice(0, 36);
      const writes: Write[] = [{ update: key, changes: [add('n', 1)], if: exists('pk') }];
      expect(await refusal(subject().transact(writes, token))).toBeInstanceOf(TransactionRefused);
      await subject().put({ ...key, n: 1 });
      await subject().transact(writes, token);
      expect((await subject().get(key))?.n).toBe(2);
    });

    it('without a token happen as often as they are asked for', async () => {
      const key = { pk: freshPk(), sk: 'A' };
      const writes: Write[] = [{ update: key, changes: [add('n', 1)] }];
      await subject().transact(writes);
      await subject().transact(writes);
      expect((await subject().get(key))?.n).toBe(2);
    });

    it('take 100 writes and refuse 101, none, and two on one key', async () => {
      const pk = freshPk();
      const writes: Write[] = Array.from({ length: 101 }, (_, n) => ({ put: { pk, sk: String(n).padStart(3, '0') } }));
      await subject().transact(writes.slice(0, 100));
      expect((await subject().query({ pk })).items).toHaveLength(100);
      const own = freshPk();
      const key = { pk: own, sk: 'A' };
      for (const bad of [writes, [], [{ put: key }, { check: key, if: missing('pk') }]] satisfies Write[][]) {
        const error = await refusal(subject().transact(bad));
        expect(error).not.toBeInstanceOf(TransactionRefused);
      }
      expect(await subject().get(key)).toBeUndefined();
    });

    it('refuse a token that is empty or above 36 characters', async () => {
      const key = { pk: freshPk(), sk: 'A' };
      for (const token of ['', 'x'.repeat(37)]) {
        expect(await refusal(subject().transact([{ put: key }], token))).toBeInstanceOf(Error);
      }
      expect(await subject().get(key)).toBeUndefined();
    });

    it('refuse a write that cannot be stored, together with the others', async () => {
      const pk = freshPk();
      await subject().put({ pk, sk: 'text', n: 'text' });
      const error = await refusal(
        subject().transact([{ put: { pk, sk: 'A' } }, { update: { pk, sk: 'text' }, changes: [add('n', 1)] }]),
      );
      expect(error).not.toBeInstanceOf(TransactionRefused);
      expect(await subject().get({ pk, sk: 'A' })).toBeUndefined();
    });

    it('conflict with each other and lose nothing: 20 at once on one counter', async () => {
      const key = { pk: freshPk(), sk: 'A' };
      await subject().put({ ...key, n: 0 });
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, by) =>
          subject().transact([
            { update: key, changes: [add('n', 1)], if: and(exists('n'), lt('n', 15)) },
            { put: { pk: key.pk, sk: `by#${by}` }, if: missing('pk') },
          ]),
        ),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(15);
      expect((await subject().get(key))?.n).toBe(15);
      expect((await subject().query({ pk: key.pk, prefix: 'by#' })).items).toHaveLength(15);
    });
  });
};
