import { createHash } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { startEventSources } from '../../../local/functions/event-source.ts';
import type { Functions } from '../../../local/functions/functions.ts';
import type { Assembly } from '../../../local/template/assembly.ts';
import { eventually } from '../../e2e/support/api.ts';
import { type JsonWire, startJsonWire, type WireAnswer } from '../../support/json-wire.ts';

let wire: JsonWire | undefined;
let sources: { close(): Promise<void> } | undefined;
afterEach(async () => {
  await sources?.close();
  await wire?.close();
});

interface Receive {
  /** Bodies of the messages that one receive brings; an error code when it fails. */
  readonly brings: readonly string[] | string;
}

const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:jobs';
const FUNCTION = 'arn:aws:lambda:us-east-1:000000000000:function:worker';

/** A queue whose receives are a script, and a function that takes what it is given. */
const start = async (script: readonly Receive[], batchSize: number, windowSeconds: number) => {
  const asked: { readonly operation: string; readonly most?: number; readonly wait?: number }[] = [];
  const deleted: string[][] = [];
  const invocations: string[][] = [];
  let received = 0;
  const message = (body: string) => ({
    MessageId: `id-${body}`,
    ReceiptHandle: `receipt-${body}`,
    Body: body,
    MD5OfBody: createHash('md5').update(body).digest('hex'),
    Attributes: {},
  });
  wire = await startJsonWire(async (operation, input): Promise<WireAnswer> => {
    asked.push({
      operation,
      most: input.MaxNumberOfMessages as number,
      wait: input.WaitTimeSeconds as number,
    });
    if (operation === 'ReceiveMessage') {
      const next = script[received++]?.brings ?? [];
      if (typeof next === 'string') return { status: 400, body: { __type: next, message: next } };
      if (next.length === 0) await new Promise((done) => setTimeout(done, 10));
      return { status: 200, body: next.length === 0 ? {} : { Messages: next.map(message) } };
    }
    const { ReceiptHandle, Entries } = input as {
      readonly ReceiptHandle?: string;
      readonly Entries?: readonly { readonly ReceiptHandle: string }[];
    };
    deleted.push(Entries?.map((entry) => entry.ReceiptHandle) ?? [String(ReceiptHandle)]);
    return { status: 200, body: { Successful: [], Failed: [] } };
  });
  const functions = {
    free: () => 2,
    warm: () => {},
    async invoke(_arn: string, payload: string | Buffer) {
      const { Records } = JSON.parse(String(payload)) as { readonly Records: readonly { readonly body: string }[] };
      invocations.push(Records.map(({ body }) => body));
      return { ok: true, payload: Buffer.from('{"batchItemFailures":[]}') };
    },
  } as unknown as Functions;
  const assembly = {
    queues: [{ arn: QUEUE, url: `${wire.url}/000000000000/jobs`, name: 'jobs', attributes: {} }],
    functions: [{ arn: FUNCTION, name: 'worker', roleLogicalId: 'Role' }],
    eventSourceMappings: [
      {
        logicalId: 'Mapping',
        queueArn: QUEUE,
        functionArn: FUNCTION,
        batchSize,
        windowSeconds,
        maxConcurrency: 5,
        reportsBatchItemFailures: true,
        enabled: true,
      },
    ],
  } as unknown as Assembly;
  sources = startEventSources({
    assembly,
    functions,
    region: 'us-east-1',
    gatewayUrl: wire.url,
    credentialsOf: () => ({ accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 'c' }),
    echo: () => {},
  });
  return { asked, deleted, invocations };
};

test('with a window, what comes within it is one invocation, and is deleted together', async () => {
  const { asked, deleted, invocations } = await start(
    [{ brings: ['a'] }, { brings: ['b', 'c'] }, { brings: [] }, { brings: ['d'] }],
    50,
    1,
  );
  await eventually('the batch was handed over', () => invocations.length > 0);
  await eventually('it was deleted', () => deleted.length > 0);
  expect(invocations).toEqual([['a', 'b', 'c', 'd']]);
  expect(deleted).toEqual([['receipt-a', 'receipt-b', 'receipt-c', 'receipt-d']]);
  expect(asked.slice(0, 2)).toMatchObject([{ wait: 20 }, { wait: 0 }]);
});

test('a batch that is full does not wait for the end of its window', async () => {
  const began = performance.now();
  const { asked, invocations } = await start([{ brings: ['a', 'b'] }, { brings: ['c'] }], 3, 60);
  await eventually('the batch was handed over', () => invocations.length > 0);
  expect(performance.now() - began).toBeLessThan(30_000);
  expect(invocations).toEqual([['a', 'b', 'c']]);
  expect(asked.slice(0, 2)).toMatchObject([{ most: 6 }, { most: 1 }]);
});

test('what is in hand is handed over when the next receive fails', async () => {
  const { invocations } = await start([{ brings: ['a'] }, { brings: 'RequestThrottled' }], 50, 60);
  await eventually('the batch was handed over', () => invocations.length > 0);
  expect(invocations).toEqual([['a']]);
});

test('without a window each receive stands for itself, in batches of the size of the mapping', async () => {
  const { deleted, invocations } = await start([{ brings: ['a', 'b'] }, { brings: ['c'] }], 1, 0);
  await eventually('all are deleted', () => deleted.length === 3);
  expect(invocations.toSorted()).toEqual([['a'], ['b'], ['c']]);
});
