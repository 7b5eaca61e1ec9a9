import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { GetCommand, NumberValue, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { TABLE } from './definition.ts';
import { refusal, useDynamoDb } from './harness.ts';

const local = useDynamoDb();
const TableName = TABLE;
const put = (Item: { [name: string]: unknown }) => local.doc.send(new PutCommand({ TableName, Item }));
const Key = { pk: 'limit', sk: '1' };

const KB = 1024;
/** pk and sk with their names are 2 + 5 + 2 + 1 bytes, the name of the text 4. */
const textOf = (bytes: number) => 'x'.repeat(bytes - 14);

test('an item may be 400 KB in UTF-8, not a byte more', async () => {
  await put({ ...Key, text: textOf(400 * KB) });
  expect(await refusal(put({ ...Key, text: textOf(400 * KB + 1) }))).toMatchObject({
    name: 'ValidationException',
    message: 'Item size has exceeded the maximum allowed size',
  });
  // 250 K characters, but 500 KB.
  expect((await refusal(put({ ...Key, text: 'ü'.repeat(250 * KB) }))).message).toContain('exceeded the maximum');
  const grown = await refusal(
    local.doc.send(
      new UpdateCommand({
        TableName,
        Key,
        UpdateExpression: 'SET more = :more',
        ExpressionAttributeValues: { ':more': 'x' },
      }),
    ),
  );
  expect(grown.message).toBe('Item size to update has exceeded the maximum allowed size');
  const { Item } = await local.doc.send(new GetCommand({ TableName, Key }));
  expect(Item).toEqual({ ...Key, text: textOf(400 * KB) });
});

describe('items that do not fit the table', () => {
  test.each([
    ['no sort key', { pk: 'x' }, 'Missing the key sk in the item'],
    ['an empty hash key', { pk: '', sk: 'x' }, 'cannot contain an empty string value. Key: pk'],
    ['an empty sort key', { pk: 'x', sk: '' }, 'cannot contain an empty string value. Key: sk'],
    ['a number as key', { pk: 'x', sk: 1 }, 'Type mismatch for key sk expected: S actual: N'],
    ['a long hash key', { pk: 'ü'.repeat(1025), sk: 'x' }, 'Size of hashkey has exceeded'],
    ['a long sort key', { pk: 'x', sk: 'ü'.repeat(513) }, 'Aggregated size of all range keys has exceeded'],
    ['a text as number key of an index', { pk: 'x', sk: 'x', dueAt: 'soon' }, 'Expected: N Actual: S IndexName: due'],
    ['null as key of an index', { pk: 'x', sk: 'x', ownerPk: null }, 'Expected: S Actual: NULL IndexName: byOwner'],
    ['an empty key of an index', { pk: 'x', sk: 'x', ownerSk: '' }, 'IndexName: byOwner, IndexKey: ownerSk'],
  ])('%s', async (_, item, message) => {
    expect(await refusal(put(item))).toMatchObject({
      name: 'ValidationException',
      message: expect.stringContaining(message),
    });
  });

  test('keys of full length are taken', async () => {
    const item = { pk: 'p'.repeat(2048), sk: 's'.repeat(1024) };
    await put(item);
    expect((await local.doc.send(new GetCommand({ TableName, Key: item }))).Item).toEqual(item);
  });
});

describe('keys that do not fit the table', () => {
  test.each([
    ['half a key', { pk: 'x' }, 'does not match the schema'],
    ['more than a key', { pk: 'x', sk: 'y', z: 1 }, 'does not match the schema'],
    ['the wrong type', { pk: 'x', sk: 1 }, 'does not match the schema'],
    ['an empty key', { pk: 'x', sk: '' }, 'cannot contain an empty string value'],
  ])('%s', async (_, key, message) => {
    for (const command of [
      new GetCommand({ TableName, Key: key }),
      new UpdateCommand({ TableName, Key: key, UpdateExpression: 'REMOVE a' }),
    ]) {
      const refused = await refusal(local.doc.send(command as GetCommand));
      expect(refused).toMatchObject({ name: 'ValidationException', message: expect.stringContaining(message) });
    }
  });
});

describe('numbers', () => {
  const store = async (text: string) => {
    await put({ ...Key, n: NumberValue.from(text) });
    const answer = await local.client.send(
      new PutItemCommand({
        TableName,
        Item: { pk: { S: Key.pk }, sk: { S: Key.sk } },
        ReturnValues: 'ALL_OLD',
      }),
    );
    return answer.Attributes?.n?.N;
  };

  test.each([
    ['007.10', '7.1'],
    ['-0', '0'],
    ['1e3', '1000'],
    ['1E-2', '0.01'],
    ['12345678901234567890123456789012345678', '12345678901234567890123456789012345678'],
    ['9.9999999999999999999999999999999999999e125', `${'9'.repeat(38)}${'0'.repeat(88)}`],
    ['1e-130', `0.${'0'.repeat(129)}1`],
  ])('%s is kept as %s', async (text, kept) => {
    expect(await store(text)).toBe(kept);
  });

  test.each([
    ['123456789012345678901234567890123456789', 'more than 38 significant digits'],
    ['1e126', 'Number overflow'],
    ['1e-131', 'Number underflow'],
    ['ten', 'cannot be converted to a numeric value'],
    ['', 'cannot be converted to a numeric value'],
  ])('"%s" is refused', async (text, message) => {
    const raw = new PutItemCommand({ TableName, Item: { pk: { S: 'n' }, sk: { S: '1' }, n: { N: text } } });
    expect(await refusal(local.client.send(raw))).toMatchObject({
      name: 'ValidationException',
      message: expect.stringContaining(message),
    });
  });

  test('a sum must fit as well', async () => {
    await put({ ...Key, n: NumberValue.from('99999999999999999999999999999999999999') });
    const add = (by: string) =>
      local.doc.send(
        new UpdateCommand({
          TableName,
          Key,
          UpdateExpression: 'ADD n :by',
          ExpressionAttributeValues: { ':by': NumberValue.from(by) },
        }),
      );
    expect((await refusal(add('0.1'))).message).toContain('more than 38 significant digits');
    await add('1');
  });
});

describe('values', () => {
  test.each([
    ['an empty set', { SS: [] }, 'may not be empty'],
    ['a set with a repeat', { NS: ['1', '1.0'] }, 'contains duplicates'],
    ['a NULL that is false', { NULL: false }, 'Null attribute value types must have the value of true'],
    ['two types at once', { S: 'a', N: '1' }, 'more than one datatypes'],
    ['no type', {}, 'must contain exactly one of the supported datatypes'],
  ])('%s is refused', async (_, value, message) => {
    const body = { TableName, Item: { pk: { S: 'v' }, sk: { S: '1' }, v: value } };
    const answer = local.db.handle('PutItem', body);
    expect(answer.status).toBe(400);
    expect(String(answer.body.__type)).toMatch(/#(Validation|Serialization)Exception$/);
    expect(answer.body.message).toContain(message);
  });

  test('documents may nest 32 levels, by an update as well', async () => {
    const nested = (levels: number): unknown => (levels === 0 ? 'end' : { a: nested(levels - 1) });
    const tooDeep = 'Nesting Levels have exceeded supported limits';
    await put({ ...Key, doc: nested(32) });
    for (const levels of [33, 60, 500])
      expect((await refusal(put({ ...Key, doc: nested(levels) }))).message).toBe(tooDeep);
    const deepen = new UpdateCommand({
      TableName,
      Key,
      UpdateExpression: 'SET doc.a = :deep',
      ExpressionAttributeValues: { ':deep': nested(32) },
    });
    expect((await refusal(local.doc.send(deepen))).message).toBe(tooDeep);
  });

  test('legacy parameters are refused rather than ignored', () => {
    const Item = { pk: { S: 'v' }, sk: { S: '1' } };
    const answer = local.db.handle('PutItem', { TableName, Item, Expected: { pk: { Exists: false } } });
    expect(answer).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('legacy parameter Expected') },
    });
  });

  test('the body of a request is left as it was', () => {
    const body = { TableName, Item: { pk: { S: 'b' }, sk: { S: '1' }, n: { N: '01' } }, Unknown: { x: 1 } };
    const before = structuredClone(body);
    expect(local.db.handle('PutItem', body).status).toBe(200);
    expect(body).toEqual(before);
  });
});
