import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Cloud, OPERATOR, startCloud } from '../local/gateway/cloud.ts';
import { signedRequest } from '../local/gateway/raw.ts';
import { runs, TEST_MS } from './support/runs.ts';
import { portOf, request, say, speech } from './support/wire.ts';

let cloud: Cloud;
const logged: string[] = [];
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation((line: unknown) => void logged.push(String(line)));
  cloud = await startCloud();
});
afterAll(async () => {
  await cloud.remove();
  vi.restoreAllMocks();
});

const TARGETS: { readonly [service: string]: readonly string[] } = {
  dynamodb: [
    'GetItem',
    'PutItem',
    'UpdateItem',
    'DeleteItem',
    'Query',
    'Scan',
    'BatchGetItem',
    'TransactWriteItems',
    'TransactGetItems',
    'DescribeTable',
    'Nothing',
  ],
  sqs: [
    'SendMessage',
    'SendMessageBatch',
    'DeleteMessage',
    'DeleteMessageBatch',
    'ChangeMessageVisibility',
    'GetQueueAttributes',
    'GetQueueUrl',
    'ListQueues',
    'Nothing',
  ],
  ssm: ['GetParameter', 'GetParameters', 'GetParametersByPath', 'PutParameter', 'DeleteParameter', 'Nothing'],
  events: ['PutEvents', 'Nothing'],
};
const PREFIX: { readonly [service: string]: string } = {
  dynamodb: 'DynamoDB_20120810',
  sqs: 'AmazonSQS',
  ssm: 'AmazonSSM',
  events: 'AWSEvents',
};

const FIELDS = [
  'TableName',
  'Key',
  'Item',
  'KeyConditionExpression',
  'UpdateExpression',
  'ConditionExpression',
  'ExpressionAttributeValues',
  'ExpressionAttributeNames',
  'TransactItems',
  'RequestItems',
  'IndexName',
  'Limit',
  'ExclusiveStartKey',
  'ClientRequestToken',
  'QueueUrl',
  'QueueName',
  'MessageBody',
  'DelaySeconds',
  'Entries',
  'ReceiptHandle',
  'VisibilityTimeout',
  'MessageAttributes',
  'MessageGroupId',
  'AttributeNames',
  'Name',
  'Names',
  'Path',
  'Value',
  'Type',
  'Overwrite',
  'WithDecryption',
  'MaxResults',
  'NextToken',
] as const;

const leaf = (): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.constantFrom<unknown>(
      'data',
      'byOwner',
      'work',
      'http://127.0.0.1:1/000000000000/work',
      '/app/x',
      'SecureString',
      '',
      'pk = :v',
      'SET a = :v',
      'SET',
      'attribute_exists(pk) AND (',
      '#a',
      'a',
      null,
      true,
      -1,
      0,
      1e300,
      5,
      { pk: { S: 'a' }, sk: { S: 'b' } },
      { ':v': { S: 'x' } },
      { ':v': { N: 'x' } },
      { S: 1 },
      { M: { a: { L: [{ N: '1' }] } } },
      [{ Id: '1', MessageBody: 'x' }],
      [{ Put: { TableName: 'data', Item: {} } }],
      [{ Source: 's', DetailType: 'd', Detail: '{', EventBusName: 'app' }],
      { data: { Keys: [] } },
      {},
      [],
      [null],
      'x'.repeat(5_000),
    ),
    fc.jsonValue(),
  );

const input = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .dictionary(fc.constantFrom(...FIELDS), leaf(), { maxKeys: 7, noNullPrototype: true })
      .map((value) => JSON.stringify(value)),
  },
  { weight: 1, arbitrary: fc.json() },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '{', '[]', 'null', '"x"', '['.repeat(50_000), '{"__proto__":{"TableName":"data"}}'),
  },
);

const jsonCall = fc
  .constantFrom(...Object.keys(TARGETS))
  .chain((service) => fc.tuple(fc.constant(service), fc.constantFrom(...(TARGETS[service] ?? [])), input));

const S3_PATHS = [
  '/files-bucket',
  '/files-bucket/key',
  '/files-bucket/a%20b',
  '/files-bucket/..%2f..%2fx',
  '/',
  '/nobody/x',
  '/files-bucket/%',
  '//',
  '/files-bucket//a',
  '/files-bucket/%00',
];

const works = async (): Promise<void> => {
  const { url, init } = await signedRequest(cloud.url, OPERATOR, {
    service: 'sqs',
    path: '/',
    headers: { 'x-amz-target': 'AmazonSQS.ListQueues', 'content-type': 'application/x-amz-json-1.0' },
    body: '{}',
  });
  expect((await fetch(url, init)).status).toBe(200);
};

describe('the gateway', () => {
  it('answers or closes whatever bytes come, and works on', { timeout: TEST_MS }, async () => {
    const paths = fc.oneof(
      fc.constantFrom(
        '/',
        '*',
        '',
        '/2015-03-31/functions/app-step/invocations',
        '/files-bucket/key?a=%',
        '/?X-Amz-Signature=1&X-Amz-Algorithm=x',
        'http://x/',
      ),
      fc.webPath(),
    );
    await fc.assert(
      fc.asyncProperty(speech(request(paths, input)), async ({ pieces, leave }) => {
        const heard = await say(portOf(cloud.url), pieces, leave);
        expect(heard.closed || heard.status !== undefined).toBe(true);
        expect(heard.status ?? 400).not.toBe(500);
        expect(logged.splice(0)).toEqual([]);
      }),
      runs(200),
    );
    await works();
  });

  it('refuses odd input to an operation as AWS would, never by failing', { timeout: TEST_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(jsonCall, async ([service, operation, body]) => {
        const { url, init } = await signedRequest(cloud.url, OPERATOR, {
          service,
          path: '/',
          headers: { 'x-amz-target': `${PREFIX[service]}.${operation}`, 'content-type': 'application/x-amz-json-1.0' },
          body,
        });
        const answer = await fetch(url, init);
        const text = await answer.text();
        expect(
          [answer.status, ...logged.splice(0)],
          `${operation} ${body.slice(0, 500)} ${text.slice(0, 300)}`,
        ).toEqual([answer.status]);
        expect(answer.status, `${operation} ${body.slice(0, 500)}`).toBeLessThan(500);
        expect(() => JSON.parse(text)).not.toThrow();
      }),
      runs(300),
    );
    await works();
  });

  it('does so with objects', { timeout: TEST_MS }, async () => {
    const query = fc.dictionary(
      fc.constantFrom('list-type', 'prefix', 'uploads', 'uploadId', 'partNumber', 'delete', 'max-keys', 'x'),
      fc.constantFrom('2', '', '-1', 'x', '%'),
      { maxKeys: 2, noNullPrototype: true },
    );
    const headers = fc.dictionary(
      fc.constantFrom('if-none-match', 'if-match', 'range', 'x-amz-meta-a', 'x-amz-copy-source'),
      fc.constantFrom('*', '"x"', 'bytes=5-1', 'bytes=0-', 'x'),
      { maxKeys: 2, noNullPrototype: true },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'PUT', 'DELETE', 'HEAD', 'POST'),
        fc.constantFrom(...S3_PATHS),
        query,
        headers,
        fc.string(),
        async (method, path, asked, more, body) => {
          const hasBody = method === 'PUT' || method === 'POST';
          const { url, init } = await signedRequest(cloud.url, OPERATOR, {
            service: 's3',
            method,
            path,
            query: asked,
            headers: more,
            ...(hasBody ? { body } : {}),
          });
          const answer = await fetch(url, init);
          await answer.arrayBuffer();
          expect(
            [answer.status, ...logged.splice(0)],
            `${method} ${path} ${JSON.stringify(asked)} ${JSON.stringify(more)}`,
          ).toEqual([answer.status]);
          expect(answer.status === 501 || answer.status < 500).toBe(true);
        },
      ),
      runs(150),
    );
    await works();
  });
});
