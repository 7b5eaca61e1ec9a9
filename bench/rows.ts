import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, paginateQuery, paginateScan, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { BenchCloud } from './cloud.ts';

export interface Row {
  readonly [attribute: string]: unknown;
}

/** The table as the person at the keyboard reaches it: for what no route of the API tells or brings about. */
export interface Rows {
  /** Sets attributes of one row. */
  change(key: { readonly pk: string; readonly sk: string }, attributes: Row): Promise<void>;
  /** Rows of a partition whose sort key begins like this. */
  under(pk: string, prefix: string): Promise<readonly Row[]>;
  /** Every row with this sort key. Reads the whole table. */
  withSortKey(sk: string): Promise<readonly Row[]>;
}

export const withRows = async <T>(cloud: BenchCloud, use: (rows: Rows) => Promise<T>): Promise<T> => {
  const { gatewayUrl: endpoint, region, operator: credentials, tableName: TableName } = cloud;
  const plain = new DynamoDBClient({ endpoint, region, credentials });
  const client = DynamoDBDocumentClient.from(plain);
  const all = async (pages: AsyncIterable<{ readonly Items?: Row[] | undefined }>): Promise<readonly Row[]> => {
    const items: Row[] = [];
    for await (const page of pages) items.push(...(page.Items ?? []));
    return items;
  };
  try {
    return await use({
      async change(Key, attributes) {
        const entries = Object.entries(attributes);
        await client.send(
          new UpdateCommand({
            TableName,
            Key,
            UpdateExpression: `SET ${entries.map((_, index) => `#n${index} = :v${index}`).join(', ')}`,
            ExpressionAttributeNames: Object.fromEntries(entries.map(([name], index) => [`#n${index}`, name])),
            ExpressionAttributeValues: Object.fromEntries(entries.map(([, value], index) => [`:v${index}`, value])),
          }),
        );
      },
      under: (pk, prefix) =>
        all(
          paginateQuery(
            { client },
            {
              TableName,
              ConsistentRead: true,
              KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
              ExpressionAttributeValues: { ':pk': pk, ':prefix': prefix },
            },
          ),
        ),
      withSortKey: (sk) =>
        all(
          paginateScan(
            { client },
            {
              TableName,
              ConsistentRead: true,
              FilterExpression: 'sk = :sk',
              ExpressionAttributeValues: { ':sk': sk },
            },
          ),
        ),
    });
  } finally {
    plain.destroy();
  }
};
