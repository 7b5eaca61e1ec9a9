import type { SQLInputValue } from 'node:sqlite';
import type { Parsed } from '../dynalite.ts';
import { validationError } from '../errors.ts';
import { holds } from '../expressions/condition.ts';
import { project } from '../expressions/projection.ts';
import { checkKey, type RowKey, rowKeyOf } from '../store/keys.ts';
import { attributesOf, type Index, type TableSchema } from '../store/schema.ts';
import type { RangeRow } from '../store/store.ts';
import { MAX_PAGE_BYTES } from '../values/item-size.ts';
import { type Attributes, attributeOf } from '../values/values.ts';
import { consumedMember, type ReturnConsumedCapacity, readUnits } from './capacity.ts';

/** What Query and Scan have in common, after validation. */
export interface RangeRequest extends Pick<Parsed, '_filter' | '_projection'> {
  readonly TableName: string;
  readonly IndexName?: string;
  readonly Limit?: number;
  readonly Select?: 'COUNT' | 'ALL_ATTRIBUTES' | 'ALL_PROJECTED_ATTRIBUTES' | 'SPECIFIC_ATTRIBUTES';
  readonly ExclusiveStartKey?: Attributes;
  readonly ConsistentRead?: boolean;
  readonly ReturnConsumedCapacity?: ReturnConsumedCapacity;
}

/** The index a read goes to. @throws ValidationException when it does not exist or cannot give what is asked. */
export function indexFor(request: RangeRequest, table: TableSchema): Index | undefined {
  checkSelect(request);
  if (request.IndexName === undefined) return undefined;
  const index = table.indexes.find((each) => each.name === request.IndexName);
  if (index === undefined) throw validationError(`The table does not have the specified index: ${request.IndexName}`);
  if (request.ConsistentRead === true) {
    throw validationError('Consistent reads are not supported on global secondary indexes');
  }
  if (index.projected === undefined) return index;
  const { projected } = index;
  if (request.Select === 'ALL_ATTRIBUTES') {
    throw validationError(
      'One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index ' +
        `${index.name} because its projection type is not ALL`,
    );
  }
  const heads = [
    ...(request._projection?.paths.map((path) => String(path[0])) ?? []),
    ...Object.keys(request._filter?.pathHeads ?? {}),
  ];
  const missing = heads.filter((name) => !projected.has(name));
  if (missing.length > 0) {
    throw validationError(
      `One or more parameter values were invalid: Global secondary index ${index.name} does not project [${missing.join(', ')}]`,
    );
  }
  return index;
}

function checkSelect({ Select, IndexName, _projection }: RangeRequest): void {
  if (Select === undefined) return;
  if (_projection !== undefined && Select !== 'SPECIFIC_ATTRIBUTES') {
    throw validationError(`Cannot specify the ProjectionExpression when choosing to get ${Select}`);
  }
  if (_projection === undefined && Select === 'SPECIFIC_ATTRIBUTES') {
    throw validationError('Must specify the ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES');
  }
  if (Select === 'ALL_PROJECTED_ATTRIBUTES' && IndexName === undefined) {
    throw validationError('ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName');
  }
}

/** Where a page goes on. @throws ValidationException unless the start key is a whole key of table and index. */
export function startOf(
  request: RangeRequest,
  table: TableSchema,
  index: Index | undefined,
): { readonly at: RowKey; readonly item: RowKey } | undefined {
  const key = request.ExclusiveStartKey;
  if (key === undefined) return undefined;
  const names = new Set(
    [...attributesOf(table), ...(index === undefined ? [] : attributesOf(index))].map(({ name }) => name),
  );
  const invalid = validationError('The provided starting key is invalid');
  if (Object.keys(key).length !== names.size || Object.keys(key).some((name) => !names.has(name))) throw invalid;
  checkKey(
    pick(
      key,
      attributesOf(table).map(({ name }) => name),
    ),
    table,
  );
  if (index !== undefined)
    checkKey(
      pick(
        key,
        attributesOf(index).map(({ name }) => name),
      ),
      index,
    );
  return { at: rowKeyOf(key, index ?? table), item: rowKeyOf(key, table) };
}

/** SQL for "after the start key" in the order of reading. */
export function afterStart(
  start: { readonly at: RowKey; readonly item: RowKey },
  inIndex: boolean,
  backward: boolean,
): { readonly where: string; readonly values: SQLInputValue[] } {
  const columns = inIndex ? ['hash', 'range', 'item_hash', 'item_range'] : ['hash', 'range'];
  const values = [start.at.hash, start.at.range, ...(inIndex ? [start.item.hash, start.item.range] : [])];
  return {
    where: `(${columns.join(', ')}) ${backward ? '<' : '>'} (${columns.map(() => '?').join(', ')})`,
    values,
  };
}

/**
 * One page: ends at `Limit` rows or when 1 MB is read, both counted before the filter; then it names the last row read.
 */
export function pageOf(
  rows: Iterable<RangeRow>,
  request: RangeRequest,
  table: TableSchema,
  index: Index | undefined,
): { [member: string]: unknown } {
  const items: Attributes[] = [];
  let [scanned, bytes] = [0, 0];
  let last: Attributes | undefined;
  let matching = 0;
  for (const { item, size } of rows) {
    scanned++;
    bytes += size;
    if (request._filter === undefined || holds(request._filter.expression, item)) {
      matching++;
      if (request.Select !== 'COUNT') items.push(request._projection ? project(item, request._projection.paths) : item);
    }
    if (scanned === request.Limit || bytes >= MAX_PAGE_BYTES) {
      last = item;
      break;
    }
  }
  const names = [...attributesOf(table), ...(index === undefined ? [] : attributesOf(index))].map(({ name }) => name);
  const units = readUnits(bytes, request.ConsistentRead === true ? 'consistent' : 'eventual');
  return {
    Count: matching,
    ScannedCount: scanned,
    ...(request.Select === 'COUNT' ? {} : { Items: items }),
    ...(last === undefined ? {} : { LastEvaluatedKey: pick(last, names) }),
    ...consumedMember(
      request.ReturnConsumedCapacity,
      table.name,
      index === undefined ? { table: units, indexes: {} } : { table: 0, indexes: { [index.name]: units } },
    ),
  };
}

function pick(attributes: Attributes, names: readonly string[]): Attributes {
  const picked: Attributes = {};
  for (const name of names) {
    const value = attributeOf(attributes, name);
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}
