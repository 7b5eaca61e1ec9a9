import { AwsError } from '../../gateway/aws-error.ts';
import { type JsonObject, objectOf, stringOf } from '../../gateway/json.ts';
import { messageSize } from './message-digest.ts';
import { invalidParameter, missingParameter } from './queue-errors.ts';
import type { Queue } from './queue-store.ts';

export interface NewMessage {
  readonly body: string;
  readonly attributes: JsonObject;
  readonly system: { readonly [name: string]: string };
  readonly delaySeconds: number;
  readonly size: number;
}

/** XML 1.0 characters; SQS takes no others. */
const FORBIDDEN = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** Checks a `SendMessage` input or a batch entry as SQS does. @throws AwsError */
export function readMessage(input: JsonObject, queue: Queue): NewMessage {
  const body = input.MessageBody;
  if (typeof body !== 'string' || body === '') throw missingParameter('MessageBody');
  if (FORBIDDEN.test(body)) {
    throw new AwsError(
      'InvalidMessageContents',
      'Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF.',
    );
  }
  const attributes = checkMessageAttributes(objectOf(input.MessageAttributes));
  const size = messageSize(body, attributes);
  const limit = Number(queue.attributes.MaximumMessageSize);
  if (size > limit) {
    throw invalidParameter(`One or more parameters are invalid. Reason: Message must be shorter than ${limit} bytes.`);
  }
  const delay = wholeNumber(input, 'DelaySeconds', 0, 900, 'DelaySeconds must be >= 0 and <= 900.');
  const system: { [name: string]: string } = {};
  const trace = stringOf(objectOf(objectOf(input.MessageSystemAttributes).AWSTraceHeader).StringValue);
  if (trace !== undefined) system.AWSTraceHeader = trace;
  const group = input.MessageGroupId;
  if (group !== undefined) {
    if (typeof group !== 'string' || !/^[\x21-\x7e]{1,128}$/.test(group)) {
      throw invalidParameter(
        `Value ${String(group)} for parameter MessageGroupId is invalid. Reason: MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length.`,
      );
    }
    system.MessageGroupId = group;
  }
  if (input.MessageDeduplicationId !== undefined) {
    throw invalidParameter(
      'The request include parameter MessageDeduplicationId which is not valid for this queue type.',
    );
  }
  return { body, attributes, system, delaySeconds: delay ?? Number(queue.attributes.DelaySeconds), size };
}

function checkMessageAttributes(attributes: JsonObject): JsonObject {
  const names = Object.keys(attributes);
  if (names.length > 10) {
    throw invalidParameter(`Number of message attributes [${names.length}] exceeds the allowed maximum [10].`);
  }
  for (const name of names) {
    const { DataType: type, StringValue: text, BinaryValue: binary } = objectOf(attributes[name]);
    if (typeof type !== 'string' || !/^(String|Number|Binary)(\..+)?$/.test(type)) {
      throw invalidParameter(
        `The type of message (user) attribute '${name}' is invalid. You must use only the following supported type prefixes: Binary, Number, String.`,
      );
    }
    const value = type.startsWith('Binary') ? binary : text;
    if (typeof value !== 'string' || value === '') {
      throw invalidParameter(`Message (user) attribute '${name}' must contain a non-empty value of type '${type}'.`);
    }
  }
  return attributes;
}

/** An optional whole number in a range. @throws AwsError in SQS's sentence */
export function wholeNumber(
  input: JsonObject,
  name: string,
  min: number,
  max: number,
  reason: string,
): number | undefined {
  const value = input[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw invalidParameter(`Value ${JSON.stringify(value)} for parameter ${name} is invalid. Reason: ${reason}`);
  }
  return value;
}
