import { itemSize } from '../values/item-size.ts';
import { type Attributes, attributeOf, sameValue } from '../values/values.ts';
import { type RowKey, rowKeyOf } from './keys.ts';
import { attributesOf, type Index, type TableSchema } from './schema.ts';

/** One row of an index: its place there, and the projected attributes. */
export interface Entry {
  readonly key: RowKey;
  readonly attributes: Attributes;
  readonly size: number;
}

/** What one write does to one index. */
export interface IndexChange {
  readonly index: Index;
  readonly remove: Entry | undefined;
  readonly put: Entry | undefined;
  /** Write units: one write for a new, changed or removed entry, two when its key changes; none when nothing projected moved. */
  readonly units: number;
}

/** The entry an item has in an index; none when it lacks one of the index's key attributes (sparse). */
export function entryOf(item: Attributes | undefined, index: Index): Entry | undefined {
  if (item === undefined) return undefined;
  if (attributesOf(index).some(({ name }) => attributeOf(item, name) === undefined)) return undefined;
  const attributes =
    index.projected === undefined
      ? item
      : Object.fromEntries(Object.entries(item).filter(([name]) => index.projected?.has(name)));
  return { key: rowKeyOf(item, index), attributes, size: itemSize(attributes) };
}

export function indexChanges(
  table: TableSchema,
  before: Attributes | undefined,
  after: Attributes | undefined,
): IndexChange[] {
  const changes: IndexChange[] = [];
  for (const index of table.indexes) {
    const [old, next] = [entryOf(before, index), entryOf(after, index)];
    const moved = old !== undefined && next !== undefined && !sameKey(old.key, next.key);
    if (old === undefined && next === undefined) continue;
    if (old !== undefined && next !== undefined && !moved) {
      if (sameValue({ M: old.attributes }, { M: next.attributes })) continue;
      changes.push({ index, remove: undefined, put: next, units: writeUnits(Math.max(old.size, next.size)) });
      continue;
    }
    const units = (old === undefined ? 0 : writeUnits(old.size)) + (next === undefined ? 0 : writeUnits(next.size));
    changes.push({ index, remove: old, put: next, units });
  }
  return changes;
}

/** One write unit for each 1 KB begun. */
export const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / 1024));

const sameKey = (one: RowKey, other: RowKey): boolean => one.hash.equals(other.hash) && one.range.equals(other.range);
