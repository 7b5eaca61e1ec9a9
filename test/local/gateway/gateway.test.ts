import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { InvokeCommand } from '@aws-sdk/client-lambda';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { GetParameterCommand, PutParameterCommand } from '@aws-sdk/client-ssm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cloud, startCloud } from './cloud.ts';

describe('the services behind the gateway, through their own clients', () => {
  let cloud: Cloud;
  beforeAll(async () => {
    cloud = await startCloud();
  });
  afterAll(() => cloud.remove());

  it('DynamoDB', async () => {
    const { dynamodb } = cloud.clients();
    const Item = { pk: { S: 'a' }, sk: { S: 'b' }, text: { S: 'ünï ✓' } };
    await dynamodb.send(new PutItemCommand({ TableName: 'data', Item }));
    const { Item: got } = await dynamodb.send(
      new GetItemCommand({ TableName: 'data', Key: { pk: { S: 'a' }, sk: { S: 'b' } } }),
    );
    expect(got).toEqual(Item);
  });

  it('SQS', async () => {
    const { sqs } = cloud.clients();
    const QueueUrl = cloud.queueUrl('work');
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'ünï ✓' }));
    const { Messages } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1 }));
    expect(Messages?.map(({ Body }) => Body)).toEqual(['ünï ✓']);
  });

  it('S3', async () => {
    const { s3 } = cloud.clients();
    const Key = 'ünï/a b+c (1)*!.txt';
    await s3.send(new PutObjectCommand({ Bucket: 'files-bucket', Key, Body: 'content', ContentType: 'text/plain' }));
    const got = await s3.send(new GetObjectCommand({ Bucket: 'files-bucket', Key }));
    expect(await got.Body?.transformToString()).toBe('content');
    expect(got.ContentType).toBe('text/plain');
  });

  it('SSM', async () => {
    const { ssm } = cloud.clients();
    await ssm.send(new PutParameterCommand({ Name: '/app/key', Value: 'geheim', Type: 'SecureString' }));
    const { Parameter } = await ssm.send(new GetParameterCommand({ Name: '/app/key', WithDecryption: true }));
    expect(Parameter?.Value).toBe('geheim');
    expect(Parameter?.LastModifiedDate).toBeInstanceOf(Date);
  });

  it('EventBridge', async () => {
    const { events } = cloud.clients();
    const Entries = [{ EventBusName: 'app', Source: 'test', DetailType: 'T', Detail: '{"a":1}' }];
    const { FailedEntryCount } = await events.send(new PutEventsCommand({ Entries }));
    expect(FailedEntryCount).toBe(0);
    expect(cloud.events).toMatchObject([{ bus: 'app', event: { source: 'test', detail: { a: 1 } } }]);
  });

  it('Lambda', async () => {
    const { lambda } = cloud.clients();
    const { StatusCode, Payload } = await lambda.send(
      new InvokeCommand({ FunctionName: 'app-step', Payload: Buffer.from('{"x":1}') }),
    );
    expect(StatusCode).toBe(200);
    expect(JSON.parse(Buffer.from(Payload ?? []).toString())).toEqual({ x: 1 });
  });
});
