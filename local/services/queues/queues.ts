import { queueNameOf } from '../../gateway/access/arns.ts';
import { AwsError } from '../../gateway/aws-error.ts';
import { type JsonObject, objectOf, stringOf } from '../../gateway/json.ts';
import type { LocalQueue } from '../../template/assembly.ts';
import { createQueue, describeQueue, listQueues, setAttributes } from './administer.ts';
import { runBatch } from './batch.ts';
import type { QueueContext } from './context.ts';
import { wholeNumber } from './message-input.ts';
import { checkAttributes, DEFAULTS } from './queue-attributes.ts';
import { missingParameter, queueDoesNotExist, queueError } from './queue-errors.ts';
import { type Queue, QueueStore } from './queue-store.ts';
import { deleteMessages, deleteOne, setVisibility } from './receipts.ts';
import { presentMessage, receive } from './receive.ts';
import { sendBatch, sendOne } from './send.ts';
import { Waiters } from './waiters.ts';

/** Standard queues with SQS's JSON API. */
export interface Queues {
  /**
   * Runs one operation.
   * @param signal ends a long poll early, without a message
   * @throws AwsError
   */
  handle(operation: string, input: JsonObject, signal?: AbortSignal): Promise<JsonObject>;
  /** Creates a queue of the template, or brings its attributes up to the template; messages stay. */
  ensure(queue: LocalQueue): void;
  /** Ends all long polls and closes the file. */
  close(): void;
}

/**
 * @param options.file path of the SQLite file, or `:memory:`
 * @param options.urlOf public URL of a queue (the gateway's)
 */
export function createQueues(options: { file: string; urlOf: (name: string) => string; now?: () => number }): Queues {
  const now = options.now ?? Date.now;
  const store = new QueueStore(options.file);
  const waiters = new Waiters({ nextVisibleAt: (queue) => store.nextVisibleAt(queue), now });
  const context: QueueContext = { store, waiters, now, urlOf: options.urlOf };
  let closed = false;
  return {
    async handle(operation, input, signal) {
      if (closed) throw new AwsError('ServiceUnavailable', 'The queues are shutting down.', { status: 503 });
      return run(context, operation, input, signal);
    },
    ensure({ name, attributes }) {
      const seconds = Math.floor(now() / 1000);
      const created = store.queue(name)?.created ?? seconds;
      store.saveQueue({
        name,
        attributes: { ...DEFAULTS, ...checkAttributes(attributes) },
        created,
        modified: seconds,
      });
    },
    close() {
      if (closed) return;
      closed = true;
      waiters.close();
      store.close();
    },
  };
}

async function run(
  context: QueueContext,
  operation: string,
  input: JsonObject,
  signal?: AbortSignal,
): Promise<JsonObject> {
  switch (operation) {
    case 'CreateQueue':
      return createQueue(context, input);
    case 'ListQueues':
      return listQueues(context, input);
    case 'GetQueueUrl': {
      const name = stringOf(input.QueueName);
      if (name === undefined) throw missingParameter('QueueName');
      return { QueueUrl: context.urlOf(named(context, name).name) };
    }
  }
  const url = stringOf(input.QueueUrl);
  if (url === undefined || url === '') throw missingParameter('QueueUrl');
  const queue = named(context, queueNameOf(url));
  switch (operation) {
    case 'SendMessage':
      return sendOne(context, queue, input);
    case 'SendMessageBatch':
      return sendBatch(context, queue, input);
    case 'ReceiveMessage':
      return receiveMessages(context, queue, input, signal);
    case 'DeleteMessage':
      return deleteOne(context, queue, input);
    case 'DeleteMessageBatch':
      return deleteMessages(context, queue, input);
    case 'ChangeMessageVisibility':
      return setVisibility(context, queue, input);
    case 'ChangeMessageVisibilityBatch':
      return runBatch(input, (entry) => setVisibility(context, queue, entry));
    case 'GetQueueAttributes':
      return describeQueue(context, queue, input);
    case 'SetQueueAttributes':
      return setAttributes(context, queue, objectOf(input.Attributes));
    case 'PurgeQueue':
      context.store.purge(queue.name);
      return {};
    case 'DeleteQueue':
      context.store.dropQueue(queue.name);
      return {};
    default:
      throw queueError('UnsupportedOperation', `The local cloud's queues do not have the operation ${operation}.`);
  }
}

function named({ store }: QueueContext, name: string): Queue {
  const queue = store.queue(name);
  if (queue === undefined) throw queueDoesNotExist();
  return queue;
}

async function receiveMessages(
  context: QueueContext,
  queue: Queue,
  input: JsonObject,
  signal?: AbortSignal,
): Promise<JsonObject> {
  const limit = wholeNumber(input, 'MaxNumberOfMessages', 1, 10, 'Must be between 1 and 10, if provided.') ?? 1;
  const visibility = wholeNumber(input, 'VisibilityTimeout', 0, 43_200, 'Must be between 0 and 43200, if provided.');
  const wait = wholeNumber(input, 'WaitTimeSeconds', 0, 20, 'Must be >= 0 and <= 20, if provided.');
  const waitSeconds = wait ?? Number(queue.attributes.ReceiveMessageWaitTimeSeconds);
  const attempt = (): JsonObject[] | undefined => {
    // Read anew: attributes may have been changed while this poll waited.
    const current = context.store.queue(queue.name);
    if (current === undefined) throw queueDoesNotExist();
    const taken = receive(context.store, current, {
      limit,
      visibilitySeconds: visibility ?? Number(current.attributes.VisibilityTimeout),
      now: context.now(),
      buried: (dlq) => context.waiters.wake(dlq),
    });
    return taken.length === 0 ? undefined : taken.map((one) => presentMessage(one, input));
  };
  const messages =
    attempt() ??
    (waitSeconds > 0 ? await context.waiters.wait(queue.name, waitSeconds * 1000, signal, attempt) : undefined);
  return messages === undefined ? {} : { Messages: messages };
}
