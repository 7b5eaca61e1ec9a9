import { type DynamoDbError, validationError } from '../errors.ts';
import { orderedBytes } from '../values/key-order.ts';
import { type Attributes, attributeOf, typeOf } from '../values/values.ts';
import { attributesOf, type KeyAttribute, type KeyPair, type TableSchema } from './schema.ts';

/** Where a row stands: its key in bytes that sort as DynamoDB does. A key without range has empty range bytes. */
export interface RowKey {
  readonly hash: Buffer;
  readonly range: Buffer;
}

const MAX_HASH_BYTES = 2048;
const MAX_RANGE_BYTES = 1024;
const NONE = Buffer.alloc(0);

/** The row of an item that is known to carry a valid key. */
export function rowKeyOf(attributes: Attributes, key: KeyPair): RowKey {
  return {
    hash: bytesOf(attributes, key.hash),
    range: key.range === undefined ? NONE : bytesOf(attributes, key.range),
  };
}

function bytesOf(attributes: Attributes, { name }: KeyAttribute): Buffer {
  const value = attributeOf(attributes, name);
  const bytes = value === undefined ? undefined : orderedBytes(value);
  if (bytes === undefined) throw new Error(`Key attribute ${name} is missing`);
  return bytes;
}

/** @throws ValidationException unless `key` holds exactly the key attributes, each of its type, not empty, not too long. */
export function checkKey(key: Attributes, pair: KeyPair): void {
  const attributes = attributesOf(pair);
  if (Object.keys(key).length !== attributes.length) throw schemaMismatch();
  for (const attribute of attributes) {
    if (attributeOf(key, attribute.name)?.[attribute.type] === undefined) throw schemaMismatch();
  }
  checkKeyValues(key, pair);
}

/** @throws ValidationException when a whole item's key is missing, mistyped, empty or too long. */
export function checkItemKey(item: Attributes, pair: KeyPair): void {
  for (const { name, type } of attributesOf(pair)) {
    const value = attributeOf(item, name);
    if (value === undefined) throw invalid(`Missing the key ${name} in the item`);
    if (value[type] === undefined) {
      throw invalid(`Type mismatch for key ${name} expected: ${type} actual: ${typeOf(value)}`);
    }
  }
  checkKeyValues(item, pair);
}

/** @throws ValidationException when an item carries an index key of the wrong type, empty or too long. Missing is fine: sparse. */
export function checkIndexKeys(item: Attributes, table: TableSchema): void {
  for (const index of table.indexes) {
    for (const { name, type } of attributesOf(index)) {
      const value = attributeOf(item, name);
      if (value === undefined) continue;
      if (value[type] === undefined) {
        throw invalid(
          `Type mismatch for Index Key ${name} Expected: ${type} Actual: ${typeOf(value)} IndexName: ${index.name}`,
        );
      }
      const size = orderedBytes(value)?.length ?? 0;
      if (size === 0) {
        throw validationError(
          'One or more parameter values are not valid. A value specified for a secondary index key is not supported. ' +
            `The AttributeValue for a key attribute cannot contain an empty ${kind(type)} value. IndexName: ${index.name}, IndexKey: ${name}`,
        );
      }
      checkSize(size, name === index.hash.name);
    }
  }
}

function checkKeyValues(attributes: Attributes, pair: KeyPair): void {
  for (const attribute of attributesOf(pair)) {
    const size = bytesOf(attributes, attribute).length;
    if (size === 0) {
      throw validationError(
        'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty ' +
          `${kind(attribute.type)} value. Key: ${attribute.name}`,
      );
    }
    checkSize(size, attribute.name === pair.hash.name);
  }
}

function checkSize(size: number, isHash: boolean): void {
  if (isHash && size > MAX_HASH_BYTES) {
    throw invalid(`Size of hashkey has exceeded the maximum size limit of${MAX_HASH_BYTES} bytes`);
  }
  if (!isHash && size > MAX_RANGE_BYTES) {
    throw invalid(`Aggregated size of all range keys has exceeded the size limit of ${MAX_RANGE_BYTES} bytes`);
  }
}

const kind = (type: string): string => (type === 'B' ? 'binary' : 'string');

const invalid = (message: string): DynamoDbError =>
  validationError(`One or more parameter values were invalid: ${message}`);

export const schemaMismatch = (): DynamoDbError =>
  validationError('The provided key element does not match the schema');
