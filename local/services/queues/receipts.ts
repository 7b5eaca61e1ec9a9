import { AwsError } from '../../gateway/aws-error.ts';
import { type JsonObject, stringOf } from '../../gateway/json.ts';
import { runBatch } from './batch.ts';
import type { QueueContext } from './context.ts';
import { wholeNumber } from './message-input.ts';
import { invalidParameter, missingParameter } from './queue-errors.ts';
import type { Queue } from './queue-store.ts';
import { isReceiptOf } from './receive.ts';

/** A message may be in flight this long in all, counted from its receive. */
const MAX_IN_FLIGHT_SECONDS = 43_200;

/** Deletes by receipt; a receipt whose message is gone or was received again since is no error, as on AWS. */
export function deleteOne({ store }: QueueContext, queue: Queue, input: JsonObject): JsonObject {
  store.delete(queue.name, receiptIn(queue, input));
  return {};
}

export function deleteMessages(context: QueueContext, queue: Queue, input: JsonObject): JsonObject {
  return context.store.atomically(() => runBatch(input, (entry) => deleteOne(context, queue, entry)));
}

/** `ChangeMessageVisibility`: counted from now, 0 to 43,200 seconds. */
export function setVisibility({ store, waiters, now }: QueueContext, queue: Queue, input: JsonObject): JsonObject {
  const receipt = receiptIn(queue, input);
  const seconds = wholeNumber(input, 'VisibilityTimeout', 0, MAX_IN_FLIGHT_SECONDS, 'Must be between 0 and 43200.');
  if (seconds === undefined) throw missingParameter('VisibilityTimeout');
  const at = now();
  const receivedAt = store.receivedAt(queue.name, receipt, at);
  if (receivedAt === undefined) {
    throw new AwsError(
      'MessageNotInflight',
      `Value ${receipt} for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.`,
      { queryCode: 'AWS.SimpleQueueService.MessageNotInflight' },
    );
  }
  if (at + seconds * 1000 > receivedAt + MAX_IN_FLIGHT_SECONDS * 1000) {
    throw invalidParameter(
      `Value ${seconds} for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is beyond the limit [43200 seconds].`,
    );
  }
  store.setVisible(queue.name, receipt, at + seconds * 1000);
  waiters.wake(queue.name);
  return {};
}

function receiptIn(queue: Queue, input: JsonObject): string {
  const receipt = stringOf(input.ReceiptHandle);
  if (receipt === undefined || receipt === '') throw missingParameter('ReceiptHandle');
  if (!isReceiptOf(queue.name, receipt)) {
    throw new AwsError(
      'ReceiptHandleIsInvalid',
      `The input receipt handle "${receipt}" is not a valid receipt handle.`,
    );
  }
  return receipt;
}
