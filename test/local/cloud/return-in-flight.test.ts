import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { returnInFlight } from '../../../local/cloud/return-in-flight.ts';
import { createQueues } from '../../../local/services/queues/queues.ts';

const dir = mkdtempSync(join(tmpdir(), 'in-flight-'));
const file = join(dir, 'sqs.sqlite');
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const QueueUrl = 'http://127.0.0.1:1/000000000000/jobs';
const open = () => {
  const queues = createQueues({ file, urlOf: () => QueueUrl });
  queues.ensure({
    logicalId: 'Jobs',
    name: 'jobs',
    arn: 'arn',
    url: QueueUrl,
    attributes: { VisibilityTimeout: '5400' },
  });
  return queues;
};

interface Received {
  readonly Messages?: readonly { readonly Body: string; readonly ReceiptHandle: string }[];
}

test('what was taken and not touched comes back after a crash; what a function holds does not', async () => {
  expect(returnInFlight(file, Date.now())).toBe(0); // nothing there yet
  const before = open();
  for (const MessageBody of ['taken', 'held', 'waiting']) await before.handle('SendMessage', { QueueUrl, MessageBody });
  for (const body of ['taken', 'held']) {
    const { Messages = [] } = (await before.handle('ReceiveMessage', { QueueUrl, MaxNumberOfMessages: 1 })) as Received;
    expect(Messages[0]?.Body).toBe(body);
    if (body === 'held') {
      const { ReceiptHandle = '' } = Messages[0] ?? {};
      await before.handle('ChangeMessageVisibility', { QueueUrl, ReceiptHandle, VisibilityTimeout: 300 });
    }
  }
  before.close();

  expect(returnInFlight(file, Date.now())).toBe(1);
  const after = open();
  const { Messages = [] } = (await after.handle('ReceiveMessage', { QueueUrl, MaxNumberOfMessages: 10 })) as Received;
  expect(Messages.map(({ Body }) => Body).sort()).toEqual(['taken', 'waiting']);
  after.close();
});
