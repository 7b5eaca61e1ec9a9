import type { SQLInputValue } from 'node:sqlite';
import { type KeyCondition, type Parsed, validations } from '../dynalite.ts';
import { validationError } from '../errors.ts';
import { holds } from '../expressions/condition.ts';
import { parseRequest } from '../requests.ts';
import { attributesOf, type KeyAttribute, type KeyPair } from '../store/schema.ts';
import { afterPrefix, orderedBytes } from '../values/key-order.ts';
import type { AttributeValue } from '../values/values.ts';
import type { Operation } from './operation.ts';
import { afterStart, indexFor, pageOf, type RangeRequest, startOf } from './range-read.ts';

interface QueryRequest extends RangeRequest, Pick<Parsed, 'KeyConditions'> {
  readonly ScanIndexForward?: boolean;
}

/** Part of a WHERE clause with its values. */
interface Bound {
  readonly where: string;
  readonly values: readonly SQLInputValue[];
}

export const query: Operation = ({ store }, body) => {
  const request = parseRequest<QueryRequest>(body, validations.query);
  const table = store.table(request.TableName);
  const index = indexFor(request, table);
  const keys = index ?? table;
  refuseKeysInFilter(request, keys);
  const bounds = boundsOf(request.KeyConditions ?? {}, keys);
  const backward = request.ScanIndexForward === false;
  const start = startOf(request, table, index);
  if (start !== undefined) {
    refuseForeignStart(request, keys);
    bounds.push(afterStart(start, index !== undefined, backward));
  }
  const rows = store.range({
    table,
    index,
    where: bounds.map((bound) => bound.where),
    values: bounds.flatMap((bound) => bound.values),
    backward,
  });
  return pageOf(rows, request, table, index);
};

/** The key conditions as bounds on `hash` and `range`. @throws ValidationException when they do not fit the keys. */
function boundsOf(conditions: { readonly [attribute: string]: KeyCondition }, keys: KeyPair): Bound[] {
  const { hash, range } = keys;
  const onHash = conditions[hash.name];
  if (onHash === undefined) throw missingCondition(hash);
  if (onHash.ComparisonOperator !== 'EQ') throw validationError('Query key condition not supported');
  const bounds: Bound[] = [{ where: 'hash = ?', values: bytesOf(onHash, hash) }];
  if (Object.keys(conditions).length === 1) return bounds;
  if (range === undefined) throw validationError('Query key condition not supported');
  const onRange = conditions[range.name];
  if (onRange === undefined) throw missingCondition(range);
  bounds.push(rangeBound(onRange, bytesOf(onRange, range)));
  return bounds;
}

const missingCondition = ({ name }: KeyAttribute) =>
  validationError(`Query condition missed key schema element: ${name}`);

function bytesOf(condition: KeyCondition, { name, type }: KeyAttribute): Buffer[] {
  return condition.AttributeValueList.map((value) => {
    const bytes = value[type] === undefined ? undefined : orderedBytes(value);
    if (bytes === undefined) {
      throw validationError(
        'One or more parameter values were invalid: Condition parameter type does not match schema type',
      );
    }
    if (bytes.length === 0 && condition.ComparisonOperator !== 'BEGINS_WITH') {
      throw validationError(
        'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty ' +
          `${type === 'B' ? 'binary' : 'string'} value. Key: ${name}`,
      );
    }
    return bytes;
  });
}

const SIGNS = { EQ: '=', LT: '<', LE: '<=', GT: '>', GE: '>=' } as const;

function rangeBound({ ComparisonOperator: operator }: KeyCondition, values: Buffer[]): Bound {
  if (operator === 'BETWEEN') return { where: 'range BETWEEN ? AND ?', values };
  if (operator !== 'BEGINS_WITH') return { where: `range ${SIGNS[operator]} ?`, values };
  const prefix = values[0] ?? Buffer.alloc(0);
  const end = afterPrefix(prefix);
  return end === undefined
    ? { where: 'range >= ?', values: [prefix] }
    : { where: 'range >= ? AND range < ?', values: [prefix, end] };
}

function refuseKeysInFilter(request: QueryRequest, keys: KeyPair): void {
  for (const { name } of attributesOf(keys)) {
    if (request._filter?.pathHeads[name]) {
      throw validationError(
        `Filter Expression can only contain non-primary key attributes: Primary key attribute: ${name}`,
      );
    }
  }
}

const OPERATORS = { ...SIGNS, BETWEEN: 'between' } as const;

/** A page can only go on inside what the query asks for. */
function refuseForeignStart({ ExclusiveStartKey: start = {}, KeyConditions = {} }: QueryRequest, keys: KeyPair): void {
  for (const { name } of attributesOf(keys)) {
    const condition = KeyConditions[name];
    if (condition !== undefined && !fulfils(start, name, condition)) {
      throw validationError(
        name === keys.hash.name
          ? 'The provided starting key is outside query boundaries based on provided conditions'
          : 'The provided starting key does not match the range key predicate',
      );
    }
  }
}

function fulfils(start: { [name: string]: AttributeValue }, name: string, condition: KeyCondition): boolean {
  const args = [[name], ...condition.AttributeValueList];
  return condition.ComparisonOperator === 'BEGINS_WITH'
    ? holds({ type: 'function', name: 'begins_with', args }, start)
    : holds({ type: OPERATORS[condition.ComparisonOperator], args }, start);
}
