import { describe, expect, test } from 'vitest';
import type { Assembly } from '../../../local/template/assembly.ts';
import { findTemplate, readAssembly } from '../../../local/template/read-assembly.ts';
import { fixtureTemplate, type RawTemplate, writeTemplate } from '../fixtures/template.ts';

const PLACE = {
  region: 'us-east-1',
  account: '000000000000',
  partition: 'aws',
  gatewayUrl: 'http://127.0.0.1:4566',
  apiUrl: 'http://127.0.0.1:4000',
};
const read = (template: RawTemplate = fixtureTemplate()): Assembly => readAssembly(writeTemplate(template), PLACE);

/** The fixture with one property of one resource replaced. */
const having = (logicalId: string, property: string, value: unknown): RawTemplate => {
  const template = fixtureTemplate();
  const resource = template.Resources[logicalId];
  if (resource === undefined) throw new Error(`no ${logicalId}`);
  resource.Properties = { ...(resource.Properties as object), [property]: value };
  return template;
};

describe('what the template says', () => {
  const assembly = read();

  test('functions with resolved environment, role and code', () => {
    expect(assembly.functions.find(({ logicalId }) => logicalId === 'worker')).toMatchObject({
      name: 'app-worker',
      arn: 'arn:aws:lambda:us-east-1:000000000000:function:app-worker',
      roleLogicalId: 'workerRole',
      handler: 'index.worker',
      timeoutSeconds: 10,
      memoryMb: 128,
      environment: {
        TABLE_NAME: 'app-test-Table',
        QUEUE_URL: 'http://127.0.0.1:4566/000000000000/jobs',
        STAGE: 'test-us-east-1',
      },
    });
    expect(assembly.functions[0]?.codeDir).toMatch(/handlers$/);
  });

  test('the table as CreateTable takes it', () => {
    expect(assembly.tables).toEqual([
      {
        logicalId: 'Table',
        name: 'app-test-Table',
        arn: 'arn:aws:dynamodb:us-east-1:000000000000:table/app-test-Table',
        ttlAttribute: 'ttl',
        definition: {
          TableName: 'app-test-Table',
          BillingMode: 'PAY_PER_REQUEST',
          KeySchema: expect.arrayContaining([{ AttributeName: 'sk', KeyType: 'RANGE' }]),
          AttributeDefinitions: expect.arrayContaining([{ AttributeName: 'duePk', AttributeType: 'S' }]),
          GlobalSecondaryIndexes: [
            {
              IndexName: 'due',
              KeySchema: [{ AttributeName: 'duePk', KeyType: 'HASH' }],
              Projection: { ProjectionType: 'KEYS_ONLY' },
            },
          ],
        },
      },
    ]);
  });

  test('queues with attributes as texts, the redrive policy with a local ARN', () => {
    const jobs = assembly.queues.find(({ name }) => name === 'jobs');
    expect(jobs).toMatchObject({
      url: 'http://127.0.0.1:4566/000000000000/jobs',
      attributes: { VisibilityTimeout: '60' },
    });
    expect(JSON.parse(jobs?.attributes.RedrivePolicy ?? '')).toEqual({
      deadLetterTargetArn: 'arn:aws:sqs:us-east-1:000000000000:app-test-Dead',
      maxReceiveCount: 20,
    });
  });

  test('roles with the statements of their own and of policies that name them', () => {
    expect(assembly.roles.find(({ logicalId }) => logicalId === 'workerRole')?.statements).toEqual([
      {
        effect: 'Allow',
        actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility'],
        resources: ['arn:aws:sqs:us-east-1:000000000000:jobs'],
        conditions: {},
      },
      {
        effect: 'Allow',
        actions: ['dynamodb:GetItem'],
        resources: [
          'arn:aws:dynamodb:us-east-1:000000000000:table/app-test-Table',
          'arn:aws:dynamodb:us-east-1:000000000000:table/app-test-Table/index/*',
        ],
        conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['ORG#*'] } },
      },
    ]);
    expect(assembly.roles.find(({ logicalId }) => logicalId === 'httpRole')?.statements).toEqual([]);
  });

  test('rules, mappings, routes, permissions and outputs', () => {
    expect(assembly.rules).toEqual([
      expect.objectContaining({ name: 'app-tick', busName: 'default', schedule: 'rate(1 minute)', enabled: true }),
      expect.objectContaining({
        name: 'app-run',
        arn: 'arn:aws:events:us-east-1:000000000000:rule/app/app-run',
        busName: 'app',
        pattern: { 'detail-type': ['Run Agent'] },
        targets: [{ arn: 'arn:aws:lambda:us-east-1:000000000000:function:app-tick', input: '{"fixed":true}' }],
      }),
    ]);
    expect(assembly.eventSourceMappings).toEqual([
      {
        logicalId: 'Mapping',
        queueArn: 'arn:aws:sqs:us-east-1:000000000000:jobs',
        functionArn: 'arn:aws:lambda:us-east-1:000000000000:function:app-worker',
        batchSize: 1,
        windowSeconds: 0,
        maxConcurrency: 10,
        reportsBatchItemFailures: true,
        enabled: true,
      },
    ]);
    const [route] = assembly.routes;
    expect(route).toMatchObject({ routeKey: 'ANY /{proxy+}', timeoutMs: 30_000 });
    expect(route?.sourceArn).toMatch(/^arn:aws:execute-api:us-east-1:000000000000:\w+\/\$default\/\*\/\{proxy\+\}$/);
    expect(assembly.permissions).toContainEqual({
      functionArn: 'arn:aws:lambda:us-east-1:000000000000:function:app-tick',
      principal: 'events.amazonaws.com',
      sourceArn: 'arn:aws:events:us-east-1:000000000000:rule/app-tick',
    });
    expect(assembly.outputs).toEqual({ ApiUrl: 'http://127.0.0.1:4000', BootstrapFunctionName: 'app-maker' });
  });
});

describe('what cannot be played is refused by resource and property', () => {
  test.each([
    ['worker', 'Runtime', 'nodejs22.x', /worker\.Runtime: nodejs22\.x/],
    ['worker', 'Layers', ['arn'], /worker\.Layers/],
    ['worker', 'Handler', { 'Fn::ImportValue': 'x' }, /worker\.Handler: Fn::ImportValue/],
    ['worker', 'Handler', { 'Fn::If': ['Prod', 'a', 'b'] }, /worker\.Handler: Fn::If/],
    [
      'worker',
      'Environment',
      { Variables: { X: { Ref: 'Nowhere' } } },
      /worker\.Environment\.Variables\.X: Ref Nowhere/,
    ],
    ['worker', 'Environment', { Variables: { X: { 'Fn::GetAtt': ['Jobs', 'Colour'] } } }, /Jobs\.Colour/],
    ['worker', 'Environment', { Variables: { X: '{{resolve:ssm:/a}}' } }, /Variables\.X: the dynamic reference/],
    ['worker', 'Role', 'arn:aws:iam::1:role/other', /worker\.Role/],
    ['worker', 'MemorySize', 'much', /worker\.MemorySize: expected a number/],
    ['Table', 'BillingMode', 'PROVISIONED', /Table\.BillingMode/],
    ['Table', 'StreamSpecification', {}, /Table\.StreamSpecification/],
    [
      'workerRole',
      'ManagedPolicyArns',
      ['arn:aws:iam::aws:policy/AdministratorAccess'],
      /workerRole\.ManagedPolicyArns/,
    ],
    ['workerRole', 'PermissionsBoundary', 'arn', /workerRole\.PermissionsBoundary/],
    ['workerPolicy', 'PolicyDocument', { Statement: { Effect: 'Allow', NotAction: 'x', Resource: '*' } }, /NotAction/],
    ['Mapping', 'FilterCriteria', {}, /Mapping\.FilterCriteria/],
    ['Mapping', 'EventSourceArn', 'arn:aws:kinesis:x', /Mapping\.EventSourceArn/],
    ['Mapping', 'FunctionName', 'nobody', /Mapping\.FunctionName: nobody/],
    ['TickRule', 'Targets', [{ Arn: 'arn:aws:sqs:x', Id: 'a' }], /TickRule\.Targets\[0\]\.Arn/],
    ['TickRule', 'Targets', [{ Arn: { 'Fn::GetAtt': 'tick.Arn' }, InputPath: '$.x' }], /InputPath/],
    ['Integration', 'PayloadFormatVersion', '1.0', /Integration\.PayloadFormatVersion/],
    ['Route', 'AuthorizationType', 'JWT', /Route\.AuthorizationType/],
    ['Bucket', 'NotificationConfiguration', {}, /Bucket\.NotificationConfiguration/],
  ])('%s.%s', (logicalId, property, value, message) => {
    expect(() => read(having(logicalId, property, value))).toThrow(message);
  });

  test('a condition on a resource that is used', () => {
    const template = fixtureTemplate();
    Object.assign(template.Resources.Jobs ?? {}, { Condition: 'IsProd' });
    expect(() => read(template)).toThrow(/Jobs: has the condition IsProd/);
  });

  test('a name that refers to itself', () => {
    expect(() => read(having('Jobs', 'QueueName', { 'Fn::GetAtt': ['Jobs', 'QueueName'] }))).toThrow(
      /refers to itself/,
    );
  });
});

test('intrinsics within each other', () => {
  const value = {
    'Fn::Select': [
      1,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of Fn::Sub
      { 'Fn::Split': ['/', { 'Fn::Sub': ['${A}/${!B}/x', { A: { 'Fn::Join': ['-', ['a', { Ref: 'Stage' }]] } }] }] },
    ],
  };
  const assembly = read(having('worker', 'Environment', { Variables: { X: value, Y: { Ref: 'AWS::NoValue' } } }));
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what an escaped placeholder becomes
  expect(assembly.functions.find(({ logicalId }) => logicalId === 'worker')?.environment).toEqual({ X: '${B}' });
});

test('a folder without exactly one template is refused', () => {
  const file = writeTemplate(fixtureTemplate());
  const folder = file.slice(0, file.lastIndexOf('/'));
  expect(findTemplate(folder)).toBe(file);
  expect(() => findTemplate(new URL('../fixtures/handlers', import.meta.url).pathname)).toThrow(
    /must hold one template, it has 0/,
  );
});
