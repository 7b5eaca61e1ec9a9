import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Cloud } from './cloud.ts';

export const BUS_NAME = 'baton-dev';
const BUCKET = 'baton-dev-000000000000-us-east-1';

/** AWS clients with the rights of the person at the keyboard, for what cannot be done over HTTP. */
export interface Operator {
  readonly table: DynamoDBDocumentClient;
  readonly sqs: SQSClient;
  readonly events: EventBridgeClient;
  queueUrl(name: string): string;
  /** Messages that were set aside, as they were kept. */
  parked(): Promise<readonly string[]>;
  /** Removes the objects whose keys begin so, which no function may. */
  loseObjects(prefix?: string): Promise<void>;
  close(): void;
}

export const operatorOf = (cloud: Pick<Cloud, 'local'>): Operator => {
  const { gatewayUrl, region, operator } = cloud.local();
  const options = { endpoint: gatewayUrl, region, credentials: operator };
  const dynamodb = new DynamoDBClient(options);
  const sqs = new SQSClient(options);
  const events = new EventBridgeClient(options);
  const s3 = new S3Client({ ...options, forcePathStyle: true });
  return {
    table: DynamoDBDocumentClient.from(dynamodb),
    sqs,
    events,
    queueUrl: (name) => `${gatewayUrl}/000000000000/${name}`,
    async parked() {
      const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix: 'parked/' }));
      return Promise.all(
        Contents.map(async ({ Key }) => {
          const { Body } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key }));
          return (await Body?.transformToString()) ?? '';
        }),
      );
    },
    async loseObjects(prefix = '') {
      const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix: prefix }));
      for (const { Key } of Contents) await s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key }));
    },
    close() {
      for (const client of [dynamodb, sqs, events, s3]) client.destroy();
    },
  };
};
