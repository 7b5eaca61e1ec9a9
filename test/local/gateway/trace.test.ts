import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetItemCommand, PutItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterEach, expect, test } from 'vitest';
import { openTrace, type TracedRequest } from '../../../local/gateway/trace.ts';
import { type Cloud, startCloud } from './cloud.ts';

const dir = mkdtempSync(join(tmpdir(), 'trace-'));
let cloud: Cloud;
afterEach(async () => {
  await cloud.remove();
  rmSync(dir, { recursive: true, force: true });
});

test('every request is a line with its units, messages, times and the invocation that made it', async () => {
  const file = join(dir, 'trace.jsonl');
  const trace = openTrace(file);
  cloud = await startCloud({ trace });
  const { dynamodb, sqs } = cloud.clients();
  dynamodb.middlewareStack.add(
    (next) => (args) => {
      (args.request as { headers: Record<string, string> }).headers['X-Amzn-Trace-Id'] = 'Root=1-a;Sampled=0';
      return next(args);
    },
    { step: 'build', name: 'invocation' },
  );
  const key = { pk: { S: 'a' }, sk: { S: 'b' } };
  const TableName = 'data';
  const Item = { ...key, text: { S: 'x'.repeat(1_500) } };
  const answer = await dynamodb.send(new PutItemCommand({ TableName, Item }));
  expect(answer.ConsumedCapacity).toMatchObject({ CapacityUnits: 2 });
  const refused = new PutItemCommand({ TableName, Item, ConditionExpression: 'attribute_not_exists(pk)' });
  await expect(dynamodb.send(refused)).rejects.toThrow();
  await Promise.all([
    dynamodb.send(new GetItemCommand({ TableName, Key: key })),
    dynamodb.send(new GetItemCommand({ TableName, Key: key, ConsistentRead: true })),
  ]);
  const Put = { TableName, Item: { ...key, sk: { S: 'c' } } };
  await dynamodb.send(new TransactWriteItemsCommand({ TransactItems: [{ Put }] }));
  const QueueUrl = cloud.queueUrl('work');
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'm' }));
  await sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1 }));
  await trace.close();

  const lines = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as TracedRequest);
  const gets = lines.filter(({ action }) => action === 'GetItem').sort((a, b) => a.read - b.read);
  const rest = lines.filter(({ action }) => action !== 'GetItem');
  expect(rest.map(({ action, status, read, write, messages }) => [action, status, read, write, messages])).toEqual([
    ['PutItem', 200, 0, 2, 0],
    ['PutItem', 400, 0, 0, 0],
    ['TransactWriteItems', 200, 0, 2, 0],
    ['SendMessage', 200, 0, 0, 0],
    ['ReceiveMessage', 200, 0, 0, 1],
  ]);
  expect(gets.map(({ read }) => read)).toEqual([0.5, 1]);
  for (const { start, end } of lines) expect(end).toBeGreaterThan(start);
  expect(lines.every(({ principal }) => principal === 'operator')).toBe(true);
  const invocations = new Set(lines.filter(({ service }) => service === 'dynamodb').map((line) => line.invocation));
  expect([...invocations]).toEqual(['Root=1-a;Sampled=0']);
});

test('without a trace nothing is asked of the services that the caller did not ask', async () => {
  cloud = await startCloud();
  const Item = { pk: { S: 'a' }, sk: { S: 'b' } };
  const answer = await cloud.clients().dynamodb.send(new PutItemCommand({ TableName: 'data', Item }));
  expect(answer.ConsumedCapacity).toBeUndefined();
});
