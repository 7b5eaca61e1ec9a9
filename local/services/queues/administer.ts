import { arnOf } from '../../gateway/access/arns.ts';
import { AwsError } from '../../gateway/aws-error.ts';
import { type JsonObject, listOf, objectOf, stringOf } from '../../gateway/json.ts';
import type { QueueContext } from './context.ts';
import { checkAttributes, DEFAULTS } from './queue-attributes.ts';
import { invalidParameter, missingParameter } from './queue-errors.ts';
import type { Queue } from './queue-store.ts';

/** Idempotent when the attributes given agree with those of the queue. */
export function createQueue({ store, now, urlOf }: QueueContext, input: JsonObject): JsonObject {
  const name = stringOf(input.QueueName);
  if (name === undefined) throw missingParameter('QueueName');
  if (!/^[\w-]{1,80}$/.test(name)) {
    throw invalidParameter(
      'Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length (FIFO queues are not part of the local cloud).',
    );
  }
  const given = checkAttributes(objectOf(input.Attributes));
  const existing = store.queue(name);
  if (existing === undefined) {
    const seconds = Math.floor(now() / 1000);
    store.saveQueue({ name, attributes: { ...DEFAULTS, ...given }, created: seconds, modified: seconds });
  } else {
    const other = Object.keys(given).find((key) => existing.attributes[key] !== given[key]);
    if (other !== undefined) {
      throw new AwsError(
        'QueueNameExists',
        `A queue already exists with the same name and a different value for attribute ${other}`,
        { queryCode: 'QueueAlreadyExists' },
      );
    }
  }
  return { QueueUrl: urlOf(name) };
}

export function listQueues({ store, urlOf }: QueueContext, input: JsonObject): JsonObject {
  const names = store.queueNames(stringOf(input.QueueNamePrefix) ?? '');
  return names.length === 0 ? {} : { QueueUrls: names.map(urlOf) };
}

export function setAttributes({ store, waiters, now }: QueueContext, queue: Queue, given: JsonObject): JsonObject {
  const attributes: { [name: string]: string } = { ...queue.attributes, ...checkAttributes(given) };
  // An empty policy takes it away.
  for (const name of ['RedrivePolicy', 'Policy', 'RedriveAllowPolicy']) {
    if (attributes[name] === '') delete attributes[name];
  }
  store.saveQueue({ ...queue, attributes, modified: Math.floor(now() / 1000) });
  waiters.wake(queue.name);
  return {};
}

export function describeQueue({ store, now }: QueueContext, queue: Queue, input: JsonObject): JsonObject {
  const { visible, inFlight, delayed } = store.counts(queue.name, now());
  const all: { readonly [name: string]: string } = {
    ...queue.attributes,
    QueueArn: arnOf('sqs', queue.name),
    CreatedTimestamp: String(queue.created),
    LastModifiedTimestamp: String(queue.modified),
    ApproximateNumberOfMessages: String(visible),
    ApproximateNumberOfMessagesNotVisible: String(inFlight),
    ApproximateNumberOfMessagesDelayed: String(delayed),
  };
  const names = listOf(input.AttributeNames);
  const known = new Set([
    ...Object.keys(all),
    'All',
    'Policy',
    'RedrivePolicy',
    'RedriveAllowPolicy',
    'KmsMasterKeyId',
  ]);
  const unknown = names.find((name) => typeof name !== 'string' || !known.has(name));
  if (unknown !== undefined) throw new AwsError('InvalidAttributeName', `Unknown Attribute ${String(unknown)}.`);
  const shown = Object.entries(all).filter(([name]) => names.includes('All') || names.includes(name));
  return shown.length === 0 ? {} : { Attributes: Object.fromEntries(shown) };
}
