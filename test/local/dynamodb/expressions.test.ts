import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { TABLE } from './definition.ts';
import { refusal, useDynamoDb } from './harness.ts';

const local = useDynamoDb();
const TableName = TABLE;
const Key = { pk: 'expression', sk: '1' };
type Values = { [name: string]: unknown };

const STATE = {
  n: 5,
  price: 0.1,
  txt: 'hello',
  bin: new Uint8Array([1, 2, 3]),
  flag: true,
  nothing: null,
  arr: ['a', 'b', 'c'],
  doc: { nest: { er: 1 }, list: [1, 2] },
  words: new Set(['x', 'y']),
  numbers: new Set([1, 2]),
};

async function updated(expression: string, values?: Values) {
  await local.doc.send(new PutCommand({ TableName, Item: { ...Key, ...STATE } }));
  const { Attributes } = await local.doc.send(
    new UpdateCommand({
      TableName,
      Key,
      UpdateExpression: expression,
      ExpressionAttributeValues: values,
      ReturnValues: 'ALL_NEW',
    }),
  );
  const { Item } = await local.doc.send(new GetCommand({ TableName, Key }));
  expect(Item).toEqual(Attributes);
  return Item;
}

describe('what an update expression does', () => {
  const cases: [string, Values | undefined, Values][] = [
    ['SET n = n + :v', { ':v': 3 }, { n: 8 }],
    ['SET n = :v - n', { ':v': 3 }, { n: -2 }],
    ['SET price = price + :v', { ':v': 0.2 }, { price: 0.3 }],
    ['SET fresh = if_not_exists(fresh, :zero) + :v', { ':zero': 0, ':v': 2 }, { fresh: 2 }],
    ['SET n = if_not_exists(n, :v)', { ':v': 9 }, { n: 5 }],
    ['SET arr = list_append(arr, :v)', { ':v': ['d'] }, { arr: ['a', 'b', 'c', 'd'] }],
    ['SET arr = list_append(:v, arr)', { ':v': ['d'] }, { arr: ['d', 'a', 'b', 'c'] }],
    ['SET arr[1] = :v, arr[9] = :v', { ':v': 'new' }, { arr: ['a', 'new', 'c', 'new'] }],
    ['SET doc.nest.er = :v', { ':v': 2 }, { doc: { nest: { er: 2 }, list: [1, 2] } }],
    ['SET txt = n, n = txt', undefined, { txt: 5, n: 'hello' }],
    ['REMOVE arr[0], arr[1]', undefined, { arr: ['c'] }],
    ['REMOVE arr[9], doc.absent', undefined, {}],
    ['REMOVE n, doc.nest', undefined, { n: undefined, doc: { list: [1, 2] } }],
    ['ADD n :v, fresh :v', { ':v': -1 }, { n: 4, fresh: -1 }],
    ['ADD words :v', { ':v': new Set(['y', 'z']) }, { words: new Set(['x', 'y', 'z']) }],
    ['DELETE words :v', { ':v': new Set(['y', 'nope']) }, { words: new Set(['x']) }],
    ['DELETE words :v', { ':v': new Set(['x', 'y']) }, { words: undefined }],
    [
      'SET flag = :f REMOVE nothing ADD numbers :s',
      { ':f': false, ':s': new Set([3]) },
      {
        flag: false,
        nothing: undefined,
        numbers: new Set([1, 2, 3]),
      },
    ],
  ];
  test.each(cases)('%s', async (expression, values, changes) => {
    const expected = Object.entries({ ...Key, ...STATE, ...changes }).filter(([, value]) => value !== undefined);
    expect(await updated(expression, values)).toEqual(Object.fromEntries(expected));
  });
});

describe('what an update expression refuses', () => {
  const cases: [string, Values | undefined, string][] = [
    ['SET n = absent', undefined, 'refers to an attribute that does not exist in the item'],
    ['SET n = n + txt', undefined, 'An operand in the update expression has an incorrect data type'],
    ['SET n = n + :v', { ':v': 'x' }, 'Incorrect operand type for operator or function'],
    ['SET absent.er = :v', { ':v': 1 }, 'document path provided in the update expression is invalid'],
    ['SET n.er = :v', { ':v': 1 }, 'document path provided in the update expression is invalid'],
    ['SET arr = list_append(arr, n)', undefined, 'An operand in the update expression has an incorrect data type'],
    ['ADD txt :v', { ':v': 1 }, 'An operand in the update expression has an incorrect data type'],
    ['ADD n :v', { ':v': 'x' }, 'Incorrect operand type'],
    ['DELETE n :v', { ':v': new Set(['x']) }, 'An operand in the update expression has an incorrect data type'],
    ['SET pk = :v', { ':v': 'x' }, 'Cannot update attribute pk. This attribute is part of the key'],
    ['SET dueAt = :v', { ':v': 'x' }, 'Type mismatch for Index Key dueAt Expected: N Actual: S IndexName: due'],
    ['SET ownerPk = :v', { ':v': '' }, 'cannot contain an empty string value. IndexName: byOwner, IndexKey: ownerPk'],
    ['SET n = :v, n = :v', { ':v': 1 }, 'Two document paths overlap'],
    ['SET n = :v', { ':v': 1, ':unused': 2 }, 'unused in expressions'],
    ['SET n = :v', undefined, 'attribute value used in expression is not defined'],
    ['SET n := 1', undefined, 'Syntax error'],
    ['SET status = :v', { ':v': 1 }, 'reserved keyword: status'],
  ];
  test.each(cases)('%s', async (expression, values, message) => {
    const refused = await refusal(updated(expression, values));
    expect(refused.name).toBe('ValidationException');
    expect(refused.message).toContain(message);
    const { Item } = await local.doc.send(new GetCommand({ TableName, Key }));
    expect(Item).toEqual({ ...Key, ...STATE });
  });
});

test('an expression may be 4 KB', async () => {
  const padded = (bytes: number) => `SET n = :v${' '.repeat(bytes - 10)}`;
  expect((await updated(padded(4096), { ':v': 1 }))?.n).toBe(1);
  expect(await refusal(updated(padded(4097), { ':v': 1 }))).toMatchObject({
    name: 'ValidationException',
    message: expect.stringContaining('Expression size has exceeded the maximum allowed size'),
  });
});

describe('conditions', () => {
  const cases: [string, Values | undefined, boolean][] = [
    ['n = :v', { ':v': 5 }, true],
    ['n <> :v', { ':v': 5 }, false],
    ['n > :v AND n < :w', { ':v': 4.99, ':w': 10 }, true],
    ['n BETWEEN :v AND :w', { ':v': 5, ':w': 5 }, true],
    ['n IN (:v, :w)', { ':v': 1, ':w': 5 }, true],
    ['n < :v', { ':v': '9' }, false],
    ['n >= price', undefined, true],
    ['absent = :v', { ':v': 1 }, false],
    ['absent <> :v', { ':v': 1 }, true],
    ['absent < :v', { ':v': 1 }, false],
    ['NOT absent = :v', { ':v': 1 }, true],
    ['attribute_exists(doc.nest.er)', undefined, true],
    ['attribute_exists(doc.toString)', undefined, false],
    ['attribute_not_exists(absent)', undefined, true],
    ['attribute_exists(nothing)', undefined, true],
    ['attribute_type(arr, :v)', { ':v': 'L' }, true],
    ['begins_with(txt, :v)', { ':v': 'hel' }, true],
    ['begins_with(bin, :v)', { ':v': new Uint8Array([1, 2]) }, true],
    ['contains(txt, :v)', { ':v': 'ell' }, true],
    ['contains(words, :v)', { ':v': 'x' }, true],
    ['contains(arr, :v)', { ':v': 'd' }, false],
    ['contains(numbers, :v)', { ':v': 2 }, true],
    ['size(arr) = :v', { ':v': 3 }, true],
    ['size(txt) > :v', { ':v': 5 }, false],
    ['size(bin) = :v', { ':v': 3 }, true],
    ['doc = :v', { ':v': { nest: { er: 1 }, list: [1, 2] } }, true],
    ['doc = :v', { ':v': { nest: { er: 1 }, list: [2, 1] } }, false],
    ['words = :v', { ':v': new Set(['y', 'x']) }, true],
    ['flag = :v OR n = :w', { ':v': false, ':w': 6 }, false],
    ['(flag = :v OR n = :w) AND NOT attribute_exists(absent)', { ':v': true, ':w': 6 }, true],
    ['nothing = :v', { ':v': null }, true],
  ];
  test.each(cases)('%s is %s', async (expression, values, holds) => {
    await local.doc.send(new PutCommand({ TableName, Item: { ...Key, ...STATE } }));
    const attempt = local.doc.send(
      new UpdateCommand({
        TableName,
        Key,
        UpdateExpression: 'SET touched = :touched',
        ConditionExpression: expression,
        ExpressionAttributeValues: { ...values, ':touched': true },
      }),
    );
    if (holds) await attempt;
    else expect((await refusal(attempt)).name).toBe('ConditionalCheckFailedException');
    const { Item } = await local.doc.send(new GetCommand({ TableName, Key }));
    expect(Item?.touched).toBe(holds ? true : undefined);
  });
});
