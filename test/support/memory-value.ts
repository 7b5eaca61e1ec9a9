import type { Item, Value } from '../../lib/kernel/table.ts';

/** A refusal as DynamoDB words it: the SDK's errors are told apart by `name`. */
export const invalid = (message: string): Error => Object.assign(new Error(message), { name: 'ValidationException' });

/** DynamoDB's limits: an item 400 KB, names and values together; a partition key 2,048 bytes, a sort key 1,024. */
const MAX_ITEM_BYTES = 400 * 1024;

/**
 * Bytes of a string in UTF-8. Short strings are taken as ASCII: the simulation stores millions of them, and what is lost
 * is far below the 400 KB that the sum is compared with.
 */
export const bytesOf = (text: string): number => (text.length < 64 ? text.length : Buffer.byteLength(text));

export interface Stored {
  readonly item: Item;
  /** About the bytes DynamoDB would count. */
  readonly size: number;
}

let counted = 0; // everything here is synchronous, so one counter serves each call of `freezeItem`

/** Copies and freezes, so that neither the writer nor a reader can change what is stored. */
const freeze = (value: unknown, path: string): Value => {
  switch (typeof value) {
    case 'string':
      counted += bytesOf(value);
      return value.isWellFormed() ? value : value.toWellFormed(); // UTF-8 has no lone surrogates
    case 'number':
      counted += 8;
      return checkedNumber(value, path);
    case 'boolean':
      counted += 1;
      return value;
    case 'object': {
      if (value === null) {
        counted += 1;
        return null;
      }
      counted += 3;
      if (Array.isArray(value)) return Object.freeze(value.map((part, i) => freeze(part, `${path}[${i}]`))) as Value[];
      const prototype: unknown = Object.getPrototypeOf(value);
      if (prototype !== Object.prototype && prototype !== null) throw invalid(`${path} is not a plain object.`);
      const copy: { [key: string]: Value } = {};
      for (const [name, part] of Object.entries(value)) {
        if (name === '__proto__')
          throw invalid(`${path} has a member named __proto__, which would be lost on the way.`);
        counted += bytesOf(name);
        copy[name] = freeze(part, `${path}.${name}`);
      }
      return Object.freeze(copy);
    }
    default:
      throw invalid(`${path} is ${typeof value}, which cannot be stored.`);
  }
};

const checkedNumber = (value: number, path: string): number => {
  if (!Number.isFinite(value)) throw invalid(`${path} is ${value}, which is no number DynamoDB can hold.`);
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) throw invalid(`${path} is beyond the safe integers.`);
  if (value !== 0 && Math.abs(value) < 1e-130) throw invalid(`${path} is too close to zero.`);
  return value === 0 ? 0 : value; // minus zero is stored as zero
};

/** A frozen copy of one attribute's value. @throws ValidationException */
export const freezeValue = (value: unknown, path: string): Value => freeze(value, path);

/** A value to compare with, as the wire would carry it. @throws ValidationException */
export const operand = (value: string | number | boolean, path: string): string | number | boolean => {
  if (typeof value === 'number') return checkedNumber(value, path);
  return typeof value !== 'string' || value.isWellFormed() ? value : value.toWellFormed();
};

const checkKey = (value: unknown, name: string, maxBytes: number): void => {
  if (typeof value !== 'string') throw invalid(`${name} is ${typeof value}; a key must be a string.`);
  if (value === '') throw invalid(`${name} is empty; a key must not be.`);
  if (!value.isWellFormed()) throw invalid(`${name} is broken text; two keys might become one.`);
  if (value.length * 3 > maxBytes && Buffer.byteLength(value) > maxBytes) {
    throw invalid(`${name} is longer than ${maxBytes} bytes.`);
  }
};

export const checkKeys = (key: { readonly pk: unknown; readonly sk: unknown }): void => {
  checkKey(key.pk, 'pk', 2048);
  checkKey(key.sk, 'sk', 1024);
};

/** A frozen copy of a whole item and its size. @throws ValidationException */
export const freezeItem = (item: { readonly [name: string]: unknown }): Stored => {
  checkKeys({ pk: item.pk, sk: item.sk });
  counted = 0;
  const copy = freeze(item, 'item') as unknown as Item;
  for (const [pk, sk] of INDEX_KEYS) {
    if (copy[pk] !== undefined) checkKey(copy[pk], pk, 2048);
    if (copy[sk] !== undefined) checkKey(copy[sk], sk, 1024);
  }
  if (counted > MAX_ITEM_BYTES) throw invalid('Item size has exceeded the maximum allowed size');
  return { item: copy, size: counted };
};

const INDEX_KEYS = [
  ['ownerPk', 'ownerSk'],
  ['duePk', 'dueSk'],
] as const;

/** Adds as DynamoDB does: decimals, not binary fractions (0.1 + 0.2 is 0.3). */
export const addDecimals = (left: number, right: number): number => {
  if (Number.isInteger(left) && Number.isInteger(right)) return left + right;
  const a = decimal(left);
  const b = decimal(right);
  const exponent = Math.min(a.exponent, b.exponent);
  const sum = a.digits * 10n ** BigInt(a.exponent - exponent) + b.digits * 10n ** BigInt(b.exponent - exponent);
  return Number(`${sum}e${exponent}`);
};

const decimal = (value: number): { readonly digits: bigint; readonly exponent: number } => {
  const [mantissa = '0', exponent = '0'] = String(value).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
};
