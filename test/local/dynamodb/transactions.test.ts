import {
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactGetCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { TABLE } from './definition.ts';
import { refusal, useDynamoDb } from './harness.ts';

const local = useDynamoDb();
const TableName = TABLE;
type Items = TransactWriteCommandInput['TransactItems'];
const write = (TransactItems: Items, ClientRequestToken?: string) =>
  local.doc.send(new TransactWriteCommand({ TransactItems, ClientRequestToken }));
const get = async (pk: string, sk = '1') => (await local.doc.send(new GetCommand({ TableName, Key: { pk, sk } }))).Item;
const put = (pk: string, more: { [name: string]: unknown } = {}, sk = '1') =>
  local.doc.send(new PutCommand({ TableName, Item: { pk, sk, ...more } }));
const increment = (pk: string, by = 1) => ({
  Update: {
    TableName,
    Key: { pk, sk: '1' },
    UpdateExpression: 'ADD n :by',
    ExpressionAttributeValues: { ':by': by },
  },
});

test('put, update, delete and check in one, indexes included', async () => {
  await put('tx-check', { ok: true });
  await put('tx-update', { n: 1 });
  await put('tx-delete', { ownerPk: 'tx', ownerSk: 'old' });
  await write([
    { Put: { TableName, Item: { pk: 'tx-put', sk: '1', ownerPk: 'tx', ownerSk: 'new' } } },
    increment('tx-update'),
    { Delete: { TableName, Key: { pk: 'tx-delete', sk: '1' } } },
    { ConditionCheck: { TableName, Key: { pk: 'tx-check', sk: '1' }, ConditionExpression: 'attribute_exists(ok)' } },
  ]);
  expect(await get('tx-update')).toEqual({ pk: 'tx-update', sk: '1', n: 2 });
  expect(await get('tx-delete')).toBeUndefined();
  expect(await get('tx-check')).toEqual({ pk: 'tx-check', sk: '1', ok: true });
  const { Items } = await local.doc.send(
    new QueryCommand({
      TableName,
      IndexName: 'byOwner',
      KeyConditionExpression: 'ownerPk = :o',
      ExpressionAttributeValues: { ':o': 'tx' },
    }),
  );
  expect(Items).toEqual([{ pk: 'tx-put', sk: '1', ownerPk: 'tx', ownerSk: 'new' }]);
});

test('one failed condition undoes everything, and every action has its reason', async () => {
  await put('atomic', { n: 1, state: 'done' });
  const refused = await refusal(
    write([
      increment('atomic-new'),
      {
        ConditionCheck: {
          TableName,
          Key: { pk: 'atomic', sk: '1' },
          ConditionExpression: 'n = :two',
          ExpressionAttributeValues: { ':two': 2 },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      },
      { Put: { TableName, Item: { pk: 'absent', sk: '1' }, ConditionExpression: 'attribute_exists(pk)' } },
      {
        Update: {
          TableName,
          Key: { pk: 'atomic-2', sk: '1' },
          UpdateExpression: 'SET n = absent + :one',
          ExpressionAttributeValues: { ':one': 1 },
        },
      },
    ]),
  );
  expect(refused.name).toBe('TransactionCanceledException');
  expect(refused.message).toBe(
    'Transaction cancelled, please refer cancellation reasons for specific reasons ' +
      '[None, ConditionalCheckFailed, ConditionalCheckFailed, ValidationError]',
  );
  expect(refused.CancellationReasons).toEqual([
    { Code: 'None' },
    {
      Code: 'ConditionalCheckFailed',
      Message: 'The conditional request failed',
      Item: { pk: { S: 'atomic' }, sk: { S: '1' }, n: { N: '1' }, state: { S: 'done' } },
    },
    { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' },
    { Code: 'ValidationError', Message: expect.stringContaining('does not exist in the item') },
  ]);
  expect(await get('atomic-new')).toBeUndefined();
  expect(await get('atomic')).toEqual({ pk: 'atomic', sk: '1', n: 1, state: 'done' });
});

test('of thirty transactions with one version exactly one gets through', async () => {
  await put('race', { version: 0 });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 30 }, (_, i) =>
      write([
        {
          Update: {
            TableName,
            Key: { pk: 'race', sk: '1' },
            UpdateExpression: 'SET version = :next, winner = :i',
            ConditionExpression: 'version = :now',
            ExpressionAttributeValues: { ':now': 0, ':next': 1, ':i': i },
          },
        },
        { Put: { TableName, Item: { pk: `race-${i}`, sk: '1' } } },
      ]),
    ),
  );
  const winners = outcomes.flatMap((outcome, i) => (outcome.status === 'fulfilled' ? [i] : []));
  expect(winners).toHaveLength(1);
  expect(await get('race')).toMatchObject({ version: 1, winner: winners[0] });
  const written = await Promise.all(outcomes.map((_, i) => get(`race-${i}`)));
  expect(written.filter((item) => item !== undefined)).toEqual([{ pk: `race-${winners[0]}`, sk: '1' }]);
});

test('a token makes a repeat do nothing for ten minutes, and refuses another request', async () => {
  await write([increment('token')], 'token-1');
  await write([increment('token')], 'token-1');
  expect(await get('token')).toMatchObject({ n: 1 });
  expect((await refusal(write([increment('token', 2)], 'token-1'))).name).toBe('IdempotentParameterMismatchException');
  expect(await get('token')).toMatchObject({ n: 1 });
  local.clock.now += 10 * 60 * 1000 - 1;
  await write([increment('token')], 'token-1');
  expect(await get('token')).toMatchObject({ n: 1 });
  local.clock.now += 1;
  await write([increment('token')], 'token-1');
  expect(await get('token')).toMatchObject({ n: 2 });
});

test('a repeat is a no-op even where its condition would fail by now', async () => {
  const once: Items = [
    { Put: { TableName, Item: { pk: 'once', sk: '1' }, ConditionExpression: 'attribute_not_exists(pk)' } },
  ];
  await write(once, 'token-2');
  await write(once, 'token-2');
  expect((await refusal(write(once, 'token-3'))).name).toBe('TransactionCanceledException');
});

test('a refused transaction may be tried again under its token', async () => {
  const guarded: Items = [
    {
      Update: {
        TableName,
        Key: { pk: 'retry', sk: '1' },
        UpdateExpression: 'SET done = :yes',
        ConditionExpression: 'attribute_exists(ready)',
        ExpressionAttributeValues: { ':yes': true },
      },
    },
  ];
  await refusal(write(guarded, 'token-4'));
  await put('retry', { ready: true });
  await write(guarded, 'token-4');
  expect(await get('retry')).toMatchObject({ done: true });
});

test('limits: one action an item, 100 actions, 4 MB, nothing that is not an action', async () => {
  const puts = (count: number, text = '') =>
    Array.from({ length: count }, (_, i) => ({ Put: { TableName, Item: { pk: 'many', sk: `${i}`, text } } }));
  const check = { TableName, Key: { pk: 'many', sk: '0' }, ConditionExpression: 'attribute_exists(pk)' };
  expect(await refusal(write([...puts(1), { ConditionCheck: check }]))).toMatchObject({
    name: 'ValidationException',
    message: 'Transaction request cannot include multiple operations on one item',
  });
  expect(await refusal(write(puts(101)))).toMatchObject({
    name: 'ValidationException',
    message: expect.stringContaining('length less than or equal to 100'),
  });
  expect((await refusal(write(puts(11, 'x'.repeat(390 * 1024))))).message).toContain('4194304 bytes in sum');
  expect((await refusal(write([{}]))).message).toContain('can only contain one of Check, Put, Update or Delete');
  expect((await refusal(write([{ ...puts(1)[0], ConditionCheck: check }]))).message).toContain(
    'can only contain one of',
  );
  expect((await refusal(write([]))).message).toContain('length greater than or equal to 1');
  expect(await get('many', '0')).toBeUndefined();
  await write(puts(100));
  expect(await get('many', '99')).toBeDefined();
});

test('a wrong key is a reason, an unknown table and a bad expression refuse the request', async () => {
  const wrongKey = await refusal(write([increment('wrong'), { Put: { TableName, Item: { pk: 'wrong', sk: 5 } } }]));
  expect(wrongKey.CancellationReasons).toEqual([
    { Code: 'None' },
    { Code: 'ValidationError', Message: expect.stringContaining('Type mismatch for key sk expected: S actual: N') },
  ]);
  expect((await refusal(write([{ Put: { TableName: 'nope', Item: { pk: 'x', sk: 'y' } } }]))).name).toBe(
    'ResourceNotFoundException',
  );
  const check = { TableName, Key: { pk: 'x', sk: '1' }, ConditionExpression: 'pk ==' };
  expect(await refusal(write([{ ConditionCheck: check }]))).toMatchObject({
    name: 'ValidationException',
    message: expect.stringContaining('Invalid ConditionExpression: Syntax error'),
  });
  const unchecked = { TableName, Key: { pk: 'x', sk: '1' }, ConditionExpression: undefined };
  expect((await refusal(write([{ ConditionCheck: unchecked }]))).message).toContain(
    "'transactItems.1.member.conditionCheck.conditionExpression' failed to satisfy constraint: Member must not be null",
  );
  expect(await get('wrong')).toBeUndefined();
});

test('reads in a transaction answer in order, with holes and projections', async () => {
  await put('read-1', { a: 1, b: 2 });
  await put('read-3', { a: 3 });
  const { Responses } = await local.doc.send(
    new TransactGetCommand({
      TransactItems: [
        { Get: { TableName, Key: { pk: 'read-1', sk: '1' }, ProjectionExpression: 'b' } },
        { Get: { TableName, Key: { pk: 'read-2', sk: '1' } } },
        { Get: { TableName, Key: { pk: 'read-3', sk: '1' } } },
      ],
    }),
  );
  expect(Responses?.map((response) => response.Item)).toEqual([{ b: 2 }, undefined, { pk: 'read-3', sk: '1', a: 3 }]);
  const twice = { Get: { TableName, Key: { pk: 'read-1', sk: '1' } } };
  expect((await refusal(local.doc.send(new TransactGetCommand({ TransactItems: [twice, twice] })))).message).toContain(
    'multiple operations on one item',
  );
});
