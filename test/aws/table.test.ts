import { afterEach, describe, expect, it } from 'vitest';
import { makeTable, type Units } from '../../lib/aws/table.ts';
import { add, ConditionFailed, eq, missing, set, type Table, TransactionRefused } from '../../lib/kernel/table.ts';
import type { WireAnswer } from '../support/json-wire.ts';
import { cancelled, dynamoError, fine, scripted } from './fake-client.ts';

const KEY = { pk: 'ORG#o', sk: 'A' };
const WIRE_ITEM = { pk: { S: 'ORG#o' }, sk: { S: 'A' }, n: { N: '1.5' }, l: { L: [{ NULL: true }, { BOOL: false }] } };
const ITEM = { ...KEY, n: 1.5, l: [null, false] };
const CONFLICT = { Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' };
const THROTTLED = { Code: 'ThrottlingError' };
const REFUSED = { Code: 'ConditionalCheckFailed', Item: WIRE_ITEM };
const NONE = { Code: 'None' };

describe('the table and the errors of DynamoDB', () => {
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
  });

  const tableOver = async (...answers: readonly WireAnswer[]) => {
    const script = await scripted(...answers);
    open.push(script);
    const pauses: number[] = [];
    const units: Units[] = [];
    const table: Table = makeTable({
      client: script.client,
      tableName: 'T',
      onUnits: (one) => units.push(one),
      retry: {
        random: () => 0.5,
        sleep: async (ms) => {
          pauses.push(ms);
        },
      },
    });
    return { table, calls: script.calls, pauses, units };
  };

  it('names the row that refused a single write', async () => {
    const { table, calls } = await tableOver(dynamoError('ConditionalCheckFailedException', { Item: WIRE_ITEM }));
    const error = await table.put(KEY, missing('pk')).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConditionFailed);
    expect((error as ConditionFailed).item).toEqual(ITEM);
    expect(calls).toHaveLength(1); // a refusal is an answer, not a failure
    expect(calls[0]?.input.ReturnValuesOnConditionCheckFailure).toBe('ALL_OLD');
  });

  it('retries a conflict of a single write with a growing pause', async () => {
    const conflict = dynamoError('TransactionConflictException');
    const { table, calls, pauses } = await tableOver(conflict, conflict, conflict, fine());
    await table.delete(KEY);
    expect(calls).toHaveLength(4);
    expect(pauses).toEqual([12.5, 25, 50]); // half, as drawn, of 25, 50 and 100
  });

  it('gives up on conflicts after eight tries, with the error as it was', async () => {
    const { table, calls, pauses } = await tableOver(dynamoError('TransactionConflictException'));
    await expect(table.update(KEY, [set('a', 1)])).rejects.toMatchObject({ name: 'TransactionConflictException' });
    expect(calls).toHaveLength(8);
    expect(Math.max(...pauses)).toBe(500); // half of the bound of 1 s
  });

  it.each([
    ['a conflict', [NONE, CONFLICT]],
    ['a throttle', [THROTTLED, NONE]],
    ['both', [THROTTLED, CONFLICT]],
  ])('retries a transaction cancelled by %s, under one token', async (_, reasons) => {
    const { table, calls } = await tableOver(cancelled(...reasons), fine());
    await table.transact([{ put: KEY }, { update: { pk: 'ORG#o', sk: 'B' }, changes: [add('n', 1)] }]);
    expect(calls).toHaveLength(2);
    expect(calls[0]?.input.ClientRequestToken).toMatch(/^[0-9a-f-]{36}$/);
    expect(calls[1]?.input).toEqual(calls[0]?.input);
  });

  it('retries while an earlier try with the same token is still in progress', async () => {
    const { table, calls } = await tableOver(dynamoError('TransactionInProgressException'), fine());
    await table.transact([{ put: KEY }], 'token');
    expect(calls.map(({ input }) => input.ClientRequestToken)).toEqual(['token', 'token']);
  });

  it('says which guards of a transaction failed, and does not retry, whatever else there was', async () => {
    const { table, calls } = await tableOver(cancelled(NONE, REFUSED, CONFLICT, { Code: 'ConditionalCheckFailed' }));
    const writes = ['A', 'B', 'C', 'D'].map((sk) => ({ put: { pk: 'ORG#o', sk }, if: missing('pk') }));
    const error = await table.transact(writes).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TransactionRefused);
    expect((error as TransactionRefused).refused).toEqual([false, true, false, true]);
    expect((error as TransactionRefused).items).toEqual([undefined, ITEM, undefined, undefined]);
    expect(calls).toHaveLength(1);
  });

  it.each([
    ['a validation error in one write', cancelled(NONE, { Code: 'ValidationError' }), 'TransactionCanceledException'],
    [
      'such an error beside a conflict',
      cancelled(CONFLICT, { Code: 'ValidationError' }),
      'TransactionCanceledException',
    ],
    [
      'a token used for other writes',
      dynamoError('IdempotentParameterMismatchException'),
      'IdempotentParameterMismatch',
    ],
    ['a missing table', dynamoError('ResourceNotFoundException'), 'ResourceNotFoundException'],
    ['a missing grant', dynamoError('AccessDeniedException'), 'AccessDeniedException'],
  ])('passes on %s at once', async (_, answer, name) => {
    const { table, calls } = await tableOver(answer);
    const error = await table.transact([{ put: KEY }]).catch((thrown: unknown) => thrown);
    expect((error as Error).name).toContain(name);
    expect(calls).toHaveLength(1);
  });

  it('asks again for the keys that a batch left over', async () => {
    const keys = ['A', 'B', 'C'].map((sk) => ({ pk: 'ORG#o', sk }));
    const wire = (sk: string) => ({ pk: { S: 'ORG#o' }, sk: { S: sk } });
    const { table, calls, pauses } = await tableOver(
      fine({ Responses: { T: [wire('C')] }, UnprocessedKeys: { T: { Keys: [wire('A'), wire('B')] } } }),
      fine({ Responses: { T: [] }, UnprocessedKeys: { T: { Keys: [wire('A'), wire('B')] } } }),
      fine({ Responses: { T: [wire('B'), wire('A')] } }),
    );
    expect(await table.getMany(keys, { consistent: true })).toEqual(keys);
    expect(calls.map(({ input }) => (input.RequestItems as { T: { Keys: unknown[] } }).T.Keys.length)).toEqual([
      3, 2, 2,
    ]);
    expect(
      calls.every(({ input }) => (input.RequestItems as { T: { ConsistentRead: boolean } }).T.ConsistentRead),
    ).toBe(true);
    expect(pauses).toHaveLength(2);
  });

  it('gives up on a batch that makes no progress', async () => {
    const left = { T: { Keys: [{ pk: { S: 'ORG#o' }, sk: { S: 'A' } }] } };
    const { table, calls } = await tableOver(fine({ Responses: { T: [] }, UnprocessedKeys: left }));
    await expect(table.getMany([KEY])).rejects.toThrow(/1 keys unread after 8 tries/);
    expect(calls).toHaveLength(8);
  });

  it('tells what each request consumed', async () => {
    const capacity = { TableName: 'T', CapacityUnits: 2.5 };
    const { table, calls, units } = await tableOver(fine({ ConsumedCapacity: capacity }));
    await table.get(KEY);
    await table.put(KEY);
    await table.update(KEY, [set('a', 1)], eq('n', 1));
    await table.query({ pk: 'ORG#o' });
    expect(units).toEqual([
      { operation: 'get', read: 2.5, write: 0 },
      { operation: 'put', read: 0, write: 2.5 },
      { operation: 'update', read: 0, write: 2.5 },
      { operation: 'query', read: 2.5, write: 0 },
    ]);
    expect(calls.every(({ input }) => input.ReturnConsumedCapacity === 'TOTAL')).toBe(true);
  });

  it('tells what a transaction and a batch consumed, which come as lists', async () => {
    const { table, units } = await tableOver(
      fine({ ConsumedCapacity: [{ TableName: 'T', CapacityUnits: 4 }] }),
      fine({ Responses: { T: [] }, ConsumedCapacity: [{ TableName: 'T', CapacityUnits: 0.5 }] }),
    );
    await table.transact([{ put: KEY }]);
    await table.getMany([KEY]);
    expect(units).toEqual([
      { operation: 'transact', read: 0, write: 4 },
      { operation: 'getMany', read: 0.5, write: 0 },
    ]);
  });
});
