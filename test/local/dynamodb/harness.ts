import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll } from 'vitest';
import { createDynamoDb, type DynamoDb } from '../../../local/dynamodb/dynamodb.ts';
import { type DynamoDbServer, startDynamoDbServer } from '../../../local/dynamodb/server.ts';
import { DEFINITION } from './definition.ts';

export interface Local {
  db: DynamoDb;
  server: DynamoDbServer;
  /** Plain values, as the product uses it. */
  doc: DynamoDBDocumentClient;
  client: DynamoDBClient;
  /** What the database takes for now, milliseconds since 1970. */
  clock: { now: number };
}

/** A database in memory behind the small server, for the tests of one file; SDK clients do not retry. */
export function useDynamoDb(): Local {
  const local = { clock: { now: Date.parse('2026-01-01T00:00:00Z') } } as Local;
  beforeAll(async () => {
    local.db = createDynamoDb({
      file: ':memory:',
      now: () => local.clock.now,
      region: 'us-east-1',
      account: '000000000000',
    });
    local.db.createTableIfMissing(DEFINITION, 'ttl');
    local.server = await startDynamoDbServer(local.db);
    local.client = new DynamoDBClient({
      endpoint: local.server.url,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      maxAttempts: 1,
    });
    local.doc = DynamoDBDocumentClient.from(local.client, { marshallOptions: { removeUndefinedValues: true } });
  });
  afterAll(async () => {
    local.client.destroy();
    await local.server.close();
    local.db.close();
  });
  return local;
}

/** What a refused call threw. */
export async function refusal(
  call: Promise<unknown>,
): Promise<{ name: string; message: string; [member: string]: unknown }> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(outcome instanceof Error)) throw new Error('The call was not refused.');
  return outcome as Error & { [member: string]: unknown };
}
