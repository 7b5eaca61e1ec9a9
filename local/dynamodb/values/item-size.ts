import { decimalOf } from './numbers.ts';
import type { Attributes, AttributeValue } from './values.ts';

/**
 * Sizes as "DynamoDB item sizes and formats" gives them: UTF-8 bytes of names and strings, raw bytes of binary, one byte
 * for two digits of a number and one more, 3 bytes for a list or map and 1 for each element.
 */

/** An item may be 400 KB with its attribute names. */
export const MAX_ITEM_BYTES = 400 * 1024;
export const MAX_PAGE_BYTES = 1024 * 1024;
/** Transactions, by the sum of their items. */
export const MAX_TRANSACTION_BYTES = 4 * 1024 * 1024;
export const MAX_BATCH_READ_BYTES = 16 * 1024 * 1024;

export function itemSize(item: Attributes): number {
  let size = 0;
  for (const [name, value] of Object.entries(item)) size += Buffer.byteLength(name) + valueSize(value);
  return size;
}

function valueSize(value: AttributeValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.N !== undefined) return numberSize(value.N);
  if (value.B !== undefined) return Buffer.byteLength(value.B, 'base64');
  if (value.SS !== undefined) return sum(value.SS, (each) => Buffer.byteLength(each));
  if (value.NS !== undefined) return sum(value.NS, numberSize);
  if (value.BS !== undefined) return sum(value.BS, (each) => Buffer.byteLength(each, 'base64'));
  if (value.L !== undefined) return 3 + sum(value.L, (each) => 1 + valueSize(each));
  if (value.M !== undefined) return 3 + Object.keys(value.M).length + itemSize(value.M);
  return 1;
}

/** Digits are packed in pairs that begin at even powers of ten; a negative number takes one byte more. */
function numberSize(text: string): number {
  const { negative, digits, exponent } = decimalOf(text);
  if (digits === '') return 1;
  const startsInsidePair = digits.length % 2 === 0 && exponent % 2 === 0;
  return 1 + Math.ceil(digits.length / 2) + (startsInsidePair ? 1 : 0) + (negative ? 1 : 0);
}

function sum<T>(values: readonly T[], size: (value: T) => number): number {
  let total = 0;
  for (const value of values) total += size(value);
  return total;
}
