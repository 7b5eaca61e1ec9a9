import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  type Message,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SendMessageCommandInput,
  SetQueueAttributesCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ARN, type Cloud, errorOf, OPERATOR, startCloud } from '../gateway/cloud.ts';

let cloud: Cloud;
/** Added to the clock of the cloud, milliseconds; below the five minutes that a signature may be off. */
let shift = 0;
beforeAll(async () => {
  cloud = await startCloud({ now: () => Date.now() + shift });
});
afterAll(() => cloud.remove());
beforeEach(async () => {
  shift = 0;
  for (const name of ['work', 'dead']) await sqs().send(new PurgeQueueCommand({ QueueUrl: cloud.queueUrl(name) }));
});

let client: ReturnType<Cloud['clients']>['sqs'] | undefined;
const sqs = () => {
  client ??= cloud.clients().sqs;
  return client;
};
const send = (MessageBody: string, input: Partial<SendMessageCommandInput> = {}) =>
  sqs().send(new SendMessageCommand({ QueueUrl: cloud.queueUrl('work'), MessageBody, ...input }));
const receive = async (input: Partial<ReceiveMessageCommandInput> = {}): Promise<Message[]> => {
  const QueueUrl = cloud.queueUrl('work');
  const command = new ReceiveMessageCommand({ QueueUrl, MessageSystemAttributeNames: ['All'], ...input });
  return (await sqs().send(command)).Messages ?? [];
};
const setVisibility = (message: Message | undefined, VisibilityTimeout: number) =>
  sqs().send(
    new ChangeMessageVisibilityCommand({
      QueueUrl: cloud.queueUrl('work'),
      ReceiptHandle: message?.ReceiptHandle,
      VisibilityTimeout,
    }),
  );
const bodies = (messages: Message[]) => messages.map(({ Body }) => Body);

describe('sending and receiving', () => {
  it('attributes of the user and of the system arrive', async () => {
    await send('x', {
      MessageGroupId: 'org_1',
      MessageAttributes: {
        kind: { DataType: 'String', StringValue: 'step' },
        raw: { DataType: 'Binary', BinaryValue: Buffer.from([1, 2]) },
      },
      MessageSystemAttributes: { AWSTraceHeader: { DataType: 'String', StringValue: 'Root=1-5e3d-83f8' } },
    });
    const [message] = await receive({ MessageAttributeNames: ['kind'] });
    expect(message?.Attributes).toMatchObject({
      MessageGroupId: 'org_1',
      AWSTraceHeader: 'Root=1-5e3d-83f8',
      ApproximateReceiveCount: '1',
      SentTimestamp: expect.stringMatching(/^\d{13}$/),
    });
    expect(Object.keys(message?.MessageAttributes ?? {})).toEqual(['kind']);
    // The digest of this one attribute as AWS documents the algorithm.
    expect(message?.MD5OfMessageAttributes).toHaveLength(32);
  });

  it('a batch succeeds and fails by entry', async () => {
    const Entries = [
      { Id: 'good', MessageBody: 'a' },
      { Id: 'late', MessageBody: 'b', DelaySeconds: 901 },
      { Id: 'bad', MessageBody: '\u0001' },
    ];
    const answer = await sqs().send(new SendMessageBatchCommand({ QueueUrl: cloud.queueUrl('work'), Entries }));
    expect(answer.Successful?.map(({ Id }) => Id)).toEqual(['good']);
    expect(answer.Failed?.map(({ Id, Code }) => [Id, Code])).toEqual([
      ['late', 'InvalidParameterValue'],
      ['bad', 'InvalidMessageContents'],
    ]);
    const messages = await receive({ MaxNumberOfMessages: 10 });
    const remove = messages.map(({ ReceiptHandle }, i) => ({ Id: String(i), ReceiptHandle }));
    await sqs().send(new DeleteMessageBatchCommand({ QueueUrl: cloud.queueUrl('work'), Entries: remove }));
    expect(bodies(messages)).toEqual(['a']);
  });

  it.each<[string, Partial<SendMessageCommandInput>, string, RegExp]>([
    ['a delay over 900', { DelaySeconds: 901 }, 'InvalidParameterValue', /Value 901 for parameter DelaySeconds/],
    ['a negative delay', { DelaySeconds: -1 }, 'InvalidParameterValue', /DelaySeconds must be >= 0 and <= 900/],
    ['an empty body', { MessageBody: '' }, 'MissingParameter', /MessageBody/],
    ['forbidden characters', { MessageBody: 'a\u0000' }, 'InvalidMessageContents', /Invalid characters/],
    ['a body over 1 MiB', { MessageBody: 'x'.repeat(1_048_577) }, 'InvalidParameterValue', /shorter than 1048576/],
    ['a group id with a space', { MessageGroupId: 'a b' }, 'InvalidParameterValue', /MessageGroupId/],
    ['an unknown queue', { QueueUrl: 'http://x/000000000000/nope' }, 'QueueDoesNotExist', /does not exist/],
  ])('refuses %s', async (_name, input, name, sentence) => {
    const error = await errorOf(send('x', input));
    expect(error.name).toBe(name);
    expect(error.message).toMatch(sentence);
  });

  it('refuses batches without sense', async () => {
    const QueueUrl = cloud.queueUrl('work');
    const batch = (Entries: { Id: string; MessageBody: string }[]) =>
      errorOf(sqs().send(new SendMessageBatchCommand({ QueueUrl, Entries })));
    const entry = (Id: string, MessageBody = 'x') => ({ Id, MessageBody });
    expect((await batch([])).name).toBe('EmptyBatchRequest');
    expect((await batch([entry('a'), entry('a')])).name).toBe('BatchEntryIdsNotDistinct');
    expect((await batch([entry('a b')])).name).toBe('InvalidBatchEntryId');
    expect((await batch(Array.from({ length: 11 }, (_, i) => entry(`e${i}`)))).name).toBe(
      'TooManyEntriesInBatchRequest',
    );
    const half = 'x'.repeat(600_000);
    expect((await batch([entry('a', half), entry('b', half)])).name).toBe('BatchRequestTooLong');
  });
});

describe('time', () => {
  it('a delayed message is not there before its time', async () => {
    await send('later', { DelaySeconds: 200 });
    expect(await receive()).toEqual([]);
    shift = 199_000;
    expect(await receive()).toEqual([]);
    shift = 200_100;
    expect(bodies(await receive())).toEqual(['later']);
  });

  it('a long poll wakes when a message arrives, and when a delayed one falls due', async () => {
    const started = Date.now();
    const waiting = receive({ WaitTimeSeconds: 10 });
    await send('now');
    expect(bodies(await waiting)).toEqual(['now']);
    const later = receive({ WaitTimeSeconds: 10 });
    await send('soon', { DelaySeconds: 1 });
    expect(bodies(await later)).toEqual(['soon']);
    expect(Date.now() - started).toBeGreaterThanOrEqual(1_000);
    expect(Date.now() - started).toBeLessThan(8_000);
  });

  it('one message wakes one poll, and a poll whose client has gone takes none with it', async () => {
    const gone = new AbortController();
    const QueueUrl = cloud.queueUrl('work');
    const lost = sqs().send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }), { abortSignal: gone.signal });
    const aborted = errorOf(lost);
    const [first, second] = [receive({ WaitTimeSeconds: 20 }), receive({ WaitTimeSeconds: 20 })];
    await new Promise((resolve) => setTimeout(resolve, 100));
    gone.abort();
    await aborted;
    await new Promise((resolve) => setTimeout(resolve, 100));
    await send('one');
    const winner = await Promise.race([first, second]);
    expect(bodies(winner)).toEqual(['one']);
    await send('two');
    expect((await Promise.all([first, second])).flatMap(bodies).sort()).toEqual(['one', 'two']);
  });

  it('visibility: hidden while in flight, back when it ends, sooner or later as the holder says', async () => {
    await send('x');
    const [first] = await receive({ VisibilityTimeout: 60 });
    expect(await receive()).toEqual([]);
    shift = 30_000;
    await setVisibility(first, 60);
    shift = 80_000;
    expect(await receive()).toEqual([]);
    shift = 91_000;
    const [second] = await receive({ VisibilityTimeout: 60 });
    expect(second?.Attributes?.ApproximateReceiveCount).toBe('2');
    expect(second?.Attributes?.ApproximateFirstReceiveTimestamp).toBeDefined();
    await setVisibility(second, 0);
    const count = await sqs().send(
      new GetQueueAttributesCommand({
        QueueUrl: cloud.queueUrl('work'),
        AttributeNames: ['ApproximateNumberOfMessages'],
      }),
    );
    expect(count.Attributes?.ApproximateNumberOfMessages).toBe('1');
  });

  it('refuses wrong visibilities and receipts that are not in flight', async () => {
    await send('x');
    const [message] = await receive({ VisibilityTimeout: 1 });
    expect((await errorOf(setVisibility(message, 43_201))).message).toMatch(/Must be between 0 and 43200/);
    expect((await errorOf(setVisibility(message, -1))).name).toBe('InvalidParameterValue');
    shift = 100_000;
    expect((await errorOf(setVisibility(message, 43_200))).name).toBe('MessageNotInflight');
    expect((await errorOf(setVisibility({ ReceiptHandle: 'garbage' }, 5))).name).toBe('ReceiptHandleIsInvalid');
    const [again] = await receive();
    shift = 110_000;
    expect((await errorOf(setVisibility(again, 43_195))).message).toMatch(/beyond the limit/);
  });

  it('an old receipt deletes until the message is received again, and then no more', async () => {
    const QueueUrl = cloud.queueUrl('work');
    const remove = (message: Message | undefined) =>
      sqs().send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message?.ReceiptHandle }));
    await send('x');
    const [first] = await receive({ VisibilityTimeout: 0 });
    const [second] = await receive({ VisibilityTimeout: 0 });
    await remove(first);
    expect(bodies(await receive({ VisibilityTimeout: 0, QueueUrl: cloud.queueUrl('dead') }))).toEqual([]);
    await remove(second);
    expect(await receive()).toEqual([]);
  });

  it('messages older than the retention are gone', async () => {
    const QueueUrl = cloud.queueUrl('dead');
    await sqs().send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { MessageRetentionPeriod: '60' } }));
    await send('old', { QueueUrl });
    shift = 61_000;
    expect(await receive({ QueueUrl })).toEqual([]);
    await sqs().send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { MessageRetentionPeriod: '345600' } }));
  });
});

describe('the dead-letter queue', () => {
  it('takes a message that was received too often, with its history, and wakes its poller', async () => {
    const waiting = receive({ QueueUrl: cloud.queueUrl('dead'), WaitTimeSeconds: 10 });
    await send('poison', { MessageGroupId: 'org_1' });
    for (const expected of ['1', '2']) {
      const [message] = await receive({ VisibilityTimeout: 0 });
      expect(message?.Attributes?.ApproximateReceiveCount).toBe(expected);
    }
    expect(await receive()).toEqual([]);
    const [dead] = await waiting;
    expect(dead?.Body).toBe('poison');
    expect(dead?.Attributes).toMatchObject({
      DeadLetterQueueSourceArn: ARN.work,
      MessageGroupId: 'org_1',
      ApproximateReceiveCount: '3',
    });
  });
});

describe('queues', () => {
  it('are found by name under the address of the gateway', async () => {
    const { QueueUrl } = await sqs().send(new GetQueueUrlCommand({ QueueName: 'work' }));
    expect(QueueUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/000000000000\/work$/);
    const { QueueUrls } = await sqs().send(new ListQueuesCommand({ QueueNamePrefix: 'w' }));
    expect(QueueUrls).toEqual([QueueUrl]);
    const error = await errorOf(sqs().send(new GetQueueUrlCommand({ QueueName: 'nope' })));
    expect([error.name, error.Code]).toEqual(['QueueDoesNotExist', 'AWS.SimpleQueueService.NonExistentQueue']);
  });

  it('are made, but no FIFO queue is', async () => {
    const make = (QueueName: string, Attributes: { [name: string]: string } = {}) =>
      sqs().send(new CreateQueueCommand({ QueueName, Attributes }));
    await make('extra', { DelaySeconds: '5' });
    await make('extra', { DelaySeconds: '5' });
    expect((await errorOf(make('extra', { DelaySeconds: '6' }))).name).toBe('QueueNameExists');
    expect((await errorOf(make('extra.fifo', { FifoQueue: 'true' }))).message).toContain('FIFO');
    expect((await errorOf(make('other', { FifoQueue: 'true' }))).message).toContain('FIFO queues are not part');
    expect((await errorOf(make('other', { VisibilityTimeout: '43201' }))).name).toBe('InvalidAttributeValue');
  });
});

describe('a start on the same home', () => {
  it('keeps messages, delays and flights, and brings attributes up to the template', async () => {
    const first = await startCloud();
    const QueueUrl = first.queueUrl('work');
    const { sqs: before } = first.clients();
    const put = (MessageBody: string, DelaySeconds: number) =>
      before.send(new SendMessageCommand({ QueueUrl, MessageBody, DelaySeconds }));
    await put('in flight', 0);
    const command = new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout: 100 });
    const { Messages = [] } = await before.send(command);
    await put('ready', 0);
    await put('delayed', 100);
    await first.stop();

    let later = 0;
    const second = await startCloud({
      home: first.home,
      now: () => Date.now() + later,
      queueAttributes: { VisibilityTimeout: '77' },
    });
    const { sqs: after } = second.clients(OPERATOR);
    const url = second.queueUrl('work');
    const take = async () =>
      bodies((await after.send(new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 10 }))).Messages ?? []);
    const described = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] });
    expect((await after.send(described)).Attributes).toMatchObject({
      VisibilityTimeout: '77',
      ApproximateNumberOfMessages: '1',
      ApproximateNumberOfMessagesNotVisible: '1',
      ApproximateNumberOfMessagesDelayed: '1',
    });
    expect(await take()).toEqual(['ready']);
    await after.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: Messages[0]?.ReceiptHandle }));
    later = 120_000;
    expect((await take()).sort()).toEqual(['delayed', 'ready']);
    await second.remove();
  });
});
