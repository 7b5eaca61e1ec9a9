import type { LocalTable } from '../../template/assembly.ts';
import type { AwsRequest } from '../aws-request.ts';
import { isObject, type JsonObject, listOf, objectOf, stringOf } from '../json.ts';
import { toArn } from './arns.ts';
import type { Ask } from './policy.ts';

/** Partition keys of the tables and their indexes: `table` or `table/index` → attribute name. */
export class LeadingKeys {
  private readonly names = new Map<string, string>();

  constructor(tables: readonly LocalTable[]) {
    for (const { name, definition } of tables) {
      this.add(name, definition);
      for (const index of listOf(definition.GlobalSecondaryIndexes)) {
        const given = objectOf(index);
        this.add(`${name}/${stringOf(given.IndexName) ?? ''}`, given);
      }
    }
  }

  of(table: string, index?: string): string | undefined {
    const name = table.slice(table.lastIndexOf('/') + 1);
    return this.names.get(index === undefined ? name : `${name}/${index}`);
  }

  private add(id: string, schema: JsonObject): void {
    for (const element of listOf(schema.KeySchema)) {
      const { KeyType: type, AttributeName: name } = objectOf(element);
      if (type === 'HASH' && typeof name === 'string') this.names.set(id, name);
    }
  }
}

type Build = (action: string, table: string, keys?: readonly (string | undefined)[], index?: string) => Ask;

/** Actions in a transaction are those of its items; there is no permission called TransactWriteItems. */
const TRANSACTION_ACTIONS = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
};

/**
 * What a DynamoDB request asks for.
 * @see https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
 */
export function dynamoDbAsks(
  request: AwsRequest,
  leading: LeadingKeys,
  base: ReadonlyMap<string, readonly string[]>,
): Ask[] {
  const { operation, input } = request;
  const transaction = operation === 'TransactWriteItems' || operation === 'TransactGetItems';
  const build: Build = (action, table, keys = [], index) => {
    const context = new Map(base);
    const known = keys.filter((key) => key !== undefined);
    if (known.length > 0) context.set('dynamodb:leadingkeys', known);
    if (transaction) context.set('dynamodb:enclosingoperation', [operation]);
    const arn = toArn('dynamodb', 'table/', table);
    return { action: `dynamodb:${action}`, resource: index === undefined ? arn : `${arn}/index/${index}`, context };
  };
  const keyIn = (table: string, item: unknown): string | undefined => {
    const name = leading.of(table);
    return name === undefined ? undefined : scalar(objectOf(item)[name]);
  };
  const items = listOf(input.TransactItems).flatMap((entry) => Object.entries(objectOf(entry)));
  const requests = Object.entries(objectOf(input.RequestItems));
  switch (operation) {
    case 'TransactWriteItems':
      return items.map(([kind, value]) => {
        const write = objectOf(value);
        const table = stringOf(write.TableName) ?? '';
        const action = TRANSACTION_ACTIONS[kind as keyof typeof TRANSACTION_ACTIONS] ?? kind;
        return build(action, table, [keyIn(table, write.Item ?? write.Key)]);
      });
    case 'TransactGetItems':
      return items.map(([, value]) => {
        const get = objectOf(value);
        const table = stringOf(get.TableName) ?? '';
        return build('GetItem', table, [keyIn(table, get.Key)]);
      });
    case 'BatchGetItem':
      return requests.map(([table, value]) =>
        build(
          operation,
          table,
          listOf(objectOf(value).Keys).map((key) => keyIn(table, key)),
        ),
      );
    case 'BatchWriteItem':
      // AWS knows one permission for the batch, BatchWriteItem; PutItem alone does not allow it.
      return requests.map(([table, value]) =>
        build(
          operation,
          table,
          listOf(value).map((write) => {
            const { PutRequest: put, DeleteRequest: remove } = objectOf(write);
            return keyIn(table, isObject(put) ? put.Item : objectOf(remove).Key);
          }),
        ),
      );
    case 'ListTables':
    case 'DescribeLimits':
    case 'DescribeEndpoints':
      return [{ action: `dynamodb:${operation}`, resource: '*', context: base }];
  }
  const table = stringOf(input.TableName) ?? stringOf(input.ResourceArn) ?? '';
  const index = stringOf(input.IndexName);
  if (operation === 'Query') {
    const name = leading.of(table, index);
    // A key condition that cannot be read here must not count as one without a key: no key is an empty text.
    return [build(operation, table, name === undefined ? [] : [queriedKey(input, name) ?? ''], index)];
  }
  if (operation === 'Scan') return [build(operation, table, [], index)];
  const key = input.Item ?? input.Key;
  return [build(operation, table, key === undefined ? [] : [keyIn(table, key)])];
}

/** The value that a Query's key condition demands of the partition key. */
function queriedKey(input: JsonObject, name: string): string | undefined {
  const legacy = objectOf(objectOf(input.KeyConditions)[name]);
  const legacyValue = listOf(legacy.AttributeValueList)[0];
  if (legacyValue !== undefined) return scalar(legacyValue);
  const names = objectOf(input.ExpressionAttributeNames);
  const values = objectOf(input.ExpressionAttributeValues);
  for (const [, path = '', value = ''] of (stringOf(input.KeyConditionExpression) ?? '').matchAll(
    /(#?[\w.-]+)\s*=\s*(:\w+)/g,
  )) {
    if ((path.startsWith('#') ? names[path] : path) === name) return scalar(values[value]);
  }
  return undefined;
}

const scalar = (value: unknown): string | undefined => {
  const given = objectOf(value);
  return stringOf(given.S) ?? stringOf(given.N) ?? stringOf(given.B);
};
