import { setTimeout as sleep } from 'node:timers/promises';
import {
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { Assembly, LocalEventSourceMapping } from '../template/assembly.ts';
import type { Credentials } from './environment.ts';
import type { Functions } from './functions.ts';
import { doneMessages, sqsEvent } from './sqs-event.ts';

/** Longest wait of one ReceiveMessage, seconds (an SQS limit). */
const LONG_POLL_SECONDS = 20;
/** Messages of one receive, and of one batch of deletes (an SQS limit). */
const RECEIVE_MAX = 10;
/** So often a window looks for more. */
const GATHER_EVERY_MS = 50;

/** Faults put into deliveries on purpose (`BATON_CHAOS`). */
export interface DeliveryChaos {
  /** How often and in which order these messages are handed over; each list is one round of deliveries. */
  deliveries<T>(messages: readonly T[]): readonly T[];
  /** Milliseconds to hold one delivery back. */
  deliveryDelayMs(): number;
}

export interface EventSourceOptions {
  readonly assembly: Assembly;
  readonly functions: Functions;
  readonly region: string;
  readonly gatewayUrl: string;
  credentialsOf(roleLogicalId: string): Credentials;
  readonly chaos?: DeliveryChaos;
  /** Gets one line when a queue cannot be read. */
  echo(line: string): void;
}

/**
 * Plays the event source mappings: takes messages from the queues as the mapped function's own role would, so that a role
 * without the right to receive gets nothing here either, and hands them to the function.
 */
export const startEventSources = (options: EventSourceOptions): { close(): Promise<void> } => {
  const stop = new AbortController();
  const loops = options.assembly.eventSourceMappings
    .filter(({ enabled }) => enabled)
    .map((mapping) => pollQueue(mapping, options, stop.signal));
  return {
    async close() {
      stop.abort();
      await Promise.all(loops);
    },
  };
};

const isForDeadLetters = ({ queues }: Assembly, arn: string): boolean =>
  queues.some(({ attributes: { RedrivePolicy = '{}' } }) => JSON.parse(RedrivePolicy).deadLetterTargetArn === arn);

const pollQueue = async (
  mapping: LocalEventSourceMapping,
  options: EventSourceOptions,
  stop: AbortSignal,
): Promise<void> => {
  const { assembly, functions, echo } = options;
  const fn = assembly.functions.find(({ arn }) => arn === mapping.functionArn);
  const queue = assembly.queues.find(({ arn }) => arn === mapping.queueArn);
  if (fn === undefined || queue === undefined)
    throw new Error(`${mapping.logicalId} names a queue or function that is not there.`);
  const sqs = new SQSClient({
    region: options.region,
    endpoint: options.gatewayUrl,
    credentials: options.credentialsOf(fn.roleLogicalId),
    maxAttempts: 1,
  });
  const limit = mapping.maxConcurrency ?? Number.POSITIVE_INFINITY;
  // What was delayed comes in its second; the process that takes it should not be starting then.
  if (!isForDeadLetters(assembly, queue.arn)) functions.warm(fn.arn);
  let running = 0;
  let wake = (): void => {};
  stop.addEventListener('abort', () => wake());

  const deliver = async (batch: readonly Message[]): Promise<void> => {
    running++;
    try {
      await sleepUnlessStopped(options.chaos?.deliveryDelayMs() ?? 0, stop);
      const ids = batch.map(({ MessageId }) => MessageId ?? '');
      const outcome = await functions.invoke(fn.arn, sqsEvent(batch, queue.arn, options.region));
      // A failed event leaves its messages: their visibility time-out, which the function may have changed, decides.
      if (!outcome.ok) return;
      const done = mapping.reportsBatchItemFailures ? doneMessages(outcome.payload, ids) : ids;
      const handles = batch.flatMap(({ MessageId = '', ReceiptHandle = '' }) =>
        done.includes(MessageId) ? [ReceiptHandle] : [],
      );
      await deleteAll(sqs, queue.url, handles);
    } catch (error) {
      if (!stop.aborted) echo(`[${fn.name}] ${queue.name}: ${messageOf(error)}`);
    } finally {
      running--;
      wake();
    }
  };

  let failures = 0;
  while (!stop.aborted) {
    const free = Math.min(functions.free(fn.arn), limit - running);
    if (free <= 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
        // Another caller of the same function may have freed the slot; its end is not told here.
        setTimeout(resolve, 100);
      });
      continue;
    }
    try {
      const messages = await gather(sqs, queue.url, mapping, free, stop);
      failures = 0;
      for (const batch of batches(options.chaos?.deliveries(messages) ?? messages, mapping.batchSize))
        void deliver(batch);
    } catch (error) {
      if (stop.aborted) break;
      // Said once, then tried again with growing pauses: a throttle heals, a missing grant is seen on the terminal.
      if (failures++ === 0) echo(`[${fn.name}] cannot receive from ${queue.name}: ${messageOf(error)}`);
      await sleepUnlessStopped(Math.min(5000, 100 * 2 ** failures), stop);
    }
  }
  sqs.destroy();
};

const receive = async (
  sqs: SQSClient,
  QueueUrl: string,
  MaxNumberOfMessages: number,
  WaitTimeSeconds: number,
  stop: AbortSignal,
): Promise<readonly Message[]> => {
  const command = new ReceiveMessageCommand({
    QueueUrl,
    MaxNumberOfMessages,
    WaitTimeSeconds,
    MessageSystemAttributeNames: ['All'],
    MessageAttributeNames: ['All'],
  });
  return (await sqs.send(command, { abortSignal: stop })).Messages ?? [];
};

/**
 * What one poll brings: without a window the messages of one receive; with one, what comes until a batch is full or the window
 * has passed since its first message.
 * @param free how many batches could start
 */
const gather = async (
  sqs: SQSClient,
  queueUrl: string,
  { batchSize, windowSeconds }: LocalEventSourceMapping,
  free: number,
  stop: AbortSignal,
): Promise<readonly Message[]> => {
  const most = Math.min(RECEIVE_MAX, free * batchSize);
  const first = await receive(sqs, queueUrl, most, LONG_POLL_SECONDS, stop);
  if (windowSeconds === 0 || first.length === 0) return first;
  const all = [...first];
  const until = performance.now() + windowSeconds * 1000;
  while (all.length < batchSize && performance.now() < until && !stop.aborted) {
    const room = Math.min(RECEIVE_MAX, batchSize - all.length);
    // What is in hand is handed over, whatever becomes of the rest.
    const next = await receive(sqs, queueUrl, room, 0, stop).catch(() => undefined);
    if (next === undefined) break;
    all.push(...next);
    if (next.length === 0) await sleepUnlessStopped(GATHER_EVERY_MS, stop);
  }
  return all;
};

/** As many at once as SQS takes, as Lambda's pollers do. */
const deleteAll = async (sqs: SQSClient, QueueUrl: string, handles: readonly string[]): Promise<void> => {
  const [only] = handles;
  if (handles.length === 1) {
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: only }));
    return;
  }
  await Promise.all(
    batches(handles, RECEIVE_MAX).map((some) => {
      const Entries = some.map((ReceiptHandle, n) => ({ Id: String(n), ReceiptHandle }));
      return sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    }),
  );
};

const batches = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));

const sleepUnlessStopped = async (ms: number, stop: AbortSignal): Promise<void> => {
  if (ms > 0) await sleep(ms, undefined, { signal: stop }).catch(() => {});
};

const messageOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);
