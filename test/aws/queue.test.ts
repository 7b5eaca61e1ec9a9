import { createHash } from 'node:crypto';
import { SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, expect, test } from 'vitest';
import { makeQueue } from '../../lib/aws/queue.ts';
import { type JsonWire, LOCAL_ACCESS, startJsonWire } from '../support/json-wire.ts';
import { refusal } from '../support/refusal.ts';

let wire: JsonWire | undefined;
let client: SQSClient | undefined;
afterEach(async () => {
  client?.destroy();
  await wire?.close();
});

interface Sent {
  readonly Id?: string;
  readonly MessageBody: string;
}

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

/** An SQS that takes no message of `unlucky` in a batch; alone it takes those of `refused` neither. */
const start = async (unlucky: readonly number[], refused: readonly number[]) => {
  const calls: string[] = [];
  const isOf = ({ MessageBody }: Sent, seqs: readonly number[]) => seqs.includes(JSON.parse(MessageBody).seq);
  wire = await startJsonWire((operation, input) => {
    const { Entries } = input as { readonly Entries?: readonly Sent[] };
    const entries = Entries ?? [input as unknown as Sent];
    calls.push(`${operation} ${entries.map(({ MessageBody }) => JSON.parse(MessageBody).seq).join(' ')}`);
    if (Entries === undefined) {
      const [entry] = entries as [Sent];
      if (isOf(entry, refused)) return { status: 400, body: { __type: 'InvalidMessageContents', message: 'no' } };
      return { status: 200, body: { MessageId: 'm', MD5OfMessageBody: md5(entry.MessageBody) } };
    }
    const taken = entries.filter((entry) => !isOf(entry, unlucky));
    const left = entries.filter((entry) => isOf(entry, unlucky));
    return {
      status: 200,
      body: {
        Successful: taken.map((each) => ({ Id: each.Id, MessageId: 'm', MD5OfMessageBody: md5(each.MessageBody) })),
        Failed: left.map(({ Id }) => ({ Id, Code: 'InternalError', SenderFault: false })),
      },
    };
  });
  client = new SQSClient({ ...LOCAL_ACCESS, endpoint: wire.url, maxAttempts: 1 });
  const queue = makeQueue<{ readonly seq: number }>({ client, queueUrl: `${wire.url}/000000000000/q` });
  return { calls, send: (seq: number) => queue.send({ seq }, { delaySeconds: 0, tenant: 'org_1' }) };
};

test('an entry of a batch that SQS did not take goes again alone', async () => {
  const { calls, send } = await start([3], []);
  await Promise.all([1, 2, 3, 4].map(send));
  expect(calls).toEqual(['SendMessage 1', 'SendMessageBatch 2 3 4', 'SendMessage 3']);
});

test('who is refused alone too hears why, and nobody else', async () => {
  const { send } = await start([3], [3]);
  const [first, second, third] = [1, 2, 3].map(send);
  await Promise.all([first, second]);
  expect(await refusal(third as Promise<void>)).toMatchObject({ name: 'InvalidMessageContents' });
});
