import { DynamoDBClient, paginateQuery } from '@aws-sdk/client-dynamodb';
import type { BenchCloud } from './cloud.ts';

interface AttributeValue {
  readonly [kind: string]: unknown;
}

type Item = { readonly [name: string]: AttributeValue };

/**
 * Bytes of an item as DynamoDB counts them: names and values in UTF-8; a number takes about a byte for two digits and one
 * more; true, false and null take one.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export const itemBytes = (item: Item): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value), 0);

const valueBytes = (value: AttributeValue): number => {
  const [kind, content] = Object.entries(value)[0] ?? [];
  switch (kind) {
    case 'S':
      return Buffer.byteLength(String(content));
    case 'N':
      return Math.ceil(String(content).replace(/^-?0*|\.|e.*$/gi, '').length / 2) + 1;
    case 'M':
      return 3 + Object.entries(content as object).length + itemBytes(content as Item);
    case 'L':
      return (content as AttributeValue[]).reduce((sum, one) => sum + 1 + valueBytes(one), 3);
    default:
      return 1;
  }
};

const textBytes = (value: AttributeValue | undefined): number =>
  typeof value?.S === 'string' ? Buffer.byteLength(value.S) : 0;

/** Text of a row of the feed: what was said, the names and arguments of the calls, the outcome. Not the row's own keeping. */
export const feedBytes = (item: Item): number => {
  const calls = Array.isArray(item.calls?.L) ? (item.calls.L as { readonly M?: Item }[]) : [];
  return textBytes(item.content) + calls.reduce((sum, { M }) => sum + textBytes(M?.name) + textBytes(M?.arguments), 0);
};

export interface Stored {
  /** All rows of the run together. */
  readonly bytes: number;
  /** Text of its feed. */
  readonly feedBytes: number;
  /** The execution's own row, which every step writes twice. */
  readonly executionRowBytes: number;
}

/** Everything a run keeps in the table. */
export const storedOf = async (cloud: BenchCloud, executionId: string): Promise<Stored> => {
  const { gatewayUrl: endpoint, region, operator: credentials, tableName, orgId } = cloud;
  const client = new DynamoDBClient({ endpoint, region, credentials });
  const pages = paginateQuery(
    { client },
    {
      TableName: tableName,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': { S: `ORG#${orgId}#EXEC#${executionId}` } },
    },
  );
  const items: Item[] = [];
  for await (const page of pages) items.push(...((page.Items ?? []) as unknown as Item[]));
  client.destroy();
  const keyed = (prefix: string): readonly Item[] => items.filter(({ sk }) => String(sk?.S).startsWith(prefix));
  const total = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0);
  return {
    bytes: total(items.map(itemBytes)),
    feedBytes: total(keyed('FEED#').map(feedBytes)),
    executionRowBytes: total(keyed('EXEC').map(itemBytes)),
  };
};
