import { compareUtf8 } from '../../lib/aws/utf8-order.ts';
import type { Item, Key, Page, Query, Value } from '../../lib/kernel/table.ts';
import { TABLE } from '../../lib/names.ts';
import { invalid, type Stored } from './memory-value.ts';

/** One row in the order of its shelf: sort key first, then (in an index, where sort keys may repeat) the row's own key. */
interface Entry {
  readonly sort: string;
  readonly tie: string;
  readonly item: Item;
  readonly size: number;
}

const PAGE_BYTES = 1024 * 1024;
const INDEXES = [TABLE.byOwner, TABLE.due] as const;

const compare = (
  a: { readonly sort: string; readonly tie: string },
  b: { readonly sort: string; readonly tie: string },
): number => compareUtf8(a.sort, b.sort) || compareUtf8(a.tie, b.tie);

/** Index of the first entry for which `test` is true; all before it are false, all after it true. */
const firstWhere = (entries: readonly Entry[], test: (entry: Entry) => boolean): number => {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (test(entries[middle] as Entry)) high = middle;
    else low = middle + 1;
  }
  return low;
};

const tieOf = (key: Key): string => `${key.pk}\u0000${key.sk}`;

/** The rows and both sparse indexes, each partition kept in order. */
export const makeShelves = () => {
  const rows = new Map<string, Map<string, Item>>();
  const order = new Map<string, Entry[]>(); // `<index or nothing>|<partition key>` → its entries in order
  let sorted: readonly Item[] | undefined; // all rows, until one of them changes: the simulation's checks look at them again and again

  const insert = (shelf: string, entry: Entry): void => {
    const entries = order.get(shelf);
    if (entries === undefined) {
      order.set(shelf, [entry]);
      return;
    }
    const at = firstWhere(entries, (other) => compare(other, entry) >= 0);
    const same = entries[at] !== undefined && compare(entries[at], entry) === 0;
    entries.splice(at, same ? 1 : 0, entry);
  };

  const drop = (shelf: string, entry: { readonly sort: string; readonly tie: string }): void => {
    const entries = order.get(shelf);
    if (entries === undefined) return;
    const at = firstWhere(entries, (other) => compare(other, entry) >= 0);
    if (entries[at] !== undefined && compare(entries[at], entry) === 0) entries.splice(at, 1);
    if (entries.length === 0) order.delete(shelf);
  };

  const reindex = (before: Item | undefined, after: Item | undefined): void => {
    for (const { index, pk, sk } of INDEXES) {
      if (before !== undefined && after !== undefined && before[pk] === after[pk] && before[sk] === after[sk]) continue;
      if (before?.[pk] !== undefined && before[sk] !== undefined) {
        drop(`${index}|${before[pk]}`, { sort: before[sk] as string, tie: tieOf(before) });
      }
      if (after?.[pk] !== undefined && after[sk] !== undefined) {
        const item = Object.freeze({ pk: after.pk, sk: after.sk, [pk]: after[pk], [sk]: after[sk] });
        insert(`${index}|${after[pk]}`, { sort: after[sk] as string, tie: tieOf(after), item, size: 200 });
      }
    }
  };

  const get = (key: Key): Item | undefined => rows.get(key.pk)?.get(key.sk);

  return {
    get,
    set({ item, size }: Stored): void {
      sorted = undefined;
      reindex(get(item), item);
      const partition = rows.get(item.pk) ?? new Map<string, Item>();
      if (partition.size === 0) rows.set(item.pk, partition);
      partition.set(item.sk, item);
      insert(`|${item.pk}`, { sort: item.sk, tie: '', item, size });
    },
    remove(key: Key): void {
      const before = get(key);
      if (before === undefined) return;
      sorted = undefined;
      reindex(before, undefined);
      drop(`|${key.pk}`, { sort: key.sk, tie: '' });
      const partition = rows.get(key.pk);
      partition?.delete(key.sk);
      if (partition?.size === 0) rows.delete(key.pk);
    },
    query(query: Query): Page {
      checkQuery(query);
      const entries = order.get(`${query.index ?? ''}|${query.pk}`) ?? [];
      let start = firstWhere(entries, ({ sort }) => compareUtf8(sort, query.from ?? query.prefix ?? '') >= 0);
      let end = firstWhere(entries, ({ sort }) => isBeyond(sort, query));
      if (query.after !== undefined) {
        const after = position(query);
        if (query.newestFirst)
          end = Math.min(
            end,
            firstWhere(entries, (entry) => compare(entry, after) >= 0),
          );
        else
          start = Math.max(
            start,
            firstWhere(entries, (entry) => compare(entry, after) > 0),
          );
      }
      return page(entries, start, end, query);
    },
    all(): Item[] {
      sorted ??= [...order]
        .filter(([shelf]) => shelf.startsWith('|'))
        .sort(([a], [b]) => compareUtf8(a, b))
        .flatMap(([, entries]) => entries.map(({ item }) => item));
      return sorted.slice();
    },
  };
};

const isBeyond = (sort: string, { prefix, to }: Query): boolean => {
  if (prefix !== undefined) return compareUtf8(sort, prefix) > 0 && !sort.startsWith(prefix);
  return to !== undefined && compareUtf8(sort, to) > 0;
};

const checkQuery = ({ pk, from, to, prefix, index, consistent, limit }: Query): void => {
  if (pk === '' || from === '' || to === '' || prefix === '') throw invalid('A key in a query must not be empty.');
  if (prefix !== undefined && (from !== undefined || to !== undefined)) {
    throw invalid('A query takes a prefix or a range, not both.');
  }
  if (index !== undefined && consistent)
    throw invalid('Consistent reads are not supported on global secondary indexes');
  if (limit !== undefined && (!Number.isInteger(limit) || limit < 1))
    throw invalid('limit must be a whole number from 1.');
};

const position = ({ after, index, pk }: Query): { readonly sort: string; readonly tie: string } => {
  const cursor = after as { readonly [name: string]: Value } & Key;
  const isCursor = typeof cursor === 'object' && cursor !== null && typeof cursor.pk === 'string';
  if (!isCursor) throw invalid('The exclusive start key is invalid');
  if (cursor[index === undefined ? 'pk' : TABLE[index].pk] !== pk)
    throw invalid('The exclusive start key is of another partition');
  if (index === undefined) return { sort: cursor.sk, tie: '' };
  const sort = cursor[TABLE[index].sk];
  if (typeof sort !== 'string') throw invalid('The exclusive start key is invalid');
  return { sort, tie: tieOf(cursor) };
};

/** One page of at most `limit` rows and about 1 MB. As DynamoDB does, a page that is just full names a next one. */
const page = (entries: readonly Entry[], start: number, end: number, query: Query): Page => {
  const items: Item[] = [];
  const most = query.limit ?? Number.POSITIVE_INFINITY;
  let bytes = 0;
  for (let n = 0; n < end - start; n++) {
    const entry = entries[query.newestFirst ? end - 1 - n : start + n] as Entry;
    bytes += entry.size;
    if (items.length > 0 && bytes > PAGE_BYTES) return { items, next: cursorOf(items.at(-1) as Item, query) };
    items.push(entry.item);
    if (items.length === most) return { items, next: cursorOf(entry.item, query) };
  }
  return { items };
};

const cursorOf = (item: Item, { index }: Query): Value => {
  const key: { [name: string]: Value } = { pk: item.pk, sk: item.sk };
  if (index === undefined) return key;
  const { pk, sk } = TABLE[index];
  return { ...key, [pk]: item[pk] as Value, [sk]: item[sk] as Value };
};
