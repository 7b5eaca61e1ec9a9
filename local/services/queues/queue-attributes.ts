import { AwsError } from '../../gateway/aws-error.ts';
import { type JsonObject, objectOf, stringOf } from '../../gateway/json.ts';

export type QueueAttributes = { readonly [name: string]: string };

/** What a queue has when nothing is said. */
export const DEFAULTS: QueueAttributes = {
  DelaySeconds: '0',
  MaximumMessageSize: '1048576',
  MessageRetentionPeriod: '345600',
  ReceiveMessageWaitTimeSeconds: '0',
  VisibilityTimeout: '30',
  SqsManagedSseEnabled: 'true',
};

const RANGES: { readonly [name: string]: readonly [min: number, max: number] } = {
  DelaySeconds: [0, 900],
  MaximumMessageSize: [1024, 1_048_576],
  MessageRetentionPeriod: [60, 1_209_600],
  ReceiveMessageWaitTimeSeconds: [0, 20],
  VisibilityTimeout: [0, 43_200],
  KmsDataKeyReusePeriodSeconds: [60, 86_400],
};

const OTHERS = new Set(['Policy', 'RedrivePolicy', 'RedriveAllowPolicy', 'KmsMasterKeyId', 'SqsManagedSseEnabled']);

/** @throws AwsError `InvalidAttributeName` or `InvalidAttributeValue` */
export function checkAttributes(given: JsonObject): QueueAttributes {
  const out: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(given)) {
    const text = stringOf(value);
    const range = RANGES[name];
    if (range === undefined && !OTHERS.has(name)) {
      const fifo = name.startsWith('Fifo') || name === 'ContentBasedDeduplication' || name === 'DeduplicationScope';
      const why = fifo ? ' FIFO queues are not part of the local cloud.' : '';
      throw new AwsError('InvalidAttributeName', `Unknown Attribute ${name}.${why}`);
    }
    const number = Number(text);
    const inRange = range === undefined || (Number.isInteger(number) && number >= range[0] && number <= range[1]);
    if (text === undefined || !inRange) throw invalidValue(name);
    if (name === 'RedrivePolicy' && text !== '' && redriveOf(text) === undefined) throw invalidValue(name);
    out[name] = text;
  }
  return out;
}

const invalidValue = (name: string): AwsError =>
  new AwsError('InvalidAttributeValue', `Invalid value for the parameter ${name}.`);

/** Where worn-out messages go; `undefined` without a (valid) policy. */
export function redriveOf(policy: string | undefined): { dlqArn: string; maxReceiveCount: number } | undefined {
  if (policy === undefined || policy === '') return undefined;
  try {
    const { deadLetterTargetArn: dlqArn, maxReceiveCount } = objectOf(JSON.parse(policy));
    const count = Number(maxReceiveCount);
    if (typeof dlqArn !== 'string' || !Number.isInteger(count) || count < 1 || count > 1000) return undefined;
    return { dlqArn, maxReceiveCount: count };
  } catch {
    return undefined;
  }
}
