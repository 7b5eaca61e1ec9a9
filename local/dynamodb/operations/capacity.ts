import type { IndexChange } from '../store/index-entries.ts';
import { writeUnits } from '../store/index-entries.ts';

/** Capacity units of one request on one table. */
export interface Units {
  readonly table: number;
  readonly indexes: { readonly [index: string]: number };
}

export type ReturnConsumedCapacity = 'NONE' | 'TOTAL' | 'INDEXES';

/** Reads cost one unit for each 4 KB begun, half of it when eventually consistent, twice in a transaction. */
export type ReadKind = 'eventual' | 'consistent' | 'transactional';

const READ_FACTOR: { readonly [kind in ReadKind]: number } = { eventual: 0.5, consistent: 1, transactional: 2 };

/** Reading nothing costs as much as reading the smallest item. */
export const readUnits = (bytes: number, kind: ReadKind): number =>
  Math.max(1, Math.ceil(bytes / 4096)) * READ_FACTOR[kind];

/** A write costs by the larger of the item before and after, and each index for what changes in it. */
export function unitsOfWrite(before: number, after: number, changes: readonly IndexChange[]): Units {
  return {
    table: writeUnits(Math.max(before, after)),
    indexes: Object.fromEntries(changes.map((change) => [change.index.name, change.units])),
  };
}

/** A transaction prepares and commits every write; the estimate for the indexes is on the safe side and doubles them too. */
export const doubled = (units: Units): Units => ({
  table: units.table * 2,
  indexes: Object.fromEntries(Object.entries(units.indexes).map(([name, each]) => [name, each * 2])),
});

export function sumOfUnits(all: readonly Units[]): Units {
  const indexes: { [index: string]: number } = {};
  for (const units of all) {
    for (const [name, each] of Object.entries(units.indexes)) indexes[name] = (indexes[name] ?? 0) + each;
  }
  return { table: all.reduce((total, units) => total + units.table, 0), indexes };
}

/**
 * The `ConsumedCapacity` member of an answer, if the request asked for one.
 * @param split Transactions also give the units under the name of their kind.
 */
export function consumed(
  wanted: ReturnConsumedCapacity | undefined,
  tableName: string,
  units: Units,
  split?: 'ReadCapacityUnits' | 'WriteCapacityUnits',
): { readonly [member: string]: unknown } | undefined {
  if (wanted !== 'TOTAL' && wanted !== 'INDEXES') return undefined;
  const level = (amount: number) => ({ CapacityUnits: amount, ...(split === undefined ? {} : { [split]: amount }) });
  const total = units.table + Object.values(units.indexes).reduce((sum, each) => sum + each, 0);
  const answer = { TableName: tableName, ...level(total) };
  if (wanted === 'TOTAL') return answer;
  const indexes = Object.entries(units.indexes).map(([name, each]) => [name, level(each)]);
  return {
    ...answer,
    Table: level(units.table),
    ...(indexes.length === 0 ? {} : { GlobalSecondaryIndexes: Object.fromEntries(indexes) }),
  };
}

/** `ConsumedCapacity` of requests that may touch several tables: one entry a table. */
export function consumedByTable(
  wanted: ReturnConsumedCapacity | undefined,
  parts: readonly { readonly table: string; readonly units: Units }[],
  split?: 'ReadCapacityUnits' | 'WriteCapacityUnits',
): { readonly ConsumedCapacity?: unknown } {
  if (wanted !== 'TOTAL' && wanted !== 'INDEXES') return {};
  const names = [...new Set(parts.map((part) => part.table))];
  return {
    ConsumedCapacity: names.map((name) => {
      const own = parts.filter((part) => part.table === name).map((part) => part.units);
      return consumed(wanted, name, sumOfUnits(own), split);
    }),
  };
}

/** For answers with one table. */
export function consumedMember(
  wanted: ReturnConsumedCapacity | undefined,
  tableName: string,
  units: Units,
): { readonly ConsumedCapacity?: unknown } {
  const answer = consumed(wanted, tableName, units);
  return answer === undefined ? {} : { ConsumedCapacity: answer };
}
