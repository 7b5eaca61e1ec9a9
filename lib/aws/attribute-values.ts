import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Item, Value } from '../kernel/table.ts';

/**
 * Checks a value before it goes to the table, and answers the copy to send. DynamoDB holds text as UTF-8, which has no
 * lone surrogates (a model's JSON may): each becomes U+FFFD here rather than somewhere out of sight.
 * @throws TypeError naming the path, for what would be refused, rounded or lost on the way: undefined, NaN, infinities,
 * numbers beyond the safe integers or DynamoDB's range (1e-130 to 1e126), class instances, members called `__proto__`
 */
export const storable = (value: unknown, path: string): Value => {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed();
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number') return storableNumber(value, path);
  if (Array.isArray(value)) return value.map((part, index) => storable(part, `${path}[${index}]`));
  if (typeof value !== 'object') throw new TypeError(`${path} is ${typeof value}, which the table cannot hold.`);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new TypeError(`${path} is an instance of a class; expected a plain object.`);
  }
  const members = Object.entries(value).map(([name, part]): [string, Value] => {
    if (name === '__proto__') throw new TypeError(`${path} has a member called __proto__, which would be lost.`);
    return [name, storable(part, `${path}.${name}`)];
  });
  // The document client tells a map by the name of its constructor, and takes a member of that name for it.
  const isMistakable = members.some(([name]) => name === 'constructor');
  return isMistakable ? (new Map(members) as unknown as Value) : Object.fromEntries(members);
};

const storableNumber = (value: number, path: string): number => {
  const size = Math.abs(value);
  if (!(size <= Number.MAX_SAFE_INTEGER) || (size !== 0 && size < 1e-130)) {
    throw new TypeError(`${path} is ${value}; expected a finite number within the safe integers.`);
  }
  return value;
};

/** A whole item, checked. Keys must be text that is not empty; DynamoDB refuses others with less to go by. */
export const storableItem = (item: Item): { [attribute: string]: Value } => {
  checkKey(item);
  // The item itself stays an object: the document client takes it apart by its attributes.
  const whole = storable(item, 'item');
  return (whole instanceof Map ? Object.fromEntries(whole) : whole) as { [attribute: string]: Value };
};

/** @throws TypeError for keys that are empty, no text, or text that UTF-8 cannot hold (two keys might become one) */
export const checkKey = (key: { readonly pk: unknown; readonly sk: unknown }): void => {
  for (const name of ['pk', 'sk'] as const) {
    const value = key[name];
    if (typeof value !== 'string' || value === '' || !value.isWellFormed()) {
      throw new TypeError(`${name} is ${value === '' ? 'empty' : `${typeof value} or broken text`}; expected text.`);
    }
  }
};

/** Reads an item in wire form: the document client leaves the items inside errors as they came. */
export const fromAttributes = (item: { readonly [name: string]: AttributeValue }): Item =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, fromAttribute(value)])) as Item;

const fromAttribute = (value: AttributeValue): Value => {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return Number(value.N);
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.NULL !== undefined) return null;
  if (value.L !== undefined) return value.L.map(fromAttribute);
  if (value.M !== undefined) {
    return Object.fromEntries(Object.entries(value.M).map(([name, part]) => [name, fromAttribute(part)]));
  }
  throw new TypeError(`The table holds a ${Object.keys(value).join()} attribute, which nothing here writes.`);
};
