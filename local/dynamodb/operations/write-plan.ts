import type { Parsed } from '../dynalite.ts';
import { conditionFailed, type DynamoDbError, validationError } from '../errors.ts';
import { holds } from '../expressions/condition.ts';
import { applyUpdate } from '../expressions/update.ts';
import { type IndexChange, indexChanges } from '../store/index-entries.ts';
import { checkIndexKeys, checkItemKey, checkKey, type RowKey, rowKeyOf } from '../store/keys.ts';
import { attributesOf, type TableSchema } from '../store/schema.ts';
import type { Store, StoredItem } from '../store/store.ts';
import { itemSize, MAX_ITEM_BYTES } from '../values/item-size.ts';
import { type Attributes, copyOf, nestingOf } from '../values/values.ts';
import { type Units, unitsOfWrite } from './capacity.ts';

/** Documents may nest 32 levels. */
const MAX_NESTING = 32;

/** One write as single requests, batches and transactions share it, after validation. */
export type WriteRequest = Pick<Parsed, '_condition' | '_updates'> & {
  readonly ReturnValuesOnConditionCheckFailure?: 'ALL_OLD' | 'NONE';
} & (
    | { readonly kind: 'put'; readonly Item: Attributes }
    | { readonly kind: 'update' | 'delete' | 'check'; readonly Key: Attributes }
  );

/** What a write will do, worked out before anything is written. */
export interface WritePlan {
  readonly table: TableSchema;
  readonly key: RowKey;
  readonly before: StoredItem | undefined;
  /** The item afterwards; `undefined` when there is none. */
  readonly after: StoredItem | undefined;
  /** False for a condition check, which writes nothing. */
  readonly writes: boolean;
  readonly indexes: readonly IndexChange[];
  readonly units: Units;
}

/** The row a write is about. @throws ValidationException when its key does not fit the table. */
export function writeKey(table: TableSchema, request: WriteRequest): RowKey {
  if (request.kind === 'put') {
    checkItemKey(request.Item, table);
    return rowKeyOf(request.Item, table);
  }
  checkKey(request.Key, table);
  return rowKeyOf(request.Key, table);
}

/**
 * @throws ValidationException when the write does not fit the table, the item or the limits, and
 * ConditionalCheckFailedException (with the item, if asked for) when its condition does not hold.
 */
export function planWrite(store: Store, table: TableSchema, request: WriteRequest): WritePlan {
  const key = writeKey(table, request);
  if (request.kind === 'put') checkIndexKeys(request.Item, table);
  if (request.kind === 'update') checkUpdatedPaths(table, request);
  const before = store.getItem(table, key);
  if (request._condition !== undefined && !holds(request._condition.expression, before?.item ?? {})) {
    throw conditionFailed(request.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' ? before?.item : undefined);
  }
  const after = itemAfter(table, request, before);
  const indexes = request.kind === 'check' ? [] : indexChanges(table, before?.item, after?.item);
  const units = unitsOfWrite(before?.size ?? 0, after?.size ?? 0, indexes);
  return { table, key, before, after, writes: request.kind !== 'check', indexes, units };
}

/** Writes the item and its index entries; the caller has opened the transaction. */
export function carryOut(store: Store, plan: WritePlan): void {
  if (!plan.writes) return;
  if (plan.after !== undefined) store.putItem(plan.table, plan.key, plan.after.item, plan.after.size);
  else if (plan.before !== undefined) store.deleteItem(plan.table, plan.key);
  for (const change of plan.indexes) store.changeIndex(plan.table, plan.key, change);
}

function itemAfter(table: TableSchema, request: WriteRequest, before: StoredItem | undefined): StoredItem | undefined {
  switch (request.kind) {
    case 'put':
      return measured(request.Item, 'Item size has exceeded the maximum allowed size');
    case 'delete':
      return undefined;
    case 'check':
      return before;
    case 'update': {
      const item = copyOf(before?.item ?? request.Key);
      applyUpdate(request._updates?.sections ?? [], item);
      checkIndexKeys(item, table);
      return measured(item, 'Item size to update has exceeded the maximum allowed size');
    }
  }
}

function measured(item: Attributes, tooLarge: string): StoredItem {
  const size = itemSize(item);
  if (size > MAX_ITEM_BYTES) throw validationError(tooLarge);
  // The item itself counts as one map more.
  if (nestingOf({ M: item }) > MAX_NESTING + 1) throw validationError('Nesting Levels have exceeded supported limits');
  return { item, size };
}

function checkUpdatedPaths(table: TableSchema, request: WriteRequest): void {
  const updates = request._updates;
  if (updates === undefined) return;
  for (const { name } of attributesOf(table)) {
    if (updates.nestedPaths[name]) throw notScalar('Key', name);
    if (updates.paths.some((path) => path[0] === name)) {
      throw validationError(
        `One or more parameter values were invalid: Cannot update attribute ${name}. This attribute is part of the key`,
      );
    }
  }
  for (const { name } of table.indexes.flatMap(attributesOf)) {
    if (updates.nestedPaths[name]) throw notScalar('IndexKey', name);
  }
}

const notScalar = (kind: string, name: string): DynamoDbError =>
  validationError(
    `Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: ${kind}: ${name}`,
  );
