import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { TABLE } from '../../lib/names.ts';
import { createDynamoDb } from '../../local/dynamodb/dynamodb.ts';
import { startDynamoDbServer } from '../../local/dynamodb/server.ts';

export interface TestTable {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  close(): Promise<void>;
}

/**
 * A fresh table with both indexes over the wire: in the local DynamoDB, or in whatever `DYNAMODB_ENDPOINT` names.
 */
export const startDynamoDbTable = async (): Promise<TestTable> => {
  const given = process.env.DYNAMODB_ENDPOINT;
  const local = given === undefined ? await startLocal() : undefined;
  const client = new DynamoDBClient({
    endpoint: given ?? local?.url ?? '',
    region: 'eu-central-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const tableName = `contract-${process.pid}-${Date.now()}`;
  await client.send(new CreateTableCommand(definition(tableName)));
  return {
    client: DynamoDBDocumentClient.from(client),
    tableName,
    async close() {
      client.destroy();
      await local?.close();
    },
  };
};

const startLocal = async (): Promise<{ readonly url: string; close(): Promise<void> }> => {
  const db = createDynamoDb({ file: ':memory:', region: 'eu-central-1', account: '000000000000' });
  const server = await startDynamoDbServer(db);
  return {
    url: server.url,
    async close() {
      await server.close();
      db.close();
    },
  };
};

const definition = (TableName: string): CreateTableCommand['input'] => ({
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [TABLE, TABLE.byOwner, TABLE.due].flatMap(({ pk, sk }) =>
    [pk, sk].map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
  ),
  KeySchema: keySchema(TABLE),
  GlobalSecondaryIndexes: [TABLE.byOwner, TABLE.due].map((index) => ({
    IndexName: index.index,
    KeySchema: keySchema(index),
    Projection: { ProjectionType: 'KEYS_ONLY' as const },
  })),
});

const keySchema = ({ pk, sk }: { readonly pk: string; readonly sk: string }) => [
  { AttributeName: pk, KeyType: 'HASH' as const },
  { AttributeName: sk, KeyType: 'RANGE' as const },
];
