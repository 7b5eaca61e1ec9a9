import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SSMClient } from '@aws-sdk/client-ssm';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/**
 * SDK clients, each made when first asked for and kept for the life of the process (its connections survive between
 * invocations). Region, credentials and `AWS_ENDPOINT_URL` are the SDK's own business.
 *
 * Time-outs: the SDK has none by default, so a connection that went dead while the process was frozen would hang until
 * the function's own time-out. `requestTimeout` only warns unless `throwOnRequestTimeout` is set.
 *
 * `PURE` lets a bundle leave out the clients that its function never asks for: a call might have effects, esbuild must
 * assume, and 200 KB of S3 and SSM would be loaded by functions that have neither.
 */
const lazily = <T>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
};

const within = (requestTimeout: number) => ({
  requestHandler: { connectionTimeout: 1000, requestTimeout, throwOnRequestTimeout: true },
});

/**
 * DynamoDB answers in milliseconds, a full page or a transaction of 100 in well under a second; 3 s means the connection
 * is lost. Four tries take 12 s at worst, which leaves a step half of its 30 s lease.
 */
export const dynamoDb = /* @__PURE__ */ lazily(() =>
  DynamoDBDocumentClient.from(new DynamoDBClient({ ...within(3000), maxAttempts: 4 })),
);

/** A lost response means the message may be there twice; receivers expect copies anyway. */
export const sqs = /* @__PURE__ */ lazily(() => new SQSClient({ ...within(3000), maxAttempts: 4 }));

/**
 * Objects are up to some megabytes, hence 10 s. Checksums only where S3 requires them: by default the SDK signs a CRC
 * into presigned uploads, which the uploader then cannot know.
 */
export const s3 = /* @__PURE__ */ lazily(
  () => new S3Client({ ...within(10_000), maxAttempts: 3, requestChecksumCalculation: 'WHEN_REQUIRED' }),
);

/** Parameter Store allows 40 reads a second by default; more tries ride out a burst of cold starts. */
export const ssm = /* @__PURE__ */ lazily(() => new SSMClient({ ...within(3000), maxAttempts: 6 }));

export const eventBridge = /* @__PURE__ */ lazily(() => new EventBridgeClient({ ...within(3000), maxAttempts: 4 }));
