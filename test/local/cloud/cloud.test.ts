import { existsSync, readFileSync, statSync } from 'node:fs';
import { PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { GetQueueAttributesCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestCloud, type TestCloud } from '../fixtures/cloud.ts';
import { fixtureTemplate } from '../fixtures/template.ts';

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await startTestCloud();
});
afterAll(() => cloud?.stop());

const send = (body: unknown, more: object = {}) =>
  cloud.sqs.send(
    new SendMessageCommand({ QueueUrl: cloud.queueUrl('jobs'), MessageBody: JSON.stringify(body), ...more }),
  );

const records = (from: TestCloud = cloud): Record<string, unknown>[] =>
  from.log('app-worker').flatMap((line) => (line.records as Record<string, unknown>[] | undefined) ?? []);

const counts = async (): Promise<string> => {
  const { Attributes } = await cloud.sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: cloud.queueUrl('jobs'),
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
  );
  return `${Attributes?.ApproximateNumberOfMessages} waiting, ${Attributes?.ApproximateNumberOfMessagesNotVisible} in flight`;
};

test('the route of the template answers, and the organisation was made with the key', async () => {
  const response = await fetch(`${cloud.front.url}/health`);
  expect(await response.json()).toMatchObject({ rawPath: '/health' });
  expect(cloud.log('app-maker')).toContainEqual(expect.objectContaining({ message: 'made', organisation: 'Local' }));
});

test('local.json tells other commands how to reach it, and is private', () => {
  expect(cloud.local).toMatchObject({
    pid: process.pid,
    url: cloud.front.url,
    region: 'us-east-1',
    bootstrapFunction: 'app-maker',
    operator: { accessKeyId: expect.stringMatching(/^AKIA/) },
  });
  expect(statSync(cloud.home.path('local.json')).mode & 0o077).toBe(0);
});

test('the model account lies in the parameter that the functions read', () => {
  const text = readFileSync(cloud.home.path('parameters.json'), 'utf8');
  expect(text).toContain('/app/model');
  expect(text).toContain(JSON.stringify(JSON.stringify({ baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'k', model: 'm' })));
});

describe('a message of the queue', () => {
  test('reaches the function as Lambda would hand it over, and is deleted when it is done', async () => {
    const sent = await send(
      { id: 'first' },
      { MessageGroupId: 'org_1', MessageAttributes: { kind: { DataType: 'String', StringValue: 'x' } } },
    );
    const got = await vi.waitFor(() => {
      const found = records().find(({ messageId }) => messageId === sent.MessageId);
      if (found === undefined) throw new Error('not yet');
      return found;
    }, 5000);
    expect(got).toMatchObject({
      body: '{"id":"first"}',
      md5OfBody: sent.MD5OfMessageBody,
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:jobs',
      awsRegion: 'us-east-1',
      attributes: {
        ApproximateReceiveCount: '1',
        MessageGroupId: 'org_1',
        SentTimestamp: expect.stringMatching(/^\d{13}$/),
      },
      messageAttributes: { kind: { stringValue: 'x', dataType: 'String' } },
    });
    await vi.waitFor(async () => expect(await counts()).toBe('0 waiting, 0 in flight'), 5000);
  });

  test.each([{ fails: true }, { throws: true }, { malformed: true }])(
    'stays in flight when it is not done: %j',
    async (body) => {
      const { MessageId } = await send(body);
      await vi.waitFor(() => expect(records().map(({ messageId }) => messageId)).toContain(MessageId), 5000);
      // The visibility time-out of 60 s decides when it comes again.
      await vi.waitFor(async () => expect(await counts()).toMatch(/^0 waiting, [1-3] in flight$/), 5000);
    },
  );
});

test('every schedule fires once at the start, and by hand', async () => {
  const fired = () => cloud.log('app-tick').filter(({ message }) => message === 'fired');
  await vi.waitFor(() => expect(fired()).toHaveLength(1), 5000);
  expect(fired()[0]?.event).toMatchObject({
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    resources: ['arn:aws:events:us-east-1:000000000000:rule/app-tick'],
  });
  const response = await fetch(`${cloud.front.url}/_local/rules/tick/fire`, { method: 'POST' });
  expect(response.status).toBe(202);
  await vi.waitFor(() => expect(fired()).toHaveLength(2), 5000);
});

test('an event on the bus reaches the target of the rule that matches, and no other', async () => {
  const entry = (DetailType: string) => ({
    EventBusName: 'app',
    Source: 'shop',
    DetailType,
    Detail: '{"agentId":"agt_1"}',
  });
  await cloud.events.send(new PutEventsCommand({ Entries: [entry('Something Else'), entry('Run Agent')] }));
  const fixed = () => cloud.log('app-tick').filter(({ event }) => (event as { fixed?: boolean } | undefined)?.fixed);
  await vi.waitFor(() => expect(fixed()).toHaveLength(1), 5000);
});

test('it stops cleanly: no processes, no local.json, the use of grants is kept', async () => {
  const other = await startTestCloud();
  const pids = Object.values(
    JSON.parse(readFileSync(other.home.path('processes.json'), 'utf8')) as Record<string, number[]>,
  ).flat();
  expect(pids.length).toBeGreaterThan(0);
  const stopped = other.stop();
  const began = performance.now();
  await stopped;
  expect(performance.now() - began).toBeLessThan(2000);
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow();
  expect(existsSync(other.home.path('local.json'))).toBe(false);
});

test('a role without the right to receive gets no message, and the terminal says so', async () => {
  const template = fixtureTemplate();
  Object.assign(template.Resources.workerRole ?? {}, { Properties: { AssumeRolePolicyDocument: {} } });
  const denied = await startTestCloud(template);
  try {
    await vi.waitFor(() => expect(denied.echoed.join('\n')).toMatch(/cannot receive from jobs: .*AccessDenied/), 5000);
    await denied.sqs.send(new SendMessageCommand({ QueueUrl: denied.queueUrl('jobs'), MessageBody: '{}' }));
    expect(records(denied)).toEqual([]);
  } finally {
    await denied.stop();
  }
});

test('a schedule whose rule may not invoke the function fires nothing, and the terminal says so', async () => {
  const template = fixtureTemplate();
  delete template.Resources.TickPermission;
  const denied = await startTestCloud(template);
  try {
    expect(denied.echoed.join('\n')).toMatch(/rule app-tick may not invoke/);
    expect(denied.log('app-tick')).toEqual([]);
  } finally {
    await denied.stop();
  }
});

test('it does not come up when the organisation cannot be made', async () => {
  await expect(startTestCloud(fixtureTemplate(), { BATON_API_KEY: 'refuse'.repeat(6) })).rejects.toThrow(
    'The local organisation could not be made (Error: no such key).',
  );
});
