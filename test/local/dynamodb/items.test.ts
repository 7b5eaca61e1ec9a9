import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { TABLE } from './definition.ts';
import { refusal, useDynamoDb } from './harness.ts';

const local = useDynamoDb();
const TableName = TABLE;
const put = (item: { [name: string]: unknown }) => local.doc.send(new PutCommand({ TableName, Item: item }));
const get = async (pk: string, sk: string) =>
  (await local.doc.send(new GetCommand({ TableName, Key: { pk, sk } }))).Item;

test('every type of value comes back as it was put', async () => {
  const item = {
    pk: 'types',
    sk: '1',
    text: 'Grüße, 世界 👋\u0000',
    empty: '',
    number: -12.5,
    yes: true,
    nothing: null,
    bytes: new Uint8Array([0, 255, 7]),
    list: [1, 'two', [{ three: 3 }], []],
    map: { a: { b: { c: '' } }, toString: 'own', empty: {} },
    words: new Set(['a', 'b']),
    numbers: new Set([1, 2]),
    blobs: new Set([new Uint8Array([1]), new Uint8Array([2])]),
  };
  await put(item);
  expect(await get('types', '1')).toEqual(item);
  expect(await get('types', '2')).toBeUndefined();
});

test('a projection gives what was asked for, in documents and lists too', async () => {
  await put({ pk: 'projection', sk: '1', a: { b: 1, c: 2 }, list: ['x', 'y', { z: 1, w: 2 }], other: 1 });
  const { Item } = await local.doc.send(
    new GetCommand({
      TableName,
      Key: { pk: 'projection', sk: '1' },
      ProjectionExpression: 'a.b, #list[0], #list[2].z, absent, a.absent.er',
      ExpressionAttributeNames: { '#list': 'list' },
    }),
  );
  expect(Item).toEqual({ a: { b: 1 }, list: ['x', { z: 1 }] });
});

test('put replaces the whole item and ALL_OLD answers what stood there', async () => {
  await put({ pk: 'put', sk: '1', a: 1 });
  const { Attributes } = await local.doc.send(
    new PutCommand({ TableName, Item: { pk: 'put', sk: '1', b: 2 }, ReturnValues: 'ALL_OLD' }),
  );
  expect(Attributes).toEqual({ pk: 'put', sk: '1', a: 1 });
  expect(await get('put', '1')).toEqual({ pk: 'put', sk: '1', b: 2 });
});

test('a condition that does not hold changes nothing and gives the item only when asked', async () => {
  await put({ pk: 'condition', sk: '1', version: 3 });
  const attempt = {
    TableName,
    Item: { pk: 'condition', sk: '1', version: 4 },
    ConditionExpression: 'version = :two',
    ExpressionAttributeValues: { ':two': 2 },
  };
  const plain = await refusal(local.doc.send(new PutCommand(attempt)));
  expect(plain).toMatchObject({ name: 'ConditionalCheckFailedException', message: 'The conditional request failed' });
  expect(plain.Item).toBeUndefined();
  const withItem = await refusal(
    local.doc.send(new PutCommand({ ...attempt, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' })),
  );
  expect(withItem.Item).toEqual({ pk: { S: 'condition' }, sk: { S: '1' }, version: { N: '3' } });
  expect(await get('condition', '1')).toEqual({ pk: 'condition', sk: '1', version: 3 });
});

test('ALL_OLD on a failed update or delete gives the item, and none where there is none', async () => {
  await put({ pk: 'all-old', sk: '1', state: 'done' });
  const guard = {
    ConditionExpression: '#s = :open',
    ExpressionAttributeNames: { '#s': 'state' },
    ExpressionAttributeValues: { ':open': 'open' },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
  for (const [sk, item] of [
    ['1', { pk: { S: 'all-old' }, sk: { S: '1' }, state: { S: 'done' } }],
    ['2', undefined],
  ] as const) {
    const Key = { pk: 'all-old', sk };
    const update = new UpdateCommand({ TableName, Key, UpdateExpression: 'SET n = :open', ...guard });
    for (const refused of [
      await refusal(local.doc.send(update)),
      await refusal(local.doc.send(new DeleteCommand({ TableName, Key, ...guard }))),
    ]) {
      expect(refused.name).toBe('ConditionalCheckFailedException');
      expect(refused.Item).toEqual(item);
    }
    expect(await get('all-old', sk)).toEqual(item && { pk: 'all-old', sk: '1', state: 'done' });
  }
});

test('update creates a missing item, with its key alone when nothing is said', async () => {
  await local.doc.send(new UpdateCommand({ TableName, Key: { pk: 'create', sk: '1' } }));
  expect(await get('create', '1')).toEqual({ pk: 'create', sk: '1' });
});

test('update answers each kind of ReturnValues', async () => {
  const Key = { pk: 'return', sk: '1' };
  const change = async (ReturnValues: 'NONE' | 'ALL_OLD' | 'ALL_NEW' | 'UPDATED_OLD' | 'UPDATED_NEW', n: number) =>
    (
      await local.doc.send(
        new UpdateCommand({
          TableName,
          Key,
          UpdateExpression: 'SET n = :n',
          ExpressionAttributeValues: { ':n': n },
          ReturnValues,
        }),
      )
    ).Attributes;
  expect(await change('ALL_OLD', 0)).toBeUndefined();
  await put({ ...Key, n: 1, other: 'x' });
  expect(await change('NONE', 2)).toBeUndefined();
  expect(await change('ALL_OLD', 3)).toEqual({ ...Key, n: 2, other: 'x' });
  expect(await change('ALL_NEW', 4)).toEqual({ ...Key, n: 4, other: 'x' });
  expect(await change('UPDATED_OLD', 5)).toEqual({ n: 4 });
  expect(await change('UPDATED_NEW', 6)).toEqual({ n: 6 });
});

test('delete answers the old item and does not mind a missing one', async () => {
  await put({ pk: 'delete', sk: '1', a: 1 });
  const gone = new DeleteCommand({ TableName, Key: { pk: 'delete', sk: '1' }, ReturnValues: 'ALL_OLD' });
  expect((await local.doc.send(gone)).Attributes).toEqual({ pk: 'delete', sk: '1', a: 1 });
  expect((await local.doc.send(gone)).Attributes).toBeUndefined();
  expect(await get('delete', '1')).toBeUndefined();
});

test('a batch of writes and a batch of reads', async () => {
  const items = Array.from({ length: 24 }, (_, i) => ({ pk: 'batch', sk: `${i}`, i }));
  await put({ pk: 'batch', sk: 'old' });
  const { UnprocessedItems } = await local.doc.send(
    new BatchWriteCommand({
      RequestItems: {
        [TableName]: [
          ...items.map((Item) => ({ PutRequest: { Item } })),
          { DeleteRequest: { Key: { pk: 'batch', sk: 'old' } } },
        ],
      },
    }),
  );
  expect(UnprocessedItems).toEqual({});
  const Keys = [...items.map(({ pk, sk }) => ({ pk, sk })), { pk: 'batch', sk: 'old' }];
  const { Responses, UnprocessedKeys } = await local.doc.send(
    new BatchGetCommand({ RequestItems: { [TableName]: { Keys } } }),
  );
  expect(Responses?.[TableName]).toHaveLength(24);
  expect(Responses?.[TableName]).toEqual(expect.arrayContaining(items));
  expect(UnprocessedKeys).toEqual({});
});

test('a batch of reads stops at 16 MB and names the keys it left', async () => {
  const Keys = Array.from({ length: 45 }, (_, i) => ({ pk: 'large', sk: `${i}` }));
  for (const key of Keys) await put({ ...key, text: 'x'.repeat(390 * 1024) });
  const first = await local.doc.send(
    new BatchGetCommand({ RequestItems: { [TableName]: { Keys, ConsistentRead: true } } }),
  );
  const left = first.UnprocessedKeys?.[TableName];
  expect(first.Responses?.[TableName]).toHaveLength(42);
  expect(left).toMatchObject({ ConsistentRead: true, Keys: Keys.slice(42) });
  const second = await local.doc.send(new BatchGetCommand({ RequestItems: first.UnprocessedKeys }));
  expect(second.Responses?.[TableName]).toHaveLength(3);
});

test('too many or twice the same item in a batch is refused and writes nothing', async () => {
  const write = (sks: string[]) =>
    local.doc.send(
      new BatchWriteCommand({
        RequestItems: { [TableName]: sks.map((sk) => ({ PutRequest: { Item: { pk: 'refused', sk } } })) },
      }),
    );
  expect(await refusal(write(Array.from({ length: 26 }, (_, i) => `${i}`)))).toMatchObject({
    name: 'ValidationException',
    message: expect.stringContaining('25'),
  });
  expect(await refusal(write(['a', 'b', 'a']))).toMatchObject({
    name: 'ValidationException',
    message: 'Provided list of item keys contains duplicates',
  });
  expect(await get('refused', 'b')).toBeUndefined();
});
