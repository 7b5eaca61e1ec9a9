import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  ListTablesCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { PutCommand, QueryCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { DEFINITION, keys, TABLE } from './definition.ts';
import { refusal, useDynamoDb } from './harness.ts';

const local = useDynamoDb();
const put = (TableName: string, Item: { [name: string]: unknown }) =>
  local.doc.send(new PutCommand({ TableName, Item }));
const count = async (TableName: string, IndexName?: string) =>
  (await local.doc.send(new ScanCommand({ TableName, IndexName }))).Count;
const text = (...names: string[]) => names.map((name) => ({ AttributeName: name, AttributeType: 'S' as const }));

test('describe tells keys, indexes, counts and the ARN', async () => {
  await put(TABLE, { pk: 'd', sk: '1', ownerPk: 'o', ownerSk: '1' });
  const { Table } = await local.client.send(new DescribeTableCommand({ TableName: TABLE }));
  expect(Table).toMatchObject({
    TableName: TABLE,
    TableArn: `arn:aws:dynamodb:us-east-1:000000000000:table/${TABLE}`,
    TableStatus: 'ACTIVE',
    KeySchema: DEFINITION.KeySchema,
    BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
    CreationDateTime: new Date('2026-01-01T00:00:00Z'),
    ItemCount: 1,
    TableSizeBytes: 3 + 3 + 8 + 8,
    GlobalSecondaryIndexes: [
      { IndexName: 'byOwner', IndexStatus: 'ACTIVE', Projection: { ProjectionType: 'KEYS_ONLY' }, ItemCount: 1 },
      { IndexName: 'due', IndexStatus: 'ACTIVE', Projection: { ProjectionType: 'ALL' }, ItemCount: 0 },
    ],
  });
});

test('create, list, delete', async () => {
  const definition = {
    TableName: 'another',
    BillingMode: 'PAY_PER_REQUEST' as const,
    AttributeDefinitions: text('id'),
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' as const }],
  };
  const { TableDescription } = await local.client.send(new CreateTableCommand(definition));
  expect(TableDescription).toMatchObject({ TableName: 'another', TableStatus: 'ACTIVE', ItemCount: 0 });
  expect((await refusal(local.client.send(new CreateTableCommand(definition)))).name).toBe('ResourceInUseException');
  expect((await local.client.send(new ListTablesCommand({}))).TableNames).toEqual(['another', TABLE]);
  const first = await local.client.send(new ListTablesCommand({ Limit: 1 }));
  expect(first).toMatchObject({ TableNames: ['another'], LastEvaluatedTableName: 'another' });
  const rest = await local.client.send(new ListTablesCommand({ ExclusiveStartTableName: 'another' }));
  expect(rest).toMatchObject({ TableNames: [TABLE] });
  await put('another', { id: '1' });
  await local.client.send(new DeleteTableCommand({ TableName: 'another' }));
  expect((await refusal(put('another', { id: '1' }))).name).toBe('ResourceNotFoundException');
  expect(await refusal(local.client.send(new DescribeTableCommand({ TableName: 'another' })))).toMatchObject({
    name: 'ResourceNotFoundException',
    message: 'Requested resource not found: Table: another not found',
  });
});

test('a definition that cannot stand is refused', async () => {
  const create = (more: object) =>
    refusal(
      local.client.send(
        new CreateTableCommand({
          TableName: 'bad',
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: text('id'),
          KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
          ...more,
        }),
      ),
    );
  expect((await create({ KeySchema: [{ AttributeName: 'other', KeyType: 'HASH' }] })).message).toContain(
    'not defined in AttributeDefinitions',
  );
  expect((await create({ TableName: 'x' })).message).toContain('at least 3 characters');
  const LocalSecondaryIndexes = [
    { IndexName: 'lsi', KeySchema: keys('id', 'x'), Projection: { ProjectionType: 'ALL' } },
  ];
  expect((await create({ LocalSecondaryIndexes })).message).toContain('no local secondary indexes');
  expect(() => local.db.createTableIfMissing({ TableName: 'bad' })).toThrow(/failed to satisfy constraint/);
});

test('an index added to a definition is filled from the items that are there; other keys are refused', async () => {
  const definition = {
    TableName: 'grows',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: text('pk', 'sk'),
    KeySchema: keys('pk', 'sk'),
  };
  const wider = {
    ...definition,
    AttributeDefinitions: text('pk', 'sk', 'kind'),
    GlobalSecondaryIndexes: [
      {
        IndexName: 'byKind',
        KeySchema: [{ AttributeName: 'kind', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['title'] },
      },
    ],
  };
  local.db.createTableIfMissing(definition);
  await put('grows', { pk: 'a', sk: '1', kind: 'x', title: 't', body: 'b' });
  await put('grows', { pk: 'a', sk: '2', title: 'no kind' });
  for (let i = 0; i < 2; i++) local.db.createTableIfMissing(wider);
  const { Items } = await local.doc.send(
    new QueryCommand({
      TableName: 'grows',
      IndexName: 'byKind',
      KeyConditionExpression: 'kind = :x',
      ExpressionAttributeValues: { ':x': 'x' },
    }),
  );
  expect(Items).toEqual([{ pk: 'a', sk: '1', kind: 'x', title: 't' }]);
  expect(() => local.db.createTableIfMissing({ ...definition, KeySchema: keys('sk', 'pk') })).toThrow(
    /under other keys/,
  );
  expect(await count('grows')).toBe(2);
  expect(await count('grows', 'byKind')).toBe(1);
});

test('expired items stay until they are collected, and leave the indexes too', async () => {
  const now = Math.floor(local.clock.now / 1000);
  const before = (await count(TABLE)) ?? 0;
  const owned = (sk: string) => ({ ownerPk: 'ttl', ownerSk: sk });
  const items = [
    { sk: 'past', ttl: now - 1, ...owned('past') },
    { sk: 'now', ttl: now },
    { sk: 'soon', ttl: now + 60, ...owned('soon') },
    { sk: 'text', ttl: String(now - 1) },
    { sk: 'ancient', ttl: now - 6 * 365 * 24 * 60 * 60 },
    { sk: 'none' },
  ];
  for (const item of items) await put(TABLE, { pk: 'ttl', ...item });
  const left = async () =>
    (
      await local.doc.send(
        new QueryCommand({
          TableName: TABLE,
          KeyConditionExpression: 'pk = :p',
          ExpressionAttributeValues: { ':p': 'ttl' },
        }),
      )
    ).Items?.map((item) => item.sk);
  expect(await left()).toHaveLength(items.length);
  expect(local.db.deleteExpired()).toBe(2);
  expect(await left()).toEqual(['ancient', 'none', 'soon', 'text']);
  const owners = await local.doc.send(
    new QueryCommand({
      TableName: TABLE,
      IndexName: 'byOwner',
      KeyConditionExpression: 'ownerPk = :p',
      ExpressionAttributeValues: { ':p': 'ttl' },
    }),
  );
  expect(owners.Items?.map((item) => item.sk)).toEqual(['soon']);
  expect(local.db.deleteExpired()).toBe(0);
  local.clock.now += 60_000;
  expect(local.db.deleteExpired()).toBe(1);
  expect(await count(TABLE)).toBe(before + 3);
});

test('more expired items than one transaction takes are all collected', async () => {
  const ttl = Math.floor(local.clock.now / 1000) - 1;
  for (let i = 0; i < 1001; i++) {
    const Item = { pk: { S: 'bulk' }, sk: { S: `${i}` }, ttl: { N: `${ttl}` } };
    expect(local.db.handle('PutItem', { TableName: TABLE, Item }).status).toBe(200);
  }
  expect(local.db.deleteExpired()).toBe(1001);
});

test('time to live is switched over the API, for the items that are there as well', async () => {
  const TableName = 'switched';
  local.db.createTableIfMissing({ ...DEFINITION, TableName });
  await put(TableName, { pk: 'a', sk: '1', gone: 1767225600 - 10 });
  const describe = async () =>
    (await local.client.send(new DescribeTimeToLiveCommand({ TableName }))).TimeToLiveDescription;
  const update = (Enabled: boolean, AttributeName = 'gone') =>
    local.client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification: { Enabled, AttributeName } }));
  expect(await describe()).toEqual({ TimeToLiveStatus: 'DISABLED' });
  expect(local.db.deleteExpired()).toBe(0);
  await update(true);
  expect(await describe()).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'gone' });
  expect((await refusal(update(true))).message).toBe('TimeToLive is already enabled');
  expect((await refusal(update(false, 'other'))).message).toContain('different AttributeName');
  expect(local.db.deleteExpired()).toBe(1);
  await update(false);
  await put(TableName, { pk: 'a', sk: '1', gone: 1767225600 - 10 });
  expect(local.db.deleteExpired()).toBe(0);
});
