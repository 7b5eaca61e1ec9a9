import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { InvokeCommand } from '@aws-sdk/client-lambda';
import {
  CopyObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { ReceiveMessageCommand, SendMessageBatchCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { GetParameterCommand, GetParametersCommand, PutParameterCommand } from '@aws-sdk/client-ssm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ARN, allow, type Clients, type Cloud, deny, errorOf, principal, startCloud } from './cloud.ts';

const step = principal('StepRole', [
  allow(['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:BatchGetItem'], [ARN.table]),
  allow(['sqs:SendMessage'], [ARN.work]),
  allow(['s3:PutObject', 's3:GetObject', 's3:DeleteObject'], [`${ARN.bucket}/mine/*`]),
  allow(['ssm:GetParameter', 'ssm:GetParameters'], [`${ARN.parameters}/*`]),
  allow(['events:PutEvents'], [ARN.bus]),
  deny(['dynamodb:*'], [ARN.table], { StringEquals: { 'dynamodb:LeadingKeys': ['FORBIDDEN'] } }),
]);
const scoped = principal('ScopedRole', [
  allow(
    ['dynamodb:PutItem', 'dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:BatchGetItem'],
    [ARN.table, `${ARN.table}/index/*`],
    {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['ORG#1#*', 'ORG#1'] },
    },
  ),
  allow(['s3:ListBucket'], [ARN.bucket], { StringLike: { 's3:prefix': ['mine/*'] } }),
  allow(['sqs:SendMessage'], [ARN.work], { DateGreaterThan: { 'aws:CurrentTime': ['2020-01-01'] } }),
  allow(['lambda:InvokeFunction'], [`${ARN.step}*`], { Bool: { 'aws:SecureTransport': ['true'] } }),
]);
const nobody = principal('NobodyRole', []);

let cloud: Cloud;
let mine: Clients;
let tenant: Clients;
let none: Clients;
beforeAll(async () => {
  cloud = await startCloud({ roles: [step, scoped, nobody] });
  mine = cloud.clients(step);
  tenant = cloud.clients(scoped);
  none = cloud.clients(nobody);
});
afterAll(() => cloud.remove());

const item = (pk: string): { pk: { S: string }; sk: { S: string } } => ({ pk: { S: pk }, sk: { S: 's' } });
const TableName = 'data';
const Bucket = 'files-bucket';

const expectDenied = async (call: Promise<unknown>, action: string, resource: string): Promise<void> => {
  const error = await errorOf(call);
  expect(error.name).toMatch(/^AccessDenied(Exception)?$/);
  expect(error.message).toContain(`is not authorized to perform: ${action} on resource: ${resource}`);
};

describe('DynamoDB', () => {
  it('answers in the words of AWS', async () => {
    const error = await errorOf(mine.dynamodb.send(new DeleteItemCommand({ TableName, Key: item('a') })));
    expect(error.name).toBe('AccessDeniedException');
    expect(error.$metadata?.httpStatusCode).toBe(400);
    expect(error.message).toBe(
      `User: ${step.arn} is not authorized to perform: dynamodb:DeleteItem on resource: ${ARN.table} because no identity-based policy allows the dynamodb:DeleteItem action`,
    );
  });

  it('lets through what is granted and nothing beside it', async () => {
    await mine.dynamodb.send(new PutItemCommand({ TableName, Item: item('a') }));
    await mine.dynamodb.send(new GetItemCommand({ TableName, Key: item('a') }));
    await expectDenied(mine.dynamodb.send(new ScanCommand({ TableName })), 'dynamodb:Scan', ARN.table);
    await expectDenied(
      none.dynamodb.send(new GetItemCommand({ TableName, Key: item('a') })),
      'dynamodb:GetItem',
      ARN.table,
    );
    const other = new GetItemCommand({ TableName: 'other', Key: item('a') });
    await expectDenied(mine.dynamodb.send(other), 'dynamodb:GetItem', ARN.table.replace('data', 'other'));
  });

  it('judges each item of a transaction, and applies none of it', async () => {
    const put = { Put: { TableName, Item: item('tx') } };
    await mine.dynamodb.send(new TransactWriteItemsCommand({ TransactItems: [put] }));
    const more = { Delete: { TableName, Key: item('a') } };
    const check = { ConditionCheck: { TableName, Key: item('a'), ConditionExpression: 'attribute_exists(pk)' } };
    const first = { Put: { TableName, Item: item('tx2') } };
    await expectDenied(
      mine.dynamodb.send(new TransactWriteItemsCommand({ TransactItems: [first, more] })),
      'dynamodb:DeleteItem',
      ARN.table,
    );
    await expectDenied(
      mine.dynamodb.send(new TransactWriteItemsCommand({ TransactItems: [first, check] })),
      'dynamodb:ConditionCheckItem',
      ARN.table,
    );
    const { Item } = await mine.dynamodb.send(new GetItemCommand({ TableName, Key: item('tx2') }));
    expect(Item).toBeUndefined();
    const get = { Get: { TableName, Key: item('a') } };
    await mine.dynamodb.send(new TransactGetItemsCommand({ TransactItems: [get] }));
    await expectDenied(
      none.dynamodb.send(new TransactGetItemsCommand({ TransactItems: [get] })),
      'dynamodb:GetItem',
      ARN.table,
    );
  });

  it('an index is a resource of its own', async () => {
    const query = (IndexName?: string): QueryCommand =>
      new QueryCommand({
        TableName,
        ...(IndexName === undefined ? {} : { IndexName }),
        KeyConditionExpression: '#p = :p',
        ExpressionAttributeNames: { '#p': IndexName === undefined ? 'pk' : 'ownerPk' },
        ExpressionAttributeValues: { ':p': { S: 'ORG#1' } },
      });
    await mine.dynamodb.send(query());
    await expectDenied(mine.dynamodb.send(query('byOwner')), 'dynamodb:Query', ARN.byOwner);
    await tenant.dynamodb.send(query('byOwner'));
  });

  it('a batch of writes needs BatchWriteItem, as on AWS', async () => {
    const write = new BatchWriteItemCommand({ RequestItems: { data: [{ PutRequest: { Item: item('a') } }] } });
    await expectDenied(mine.dynamodb.send(write), 'dynamodb:BatchWriteItem', ARN.table);
  });

  it('LeadingKeys bind every key of a call', async () => {
    await tenant.dynamodb.send(new PutItemCommand({ TableName, Item: item('ORG#1#AGENT#x') }));
    await expectDenied(
      tenant.dynamodb.send(new PutItemCommand({ TableName, Item: item('ORG#2#AGENT#x') })),
      'dynamodb:PutItem',
      ARN.table,
    );
    const keys = (...pks: string[]): BatchGetItemCommand =>
      new BatchGetItemCommand({ RequestItems: { data: { Keys: pks.map(item) } } });
    await tenant.dynamodb.send(keys('ORG#1', 'ORG#1#a'));
    await expectDenied(tenant.dynamodb.send(keys('ORG#1', 'ORG#2')), 'dynamodb:BatchGetItem', ARN.table);
    const of = (pk: string): QueryCommand =>
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'sk > :s AND pk = :p',
        ExpressionAttributeValues: { ':p': { S: pk }, ':s': { S: 'ORG#1' } },
      });
    await tenant.dynamodb.send(of('ORG#1#x'));
    await expectDenied(tenant.dynamodb.send(of('ORG#2#x')), 'dynamodb:Query', ARN.table);
    const unreadable = new QueryCommand({ TableName, KeyConditionExpression: 'sk = :s' });
    await expectDenied(tenant.dynamodb.send(unreadable), 'dynamodb:Query', ARN.table);
  });

  it('an explicit deny wins over an allow and says so', async () => {
    const error = await errorOf(mine.dynamodb.send(new PutItemCommand({ TableName, Item: item('FORBIDDEN') })));
    expect(error.name).toBe('AccessDeniedException');
    expect(error.message).toMatch(/with an explicit deny in an identity-based policy$/);
  });
});

describe('the other services', () => {
  it('SQS: by queue, batches by the single action', async () => {
    const to = (name: string): SendMessageCommand =>
      new SendMessageCommand({ QueueUrl: cloud.queueUrl(name), MessageBody: 'x' });
    await mine.sqs.send(to('work'));
    const Entries = [{ Id: 'a', MessageBody: 'x' }];
    await mine.sqs.send(new SendMessageBatchCommand({ QueueUrl: cloud.queueUrl('work'), Entries }));
    const error = await errorOf(mine.sqs.send(to('dead')));
    expect([error.name, error.Code, error.$metadata?.httpStatusCode]).toEqual(['AccessDenied', 'AccessDenied', 403]);
    await expectDenied(mine.sqs.send(to('dead')), 'sqs:SendMessage', ARN.dead);
    await expectDenied(
      mine.sqs.send(new ReceiveMessageCommand({ QueueUrl: cloud.queueUrl('work') })),
      'sqs:ReceiveMessage',
      ARN.work,
    );
    // An operator of conditions that is not known here allows nothing.
    await expectDenied(tenant.sqs.send(to('work')), 'sqs:SendMessage', ARN.work);
  });

  it('S3: by object, by prefix, and no news of missing objects', async () => {
    await mine.s3.send(new PutObjectCommand({ Bucket, Key: 'mine/a', Body: 'x' }));
    await mine.s3.send(new GetObjectCommand({ Bucket, Key: 'mine/a' }));
    const error = await errorOf(mine.s3.send(new GetObjectCommand({ Bucket, Key: 'other/a' })));
    expect([error.name, error.$metadata?.httpStatusCode]).toEqual(['AccessDenied', 403]);
    await expectDenied(
      mine.s3.send(new GetObjectCommand({ Bucket, Key: 'other/a' })),
      's3:GetObject',
      `"${ARN.bucket}/other/a"`,
    );
    await expectDenied(
      mine.s3.send(new GetObjectCommand({ Bucket, Key: 'mine/no' })),
      's3:ListBucket',
      `"${ARN.bucket}"`,
    );
    expect(
      (await errorOf(mine.s3.send(new HeadObjectCommand({ Bucket, Key: 'mine/no' })))).$metadata?.httpStatusCode,
    ).toBe(403);
    await expectDenied(mine.s3.send(new ListObjectsV2Command({ Bucket })), 's3:ListBucket', `"${ARN.bucket}"`);
    await tenant.s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'mine/' }));
    await expectDenied(
      tenant.s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'other/' })),
      's3:ListBucket',
      `"${ARN.bucket}"`,
    );
    await expectDenied(tenant.s3.send(new ListObjectsV2Command({ Bucket })), 's3:ListBucket', `"${ARN.bucket}"`);
  });

  it('S3: each key of a multiple delete, and the source of a copy', async () => {
    const remove = (...keys: string[]): DeleteObjectsCommand =>
      new DeleteObjectsCommand({ Bucket, Delete: { Objects: keys.map((Key) => ({ Key })) } });
    await mine.s3.send(remove('mine/a', 'mine/b&<c>'));
    await expectDenied(mine.s3.send(remove('mine/a', 'other/b')), 's3:DeleteObject', `"${ARN.bucket}/other/b"`);
    const copy = new CopyObjectCommand({ Bucket, Key: 'mine/copy', CopySource: `${Bucket}/other/secret` });
    await expectDenied(mine.s3.send(copy), 's3:GetObject', `"${ARN.bucket}/other/secret"`);
  });

  it('SSM: by parameter, each name of a list', async () => {
    await cloud.clients().ssm.send(new PutParameterCommand({ Name: '/app/key', Value: 'v', Type: 'String' }));
    await mine.ssm.send(new GetParameterCommand({ Name: '/app/key' }));
    const error = await errorOf(mine.ssm.send(new GetParameterCommand({ Name: '/other/key' })));
    expect([error.name, error.$metadata?.httpStatusCode]).toEqual(['AccessDeniedException', 400]);
    const both = new GetParametersCommand({ Names: ['/app/key', '/other/key'] });
    await expectDenied(mine.ssm.send(both), 'ssm:GetParameters', ARN.parameters.replace('app', 'other/key'));
    const put = new PutParameterCommand({ Name: '/app/key', Value: 'v', Overwrite: true });
    await expectDenied(mine.ssm.send(put), 'ssm:PutParameter', `${ARN.parameters}/key`);
  });

  it('EventBridge: by bus, each bus of a request', async () => {
    const entry = { Source: 'a', DetailType: 'b', Detail: '{}' };
    await mine.events.send(new PutEventsCommand({ Entries: [{ ...entry, EventBusName: ARN.bus }] }));
    const both = new PutEventsCommand({ Entries: [{ ...entry, EventBusName: 'app' }, entry] });
    await expectDenied(mine.events.send(both), 'events:PutEvents', ARN.bus.replace('app', 'default'));
  });

  it('Lambda: by function, whatever way it is named; TLS counts as given', async () => {
    const invoke = (FunctionName: string): InvokeCommand => new InvokeCommand({ FunctionName });
    const error = await errorOf(mine.lambda.send(invoke('app-step')));
    expect([error.name, error.$metadata?.httpStatusCode]).toEqual(['AccessDeniedException', 403]);
    for (const name of ['app-step', ARN.step, `${ARN.step}:$LATEST`]) await tenant.lambda.send(invoke(name));
    await expectDenied(
      tenant.lambda.send(invoke('other')),
      'lambda:InvokeFunction',
      ARN.step.replace('app-step', 'other'),
    );
  });
});

describe('the report of what is used', () => {
  it('lists each grant with its calls, those never used, and the refusals', () => {
    const { grants, neverUsed, refused } = cloud.gateway.usage();
    const callsOf = (action: string): number | undefined =>
      grants.find((grant) => grant.role === 'StepRole' && grant.action === action)?.calls;
    expect(callsOf('dynamodb:PutItem')).toBeGreaterThan(0);
    expect(callsOf('dynamodb:BatchGetItem')).toBe(0);
    const unused = neverUsed.map(({ role, action }) => `${role} ${action}`);
    expect(unused).toContain('StepRole dynamodb:BatchGetItem');
    expect(unused).toContain('ScopedRole sqs:SendMessage');
    expect(unused).not.toContain('StepRole dynamodb:PutItem');
    expect(refused).toContainEqual(
      expect.objectContaining({ role: 'StepRole', action: 'dynamodb:DeleteItem', resource: ARN.table }),
    );
  });
});
