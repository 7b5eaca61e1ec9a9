import { createHash } from 'node:crypto';
import { type JsonObject, objectOf, stringOf } from '../../gateway/json.ts';

export const md5 = (text: string): string => createHash('md5').update(text, 'utf8').digest('hex');

/**
 * MD5 of message attributes: sorted by name; name, type and value each with a four-byte length before it.
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html
 */
export function md5OfAttributes(attributes: JsonObject): string | undefined {
  const names = Object.keys(attributes).sort();
  if (names.length === 0) return undefined;
  const hash = createHash('md5');
  const add = (bytes: Buffer): void => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hash.update(length).update(bytes);
  };
  for (const name of names) {
    const { DataType: type, StringValue: text, BinaryValue: binary } = objectOf(attributes[name]);
    const isBinary = stringOf(type)?.startsWith('Binary') === true;
    add(Buffer.from(name));
    add(Buffer.from(stringOf(type) ?? ''));
    hash.update(Buffer.from([isBinary ? 2 : 1]));
    add(isBinary ? Buffer.from(stringOf(binary) ?? '', 'base64') : Buffer.from(stringOf(text) ?? ''));
  }
  return hash.digest('hex');
}

/** Bytes that count against the limit: the body and each attribute's name, type and value. */
export function messageSize(body: string, attributes: JsonObject): number {
  let size = Buffer.byteLength(body);
  for (const [name, value] of Object.entries(attributes)) {
    const { DataType: type, StringValue: text, BinaryValue: binary } = objectOf(value);
    size += Buffer.byteLength(name) + Buffer.byteLength(stringOf(type) ?? '') + Buffer.byteLength(stringOf(text) ?? '');
    size += Buffer.byteLength(stringOf(binary) ?? '', 'base64');
  }
  return size;
}
