import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { itemSize } from '../../../local/dynamodb/values/item-size.ts';
import { TABLE } from './definition.ts';
import { useDynamoDb } from './harness.ts';

const local = useDynamoDb();
const TableName = TABLE;
const ReturnConsumedCapacity = 'INDEXES' as const;

/** An item of exactly `bytes`: names (2 + 2 + 4) and values (pk, sk of one byte, the rest). */
const sized = (pk: string, bytes: number, more: { [name: string]: unknown } = {}) => ({
  pk,
  sk: '1',
  text: 'x'.repeat(bytes - 2 - Buffer.byteLength(pk) - 2 - 1 - 4),
  ...more,
});
const put = async (Item: { [name: string]: unknown }) =>
  (await local.doc.send(new PutCommand({ TableName, Item, ReturnConsumedCapacity }))).ConsumedCapacity;

describe('the size of an item', () => {
  test.each([
    [{ name: { S: 'abc' } }, 4 + 3],
    [{ grüße: { S: '👋' } }, 7 + 4],
    [{ n: { N: '0' } }, 1 + 1],
    [{ n: { N: '1' } }, 1 + 2],
    [{ n: { N: '-1' } }, 1 + 3],
    [{ n: { N: '123456' } }, 1 + 4],
    [{ n: { N: '1200' } }, 1 + 2],
    [{ n: { N: '12345678901234567890123456789012345678' } }, 1 + 20],
    [{ b: { B: 'AAEC' } }, 1 + 3],
    [{ t: { BOOL: true } }, 1 + 1],
    [{ z: { NULL: true } }, 1 + 1],
    [{ l: { L: [] } }, 1 + 3],
    [{ l: { L: [{ S: 'ab' }, { BOOL: false }] } }, 1 + 3 + (1 + 2) + (1 + 1)],
    [{ m: { M: { k: { S: 'ab' } } } }, 1 + 3 + 1 + 1 + 2],
    [{ s: { SS: ['a', 'bc'] } }, 1 + 3],
    [{ s: { NS: ['1', '12'] } }, 1 + 2 + 2],
  ])('%j is %i bytes', (item, bytes) => {
    expect(itemSize(item)).toBe(bytes);
  });
});

test('writes cost one unit for each KB begun, by the larger of before and after', async () => {
  expect(await put(sized('w', 1024))).toEqual({ TableName, CapacityUnits: 1, Table: { CapacityUnits: 1 } });
  expect((await put(sized('w', 1025)))?.CapacityUnits).toBe(2);
  expect((await put(sized('w', 100)))?.CapacityUnits).toBe(2);
  expect((await put(sized('w', 10 * 1024)))?.CapacityUnits).toBe(10);
  const { ConsumedCapacity } = await local.doc.send(
    new UpdateCommand({
      TableName,
      Key: { pk: 'w', sk: '1' },
      UpdateExpression: 'REMOVE #text',
      ExpressionAttributeNames: { '#text': 'text' },
      ReturnConsumedCapacity: 'TOTAL',
    }),
  );
  expect(ConsumedCapacity).toEqual({ TableName, CapacityUnits: 10 });
  const gone = new DeleteCommand({ TableName, Key: { pk: 'nothing', sk: '1' }, ReturnConsumedCapacity: 'TOTAL' });
  expect((await local.doc.send(gone)).ConsumedCapacity?.CapacityUnits).toBe(1);
});

test('sizes are UTF-8 bytes', async () => {
  // 600 characters of two bytes each: more than 1 KB, although fewer than 1,024 characters.
  expect((await put({ pk: 'utf8', sk: '1', text: 'ü'.repeat(600) }))?.CapacityUnits).toBe(2);
});

test('an index costs a write when an entry comes, changes or goes, two when its key changes', async () => {
  const owned = { ownerPk: 'o', ownerSk: '1' };
  const due = { duePk: 'd', dueAt: 1 };
  const cost = async (item: { [name: string]: unknown }) => {
    const consumed = await put(item);
    const indexes = consumed?.GlobalSecondaryIndexes;
    return [
      consumed?.CapacityUnits,
      consumed?.Table?.CapacityUnits,
      indexes?.byOwner?.CapacityUnits,
      indexes?.due?.CapacityUnits,
    ];
  };
  expect(await cost(sized('i', 3000, owned))).toEqual([4, 3, 1, undefined]);
  // KEYS_ONLY: what is not projected costs the index nothing.
  expect(await cost(sized('i', 2500, owned))).toEqual([3, 3, undefined, undefined]);
  expect(await cost(sized('i', 2500, { ...owned, ownerSk: '2' }))).toEqual([5, 3, 2, undefined]);
  // Projecting everything costs by the whole item, and for every change of it.
  expect(await cost(sized('i', 2500, { ...owned, ownerSk: '2', ...due }))).toEqual([6, 3, undefined, 3]);
  expect(await cost(sized('i', 2000, { ...owned, ownerSk: '2', ...due }))).toEqual([6, 3, undefined, 3]);
  expect(await cost(sized('i', 500, { ...due, dueAt: 2 }))).toEqual([2 + 1 + (2 + 1), 2 + 0, 1, 2 + 1]);
  expect(await cost(sized('i', 500))).toEqual([2, 1, undefined, 1]);
});

test('reads cost one unit for each 4 KB begun, half when eventually consistent', async () => {
  await put(sized('r', 4097));
  const get = async (pk: string, ConsistentRead: boolean) =>
    (await local.doc.send(new GetCommand({ TableName, Key: { pk, sk: '1' }, ConsistentRead, ReturnConsumedCapacity })))
      .ConsumedCapacity;
  expect(await get('r', true)).toEqual({ TableName, CapacityUnits: 2, Table: { CapacityUnits: 2 } });
  expect((await get('r', false))?.CapacityUnits).toBe(1);
  expect((await get('absent', true))?.CapacityUnits).toBe(1);
  expect((await get('absent', false))?.CapacityUnits).toBe(0.5);
});

test('a query costs by the sum of what it read, on the index if it read that', async () => {
  // Five items of 1,000 bytes are 5,000 bytes: two units of 4 KB, not five.
  for (let i = 0; i < 5; i++) await put({ ...sized('q', 1000, { duePk: 'dq', dueAt: i }), sk: `${i}` });
  const query = async (input: { [member: string]: unknown }) =>
    (
      await local.doc.send(
        new QueryCommand({
          TableName,
          KeyConditionExpression: 'pk = :p',
          ExpressionAttributeValues: { ':p': 'q' },
          ReturnConsumedCapacity,
          ...input,
        }),
      )
    ).ConsumedCapacity;
  expect((await query({ ConsistentRead: true }))?.CapacityUnits).toBe(2);
  expect((await query({ ConsistentRead: true, Select: 'COUNT' }))?.CapacityUnits).toBe(2);
  expect((await query({ Limit: 1 }))?.CapacityUnits).toBe(0.5);
  expect(
    await query({
      IndexName: 'due',
      KeyConditionExpression: 'duePk = :p',
      ExpressionAttributeValues: { ':p': 'dq' },
    }),
  ).toEqual({
    TableName,
    CapacityUnits: 1,
    Table: { CapacityUnits: 0 },
    GlobalSecondaryIndexes: { due: { CapacityUnits: 1 } },
  });
});

test('transactions cost twice, for writes, checks, indexes and reads', async () => {
  await put(sized('t-check', 1500));
  const TransactItems = [
    { Put: { TableName, Item: sized('t-put', 2000, { ownerPk: 'o', ownerSk: 't' }) } },
    {
      ConditionCheck: {
        TableName,
        Key: { pk: 't-check', sk: '1' },
        ConditionExpression: 'attribute_exists(pk)',
      },
    },
  ];
  const token = { ClientRequestToken: 'capacity', ReturnConsumedCapacity };
  const first = await local.doc.send(new TransactWriteCommand({ TransactItems, ...token }));
  // 2 × (2 KB put + 2 KB check) on the table, 2 × 1 on the index.
  expect(first.ConsumedCapacity).toEqual([
    {
      TableName,
      CapacityUnits: 10,
      WriteCapacityUnits: 10,
      Table: { CapacityUnits: 8, WriteCapacityUnits: 8 },
      GlobalSecondaryIndexes: { byOwner: { CapacityUnits: 2, WriteCapacityUnits: 2 } },
    },
  ]);
  const replay = await local.doc.send(new TransactWriteCommand({ TransactItems, ...token }));
  expect(replay.ConsumedCapacity).toMatchObject([{ CapacityUnits: 4, ReadCapacityUnits: 4 }]);
  const reads = await local.doc.send(
    new TransactGetCommand({
      TransactItems: ['t-put', 'absent'].map((pk) => ({ Get: { TableName, Key: { pk, sk: '1' } } })),
      ReturnConsumedCapacity: 'TOTAL',
    }),
  );
  expect(reads.ConsumedCapacity).toEqual([{ TableName, CapacityUnits: 4, ReadCapacityUnits: 4 }]);
});

test('batches cost as their single requests do', async () => {
  const writes = await local.doc.send(
    new BatchWriteCommand({
      RequestItems: { [TableName]: ['b1', 'b2'].map((pk) => ({ PutRequest: { Item: sized(pk, 1500) } })) },
      ReturnConsumedCapacity,
    }),
  );
  expect(writes.ConsumedCapacity).toEqual([{ TableName, CapacityUnits: 4, Table: { CapacityUnits: 4 } }]);
  const reads = await local.doc.send(
    new BatchGetCommand({
      RequestItems: { [TableName]: { Keys: ['b1', 'b2', 'b3'].map((pk) => ({ pk, sk: '1' })) } },
      ReturnConsumedCapacity: 'TOTAL',
    }),
  );
  expect(reads.ConsumedCapacity).toEqual([{ TableName, CapacityUnits: 1.5 }]);
});
