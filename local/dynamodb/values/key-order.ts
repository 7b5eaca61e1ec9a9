import { orderedNumber } from './numbers.ts';
import type { AttributeValue } from './values.ts';

/**
 * Bytes that sort as DynamoDB sorts keys: strings by their UTF-8 bytes, numbers by value, binary by unsigned bytes.
 * Nothing for the types that have no order.
 */
export function orderedBytes(value: AttributeValue): Buffer | undefined {
  if (value.S !== undefined) return Buffer.from(value.S, 'utf8');
  if (value.N !== undefined) return orderedNumber(value.N);
  if (value.B !== undefined) return Buffer.from(value.B, 'base64');
  return undefined;
}

/** The smallest bytes after everything that begins with `prefix`; nothing when there are none (all bytes 0xff). */
export function afterPrefix(prefix: Buffer): Buffer | undefined {
  const end = prefix.findLastIndex((byte) => byte !== 0xff);
  if (end < 0) return undefined;
  const next = Buffer.from(prefix.subarray(0, end + 1));
  next[end] = (next[end] ?? 0) + 1;
  return next;
}
