import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SSMClient } from '@aws-sdk/client-ssm';
import { createDynamoDb } from '../../../local/dynamodb/dynamodb.ts';
import type { BusEvent } from '../../../local/events/bus.ts';
import { createChaos } from '../../../local/gateway/chaos.ts';
import { type Gateway, startGateway } from '../../../local/gateway/gateway.ts';
import type { Principal } from '../../../local/gateway/principal.ts';
import type { Trace } from '../../../local/gateway/trace.ts';
import { LOCAL } from '../../../local/names.ts';
import { createEvents } from '../../../local/services/events.ts';
import type { Invocation } from '../../../local/services/invoke.ts';
import { createObjects } from '../../../local/services/objects.ts';
import { createParameters } from '../../../local/services/parameters.ts';
import { createQueues } from '../../../local/services/queues/queues.ts';
import type { Assembly, LocalStatement } from '../../../local/template/assembly.ts';

const arn = (service: string, rest: string): string => `arn:aws:${service}:${LOCAL.region}:${LOCAL.account}:${rest}`;

/** ARNs of the resources of the test cloud. */
export const ARN = {
  table: arn('dynamodb', 'table/data'),
  byOwner: arn('dynamodb', 'table/data/index/byOwner'),
  work: arn('sqs', 'work'),
  dead: arn('sqs', 'dead'),
  bucket: 'arn:aws:s3:::files-bucket',
  bus: arn('events', 'event-bus/app'),
  step: arn('lambda', 'function:app-step'),
  parameters: arn('ssm', 'parameter/app'),
};

const TABLE = {
  TableName: 'data',
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: ['pk', 'sk', 'ownerPk', 'ownerSk'].map((name) => ({ AttributeName: name, AttributeType: 'S' })),
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'byOwner',
      KeySchema: [
        { AttributeName: 'ownerPk', KeyType: 'HASH' },
        { AttributeName: 'ownerSk', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
  ],
};

export const assemblyOf = (gatewayUrl: string, queueAttributes: { [name: string]: string } = {}): Assembly => ({
  functions: [
    {
      logicalId: 'Step',
      name: 'app-step',
      arn: ARN.step,
      roleLogicalId: 'StepRole',
      codeDir: '/nowhere',
      handler: 'index.handler',
      environment: {},
      timeoutSeconds: 30,
      memoryMb: 128,
    },
  ],
  tables: [{ logicalId: 'Table', name: 'data', arn: ARN.table, definition: TABLE, ttlAttribute: undefined }],
  queues: [
    {
      logicalId: 'Work',
      name: 'work',
      arn: ARN.work,
      url: `${gatewayUrl}/${LOCAL.account}/work`,
      attributes: {
        VisibilityTimeout: '30',
        RedrivePolicy: JSON.stringify({ deadLetterTargetArn: ARN.dead, maxReceiveCount: 2 }),
        ...queueAttributes,
      },
    },
    { logicalId: 'Dead', name: 'dead', arn: ARN.dead, url: `${gatewayUrl}/${LOCAL.account}/dead`, attributes: {} },
  ],
  buckets: [{ logicalId: 'Bucket', name: 'files-bucket', arn: ARN.bucket }],
  buses: [{ logicalId: 'Bus', name: 'app', arn: ARN.bus }],
  rules: [],
  eventSourceMappings: [],
  routes: [],
  roles: [],
  permissions: [],
  outputs: {},
});

export const allow = (
  actions: string[],
  resources: string[],
  conditions: LocalStatement['conditions'] = {},
): LocalStatement => ({ effect: 'Allow', actions, resources, conditions });

export const deny = (
  actions: string[],
  resources: string[],
  conditions: LocalStatement['conditions'] = {},
): LocalStatement => ({ effect: 'Deny', actions, resources, conditions });

export const principal = (name: string, statements: Principal['statements']): Principal => ({
  accessKeyId: `AKIA${name.toUpperCase()}`,
  secretAccessKey: `secret-of-${name}`,
  arn: `arn:aws:sts::${LOCAL.account}:assumed-role/${name}/${name}`,
  name,
  statements,
});

export const OPERATOR = principal('operator', 'everything');

export interface Cloud {
  readonly url: string;
  readonly home: string;
  readonly gateway: Gateway;
  readonly events: { bus: string; event: BusEvent }[];
  readonly asyncInvocations: { name: string; payload: string }[];
  readonly killed: string[];
  queueUrl(name: string): string;
  /** Clients of one principal (a key pair), each call tried once. */
  clients(credentials?: { accessKeyId: string; secretAccessKey: string }): Clients;
  /** Stops the gateway and its services, and keeps the home. */
  stop(): Promise<void>;
  /** Stops and removes the home. */
  remove(): Promise<void>;
}

export interface Clients {
  readonly dynamodb: DynamoDBClient;
  readonly sqs: SQSClient;
  readonly s3: S3Client;
  readonly ssm: SSMClient;
  readonly events: EventBridgeClient;
  readonly lambda: LambdaClient;
}

export interface CloudOptions {
  readonly roles?: readonly Principal[];
  readonly chaos?: string;
  readonly home?: string;
  readonly now?: () => number;
  readonly queueAttributes?: { [name: string]: string };
  readonly invoke?: (name: string, payload: Buffer) => Promise<Invocation>;
  readonly trace?: Trace;
}

/** A whole gateway with real services in a home of its own. */
export async function startCloud(options: CloudOptions = {}): Promise<Cloud> {
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'gateway-'));
  const clock = options.now === undefined ? {} : { now: options.now };
  const dynamodb = createDynamoDb({
    file: join(home, 'table.sqlite'),
    region: LOCAL.region,
    account: LOCAL.account,
    ...clock,
  });
  dynamodb.createTableIfMissing(TABLE);
  const events: Cloud['events'] = [];
  const asyncInvocations: Cloud['asyncInvocations'] = [];
  const killed: string[] = [];
  // Only the name in a queue URL counts; the clients here have an endpoint of their own.
  const queueHost = 'http://127.0.0.1:1';
  const assembly = assemblyOf(queueHost, options.queueAttributes);
  const urlOf = (name: string): string => `${queueHost}/${LOCAL.account}/${name}`;
  const queues = createQueues({ file: join(home, 'queues.sqlite'), urlOf, ...clock });
  for (const queue of assembly.queues) queues.ensure(queue);
  const objects = await createObjects({ dataDir: join(home, 'objects') });
  for (const { name } of assembly.buckets) objects.ensureBucket(name);
  const onEvent = (bus: string, event: BusEvent): void => {
    events.push({ bus, event });
  };
  const services = {
    dynamodb,
    queues,
    objects,
    parameters: createParameters({ file: join(home, 'parameters.json'), ...clock }),
    events: createEvents({ busNames: assembly.buses.map(({ name }) => name), onEvent, ...clock }),
    functions: {
      functionNames: assembly.functions.map(({ name }) => name),
      invoke: options.invoke ?? (async (_name: string, payload: Buffer) => ({ status: 200, payload })),
      invokeAsync: (name: string, payload: Buffer) => {
        asyncInvocations.push({ name, payload: payload.toString() });
      },
    },
  };
  const gateway = await startGateway({
    port: 0,
    assembly,
    services,
    principals: [OPERATOR, ...(options.roles ?? [])],
    chaos: createChaos(options.chaos ?? ''),
    killCaller: (name) => killed.push(name),
    log: (line) => console.error(line),
    trace: options.trace,
    ...clock,
  });
  const open: { destroy(): void }[] = [];
  const stop = async (): Promise<void> => {
    for (const client of open) client.destroy();
    await gateway.close();
    queues.close();
    await objects.close();
    dynamodb.close();
  };
  return {
    url: gateway.url,
    home,
    gateway,
    events,
    asyncInvocations,
    killed,
    queueUrl: (name) => `${gateway.url}/${LOCAL.account}/${name}`,
    clients(credentials = OPERATOR) {
      const { accessKeyId, secretAccessKey } = credentials;
      const config = {
        region: LOCAL.region,
        endpoint: gateway.url,
        credentials: { accessKeyId, secretAccessKey },
        maxAttempts: 1,
      };
      const clients: Clients = {
        dynamodb: new DynamoDBClient(config),
        sqs: new SQSClient(config),
        s3: new S3Client({ ...config, forcePathStyle: true }),
        ssm: new SSMClient(config),
        events: new EventBridgeClient(config),
        lambda: new LambdaClient(config),
      };
      open.push(...Object.values(clients));
      return clients;
    },
    stop,
    async remove() {
      await stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** The error that a call ends with. Fails the test when it does not fail. */
export async function errorOf(
  call: Promise<unknown>,
): Promise<Error & { Code?: string; Message?: string; $metadata?: { httpStatusCode?: number } }> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(outcome instanceof Error)) throw new Error('The call was expected to fail and did not.');
  return outcome;
}
