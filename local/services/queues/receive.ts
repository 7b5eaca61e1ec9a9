import { randomUUID } from 'node:crypto';
import { arnOf } from '../../gateway/access/arns.ts';
import { type JsonObject, listOf, objectOf } from '../../gateway/json.ts';
import { LOCAL } from '../../names.ts';
import { md5, md5OfAttributes } from './message-digest.ts';
import { redriveOf } from './queue-attributes.ts';
import type { Queue, QueueStore, StoredMessage } from './queue-store.ts';

/** A message as it is handed out, not yet cut to what the caller asked for. */
export interface Received {
  readonly message: StoredMessage;
  readonly receipt: string;
}

/**
 * Takes up to `limit` visible messages in one transaction. A message that was received `maxReceiveCount` times already
 * goes to the dead-letter queue instead.
 * @param buried is told the name of the dead-letter queue, so that its pollers wake
 */
export function receive(
  store: QueueStore,
  queue: Queue,
  options: { limit: number; visibilitySeconds: number; now: number; buried: (queue: string) => void },
): Received[] {
  const { now, limit } = options;
  const redrive = redriveOf(queue.attributes.RedrivePolicy);
  const dlqName = redrive === undefined ? undefined : redrive.dlqArn.slice(redrive.dlqArn.lastIndexOf(':') + 1);
  const dlq = dlqName === undefined ? undefined : store.queue(dlqName);
  const taken: Received[] = [];
  let moved = false;
  store.atomically(() => {
    store.expire(queue.name, now - Number(queue.attributes.MessageRetentionPeriod) * 1000);
    while (taken.length < limit) {
      const found = store.visible(queue.name, now, limit - taken.length);
      if (found.length === 0) break;
      let progressed = false;
      for (const message of found) {
        if (redrive !== undefined && dlq !== undefined && message.received >= redrive.maxReceiveCount) {
          store.bury(message.id, dlq.name, now, arnOf('sqs', queue.name));
          moved = true;
          progressed = true;
          continue;
        }
        if (taken.some((one) => one.message.id === message.id)) continue;
        const receipt = receiptOf(queue.name, message.id);
        store.take(message.id, receipt, now + options.visibilitySeconds * 1000, now);
        taken.push({
          message: { ...message, received: message.received + 1, firstReceivedAt: message.firstReceivedAt ?? now },
          receipt,
        });
        progressed = true;
      }
      // A visibility of 0 leaves a taken message visible: it must not be taken twice in one receive.
      if (!progressed) break;
    }
  });
  if (moved && dlq !== undefined) options.buried(dlq.name);
  return taken;
}

/** Opaque to callers; names queue and row, so that a handle of another queue or no handle at all is told apart. */
const receiptOf = (queue: string, id: number): string =>
  Buffer.from(`${queue}/${id}/${randomUUID()}`).toString('base64');

/** Whether the text can be a receipt handle of this queue. */
export const isReceiptOf = (queue: string, receipt: string): boolean =>
  Buffer.from(receipt, 'base64').toString('utf8').startsWith(`${queue}/`);

/** The message in the shape of `ReceiveMessage`, with the attributes that were asked for. */
export function presentMessage({ message, receipt }: Received, input: JsonObject): JsonObject {
  const all = objectOf(JSON.parse(message.attributes));
  const wanted = listOf(input.MessageAttributeNames).filter((name) => typeof name === 'string');
  const attributes = Object.fromEntries(Object.entries(all).filter(([name]) => wants(wanted, name)));
  const system: { [name: string]: string } = {
    SenderId: LOCAL.account,
    SentTimestamp: String(message.sentAt),
    ApproximateReceiveCount: String(message.received),
    ApproximateFirstReceiveTimestamp: String(message.firstReceivedAt ?? message.sentAt),
    ...(JSON.parse(message.system) as { [name: string]: string }),
    ...(message.deadLetterSource === null ? {} : { DeadLetterQueueSourceArn: message.deadLetterSource }),
  };
  const names = [...listOf(input.MessageSystemAttributeNames), ...listOf(input.AttributeNames)];
  const shown = Object.entries(system).filter(([name]) => names.includes('All') || names.includes(name));
  const digest = md5OfAttributes(attributes);
  return {
    MessageId: message.messageId,
    ReceiptHandle: receipt,
    MD5OfBody: md5(message.body),
    Body: message.body,
    ...(shown.length === 0 ? {} : { Attributes: Object.fromEntries(shown) }),
    ...(digest === undefined ? {} : { MessageAttributes: attributes, MD5OfMessageAttributes: digest }),
  };
}

const wants = (wanted: readonly string[], name: string): boolean =>
  wanted.some(
    (one) => one === 'All' || one === name || (one.endsWith('.*') && name.startsWith(one.slice(0, -1))) || one === '.*',
  );
