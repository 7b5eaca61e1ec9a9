import { DynamoDBClient, paginateQuery } from '@aws-sdk/client-dynamodb';
import { FEED_ATTRIBUTES as F } from '../lib/execution/feed.ts';
import { itemSize } from '../local/dynamodb/values/item-size.ts';
import type { Attributes, AttributeValue } from '../local/dynamodb/values/values.ts';
import type { BenchCloud } from './cloud.ts';

type Item = Attributes;

const textBytes = (value: AttributeValue | undefined): number =>
  typeof value?.S === 'string' ? Buffer.byteLength(value.S) : 0;

/** Text of a row of the feed: what was said, the names and arguments of the calls, the outcome. Not the row's own keeping. */
export const feedBytes = (item: Item): number => {
  const calls = item[F.calls]?.L ?? [];
  return (
    textBytes(item[F.content]) + calls.reduce((sum, { M }) => sum + textBytes(M?.name) + textBytes(M?.arguments), 0)
  );
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
  for await (const page of pages) items.push(...((page.Items ?? []) as Item[]));
  client.destroy();
  const keyed = (prefix: string): readonly Item[] => items.filter(({ sk }) => String(sk?.S).startsWith(prefix));
  const total = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0);
  return {
    bytes: total(items.map(itemSize)),
    feedBytes: total(keyed('FEED#').map(feedBytes)),
    executionRowBytes: total(keyed('EXEC').map(itemSize)),
  };
};
