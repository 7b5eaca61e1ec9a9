import { DeleteMessageCommand, type Message, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeQueue } from '../../lib/aws/queue.ts';
import { LOCAL_ACCESS } from '../support/json-wire.ts';
import { makeMemoryQueue } from '../support/memory-queue.ts';
import { type QueueSubject, queueContract, type TestMessage } from './queue.contract.ts';

describe('the queue in memory', () => {
  let queue = makeMemoryQueue<TestMessage>();
  beforeEach(() => {
    queue = makeMemoryQueue();
  });
  queueContract(() => ({
    queue,
    arrived: async () => queue.take().map(({ message, tenant }) => ({ message, tenant })),
  }));

  it('keeps a copy, and what it was told of visibility', async () => {
    const message = { orgId: 'org_1', seq: 1 };
    await queue.send(message, { delaySeconds: 3, tenant: 'org_1' });
    message.seq = 2;
    await queue.changeVisibility('handle', 5);
    expect(queue.sent).toEqual([{ message: { orgId: 'org_1', seq: 1 }, delaySeconds: 3, tenant: 'org_1' }]);
    expect(queue.visibilityChanges).toEqual([{ receiptHandle: 'handle', seconds: 5 }]);
  });
});

describe('the queue in SQS, over the wire', () => {
  let server: FauxqsServer;
  let client: SQSClient;
  let subject: QueueSubject;
  let QueueUrl: string;
  let queues = 0;
  const groups = new Map<string, string>();

  beforeAll(async () => {
    server = await startFauxqs({ port: 0, logger: false });
    client = new SQSClient({ ...LOCAL_ACCESS, endpoint: `http://127.0.0.1:${server.port}` });
    // The local SQS forgets the group of a message on a standard queue, so it is noted on its way out.
    client.middlewareStack.add(
      (next) => (args) => {
        type Sent = { readonly MessageBody?: string; readonly MessageGroupId?: string };
        const input = args.input as Sent & { readonly Entries?: readonly Sent[] };
        for (const { MessageBody, MessageGroupId = '' } of input.Entries ?? [input]) {
          if (MessageBody !== undefined) groups.set(MessageBody, MessageGroupId);
        }
        return next(args);
      },
      { step: 'initialize' },
    );
  });
  afterAll(async () => {
    client.destroy();
    await server.stop();
  });

  beforeEach(() => {
    const name = `queue-${queues++}`;
    server.createQueue(name, { region: LOCAL_ACCESS.region });
    // Not the URL that the server gives out: its host name resolves nowhere.
    QueueUrl = `http://127.0.0.1:${server.port}/000000000000/${name}`;
    subject = {
      queue: makeQueue({ client, queueUrl: QueueUrl }),
      async arrived() {
        const { ready = [], delayed = [] } = server.inspectQueue(name)?.messages ?? {};
        return [...ready, ...delayed].map((message) => ({
          message: JSON.parse(message.body),
          tenant: groups.get(message.body) ?? '',
        }));
      },
    };
  });

  queueContract(() => subject);

  const receive = async (VisibilityTimeout: number): Promise<Message | undefined> => {
    const answer = await client.send(new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout, WaitTimeSeconds: 0 }));
    return answer.Messages?.[0];
  };

  it('delays a message, and only for as long as it was asked to', async () => {
    await subject.queue.send({ orgId: 'org_1', seq: 1 }, { delaySeconds: 1, tenant: 'org_1' });
    expect(await receive(30)).toBeUndefined();
    await expect.poll(() => receive(30), { timeout: 10_000, interval: 100 }).toBeDefined();
  });

  it('shows a received message again when its visibility is set to 0', async () => {
    await subject.queue.send({ orgId: 'org_1', seq: 1 }, { delaySeconds: 0, tenant: 'org_1' });
    const first = await receive(600);
    expect(await receive(600)).toBeUndefined();
    await subject.queue.changeVisibility(first?.ReceiptHandle ?? '', 0);
    const again = await receive(600);
    expect(again?.MessageId).toBe(first?.MessageId);
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: again?.ReceiptHandle ?? '' }));
  });

  it('says so when a receipt handle is none', async () => {
    await expect(subject.queue.changeVisibility('no such handle', 5)).rejects.toThrow();
  });
});
