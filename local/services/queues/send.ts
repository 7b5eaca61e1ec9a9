import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../gateway/json.ts';
import { batchEntries, runBatch } from './batch.ts';
import type { QueueContext } from './context.ts';
import { md5, md5OfAttributes } from './message-digest.ts';
import { type NewMessage, readMessage } from './message-input.ts';
import { queueError } from './queue-errors.ts';
import type { Queue } from './queue-store.ts';

/** All messages of one batch together may have this many bytes. */
const BATCH_BYTES = 1_048_576;

export function sendOne(context: QueueContext, queue: Queue, input: JsonObject): JsonObject {
  const output = insert(context, queue, readMessage(input, queue));
  context.waiters.wake(queue.name);
  return output;
}

/** Good entries are sent in one transaction; bad ones are refused one by one. */
export function sendBatch(context: QueueContext, queue: Queue, input: JsonObject): JsonObject {
  const messages = new Map<JsonObject, NewMessage>();
  let size = 0;
  const read = (entry: JsonObject): NewMessage => {
    const known = messages.get(entry) ?? readMessage(entry, queue);
    messages.set(entry, known);
    return known;
  };
  const entries = batchEntries(input);
  runBatch({ Entries: entries }, (entry) => {
    size += read(entry).size;
    return {};
  });
  if (size > BATCH_BYTES) {
    throw queueError(
      'BatchRequestTooLong',
      `Batch requests cannot be longer than ${BATCH_BYTES} bytes. You have sent ${size} bytes.`,
    );
  }
  const output = context.store.atomically(() =>
    runBatch({ Entries: entries }, (entry) => insert(context, queue, read(entry))),
  );
  context.waiters.wake(queue.name);
  return output;
}

function insert({ store, now }: QueueContext, queue: Queue, message: NewMessage): JsonObject {
  const sentAt = now();
  const messageId = randomUUID();
  store.insert(
    {
      messageId,
      queue: queue.name,
      body: message.body,
      attributes: JSON.stringify(message.attributes),
      system: JSON.stringify(message.system),
      sentAt,
    },
    sentAt + message.delaySeconds * 1000,
  );
  const digest = md5OfAttributes(message.attributes);
  return {
    MessageId: messageId,
    MD5OfMessageBody: md5(message.body),
    ...(digest === undefined ? {} : { MD5OfMessageAttributes: digest }),
  };
}
