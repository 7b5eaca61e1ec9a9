import {
  BatchWriteCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
} from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { keys, TABLE } from './definition.ts';
import { refusal, useDynamoDb } from './harness.ts';

const local = useDynamoDb();
const TableName = TABLE;
type Input = Omit<QueryCommandInput, 'TableName'>;
const query = (input: Input) => local.doc.send(new QueryCommand({ TableName, ...input }));
const put = (item: { [name: string]: unknown }) => local.doc.send(new PutCommand({ TableName, Item: item }));

/** Every page of a query, one after the other. */
async function pages(input: Input): Promise<{ [name: string]: unknown }[][]> {
  const all: { [name: string]: unknown }[][] = [];
  let start: Input['ExclusiveStartKey'];
  do {
    const page = await query({ ...input, ExclusiveStartKey: start });
    all.push(page.Items ?? []);
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
  return all;
}

const of = (pk: string, more = '', values: { [name: string]: unknown } = {}): Input => ({
  KeyConditionExpression: `pk = :pk${more}`,
  ExpressionAttributeValues: { ':pk': pk, ...values },
});

describe('the sort key', () => {
  beforeAll(async () => {
    for (const sk of ['a', 'a#1', 'a#2', 'a#20', 'b', 'é', '😀', '\uffff']) await put({ pk: 'sorted', sk });
    await put({ pk: 'other', sk: 'a' });
  });

  // By UTF-8 bytes: the emoji (four bytes, 0xf0) stands behind U+FFFF, unlike in JavaScript's own order.
  const cases: [string, { [name: string]: unknown }, string[]][] = [
    ['', {}, ['a', 'a#1', 'a#2', 'a#20', 'b', 'é', '\uffff', '😀']],
    [' AND sk = :v', { ':v': 'a' }, ['a']],
    [' AND sk < :v', { ':v': 'a#2' }, ['a', 'a#1']],
    [' AND sk <= :v', { ':v': 'a#2' }, ['a', 'a#1', 'a#2']],
    [' AND sk > :v', { ':v': 'b' }, ['é', '\uffff', '😀']],
    [' AND sk >= :v', { ':v': 'é' }, ['é', '\uffff', '😀']],
    [' AND sk BETWEEN :v AND :w', { ':v': 'a#1', ':w': 'a#2' }, ['a#1', 'a#2']],
    [' AND begins_with(sk, :v)', { ':v': 'a#' }, ['a#1', 'a#2', 'a#20']],
    [' AND begins_with(sk, :v)', { ':v': '\uffff' }, ['\uffff']],
    [' AND :v <= sk', { ':v': 'é' }, ['é', '\uffff', '😀']],
  ];
  test.each(cases)('pk = :pk%s %j', async (more, values, expected) => {
    for (const forward of [true, false]) {
      const wanted = forward ? expected : expected.toReversed();
      for (const Limit of [undefined, 1, 3]) {
        const read = await pages({ ...of('sorted', more, values), ScanIndexForward: forward, Limit });
        expect(read.flat().map((item) => item.sk)).toEqual(wanted);
        if (Limit !== undefined) expect(read.every((page) => page.length <= Limit)).toBe(true);
      }
    }
  });
});

test('number keys go by value', async () => {
  const scores = [-100, -99.5, -2, -0.001, 0, 0.001, 1, 1.5, 2, 10, 99, 100, 1e15];
  for (const [i, dueAt] of scores.toReversed().entries()) await put({ pk: 'number', sk: `${i}`, duePk: 'n', dueAt });
  const due = (condition: string, values: { [name: string]: unknown }) =>
    query({
      IndexName: 'due',
      KeyConditionExpression: `duePk = :pk${condition}`,
      ExpressionAttributeValues: { ':pk': 'n', ...values },
    });
  expect((await due('', {})).Items?.map((item) => item.dueAt)).toEqual(scores);
  expect((await due(' AND dueAt BETWEEN :v AND :w', { ':v': -2, ':w': 1 })).Items?.map((item) => item.dueAt)).toEqual([
    -2, -0.001, 0, 0.001, 1,
  ]);
});

test('binary keys go by bytes', async () => {
  local.db.createTableIfMissing({
    TableName: 'binary',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'N' },
      { AttributeName: 'sk', AttributeType: 'B' },
    ],
    KeySchema: keys('pk', 'sk'),
  });
  const blobs = [[0], [0, 255], [1], [127], [128], [255], [255, 0], [255, 255]];
  for (const sk of blobs.toReversed()) {
    await local.doc.send(new PutCommand({ TableName: 'binary', Item: { pk: 1, sk: new Uint8Array(sk) } }));
  }
  const binary = async (condition: string, values: { [name: string]: unknown }) => {
    const { Items } = await local.doc.send(
      new QueryCommand({
        TableName: 'binary',
        KeyConditionExpression: `pk = :pk${condition}`,
        ExpressionAttributeValues: { ':pk': 1.0, ...values },
      }),
    );
    return Items?.map((item) => [...(item.sk as Uint8Array)]);
  };
  expect(await binary('', {})).toEqual(blobs);
  expect(await binary(' AND begins_with(sk, :v)', { ':v': new Uint8Array([255]) })).toEqual(blobs.slice(5));
  expect(await binary(' AND sk < :v', { ':v': new Uint8Array([1]) })).toEqual(blobs.slice(0, 2));
});

test('an index holds only items with its keys; entries with identical keys are all paged through', async () => {
  const wanted: string[] = [];
  for (let i = 0; i < 10; i++) {
    for (const pk of ['x', 'y']) {
      const listed = i % 3 !== 0;
      await put({
        pk: `index-${pk}`,
        sk: `${i}`,
        ...(listed ? { ownerPk: 'o', ownerSk: 'same' } : { ownerSk: 'same' }),
      });
      if (listed) wanted.push(`${pk}${i}`);
    }
  }
  for (const ScanIndexForward of [true, false]) {
    const read = (
      await pages({
        IndexName: 'byOwner',
        KeyConditionExpression: 'ownerPk = :o AND ownerSk = :s',
        ExpressionAttributeValues: { ':o': 'o', ':s': 'same' },
        Limit: 3,
        ScanIndexForward,
      })
    ).flat();
    expect(read.map((item) => `${String(item.pk).at(-1)}${item.sk}`).sort()).toEqual(wanted.sort());
    // KEYS_ONLY: the keys of the index and of the table, nothing else.
    expect(Object.keys(read[0] ?? {}).sort()).toEqual(['ownerPk', 'ownerSk', 'pk', 'sk']);
  }
});

test('an entry follows its item: moved, changed, gone', async () => {
  const due = async () =>
    (
      await query({
        IndexName: 'due',
        KeyConditionExpression: 'duePk = :p',
        ExpressionAttributeValues: { ':p': 'follow' },
      })
    ).Items;
  const item = { pk: 'follow', sk: '1', duePk: 'follow', dueAt: 1 };
  for (const state of [item, { ...item, dueAt: 2 }, { ...item, dueAt: 2, text: 'all attributes are projected' }]) {
    await put(state);
    expect(await due()).toEqual([state]);
  }
  await put({ pk: 'follow', sk: '1', dueAt: 2 });
  expect(await due()).toEqual([]);
});

test('a page ends at 1 MB read, filtered or not', async () => {
  await local.doc.send(
    new BatchWriteCommand({
      RequestItems: {
        [TableName]: Array.from({ length: 25 }, (_, i) => ({
          PutRequest: { Item: { pk: 'megabyte', sk: String(i).padStart(2, '0'), n: i, text: 'x'.repeat(100 * 1024) } },
        })),
      },
    }),
  );
  // 25 items of a little over 100 KB: the eleventh passes 1 MB.
  expect((await pages(of('megabyte'))).map((page) => page.length)).toEqual([11, 11, 3]);
  const filtered = await query({
    KeyConditionExpression: 'pk = :pk',
    FilterExpression: 'n >= :n',
    ExpressionAttributeValues: { ':pk': 'megabyte', ':n': 10 },
  });
  expect(filtered).toMatchObject({ Count: 1, ScannedCount: 11, LastEvaluatedKey: { pk: 'megabyte', sk: '10' } });
});

test('Limit counts before the filter; COUNT gives no items', async () => {
  for (let n = 0; n < 6; n++) await put({ pk: 'filter', sk: `${n}`, n });
  const odd = { ...of('filter', '', { ':two': 2 }), FilterExpression: 'n > :two' };
  expect(await query({ ...odd, Limit: 4 })).toMatchObject({ Count: 1, ScannedCount: 4, Items: [{ n: 3 }] });
  const counted = await query({ ...odd, Select: 'COUNT' });
  expect(counted).toMatchObject({ Count: 3, ScannedCount: 6 });
  expect(counted.Items).toBeUndefined();
  expect((await query({ ...of('filter'), ProjectionExpression: 'n', Limit: 2 })).Items).toEqual([{ n: 0 }, { n: 1 }]);
});

type ExclusiveStart = { [name: string]: unknown } | undefined;

test('scan reads everything once, in segments too', async () => {
  const all = (await local.doc.send(new ScanCommand({ TableName: 'binary', ConsistentRead: true }))).Count;
  expect(all).toBe(8);
  const read: string[] = [];
  for (let Segment = 0; Segment < 3; Segment++) {
    let ExclusiveStartKey: ExclusiveStart;
    do {
      const page: { Items?: { [name: string]: unknown }[] | undefined; LastEvaluatedKey?: ExclusiveStart } =
        await local.doc.send(
          new ScanCommand({
            TableName,
            IndexName: 'byOwner',
            Segment,
            TotalSegments: 3,
            Limit: 2,
            ...(ExclusiveStartKey && { ExclusiveStartKey }),
          }),
        );
      read.push(...(page.Items ?? []).map((item) => `${item.pk}/${item.sk}`));
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey !== undefined);
  }
  expect(read).toHaveLength(12);
  expect(new Set(read).size).toBe(12);
});

describe('refused', () => {
  const owner = { KeyConditionExpression: 'ownerPk = :pk', ExpressionAttributeValues: { ':pk': 'x' } };
  const cases: [string, Input, string][] = [
    [
      'a consistent read of an index',
      { ...owner, IndexName: 'byOwner', ConsistentRead: true },
      'Consistent reads are not supported',
    ],
    ['an unknown index', { ...owner, IndexName: 'nope' }, 'does not have the specified index: nope'],
    [
      'no condition on the hash key',
      { ...of('x'), KeyConditionExpression: 'sk = :pk' },
      'missed key schema element: pk',
    ],
    ['a range of hash keys', { ...of('x'), KeyConditionExpression: 'pk > :pk' }, 'Query key condition not supported'],
    ['a condition on another attribute', of('x', ' AND n = :n', { ':n': 1 }), 'missed key schema element: sk'],
    ['a key of the wrong type', of('x', ' AND sk = :n', { ':n': 1 }), 'type does not match schema type'],
    ['an empty key', of(''), 'cannot contain an empty string value'],
    ['OR between keys', of('x', ' OR sk = :pk'), 'Invalid operator used in KeyConditionExpression: OR'],
    [
      'a filter on the key',
      { ...of('x'), FilterExpression: 'sk = :pk' },
      'can only contain non-primary key attributes',
    ],
    [
      'a start key of another partition',
      { ...of('x'), ExclusiveStartKey: { pk: 'y', sk: '1' } },
      'outside query boundaries',
    ],
    ['half a start key', { ...of('x'), ExclusiveStartKey: { pk: 'x' } }, 'starting key is invalid'],
    [
      'an attribute that the index lacks',
      { ...owner, IndexName: 'byOwner', FilterExpression: 'n = :pk' },
      'does not project [n]',
    ],
    ['Limit 0', { ...of('x'), Limit: 0 }, 'greater than or equal to 1'],
  ];
  test.each(cases)('%s', async (_, input, message) => {
    expect(await refusal(query(input))).toMatchObject({
      name: 'ValidationException',
      message: expect.stringContaining(message),
    });
  });
});
