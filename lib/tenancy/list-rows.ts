import { badRequest, UnreadableRow } from '../kernel/errors.ts';
import { LAST } from '../kernel/keys.ts';
import type { Log } from '../kernel/ports.ts';
import type { Item, Key, Table, Value } from '../kernel/table.ts';

/** One page of a list. `next` is the position of the first row that was not shown; absent at the end. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly next?: string;
}

/** Where a page begins and how long it is. `start` is the `next` of the page before. */
export interface PageRequest {
  readonly limit: number;
  readonly start?: string | undefined;
}

interface ListQuery<T> {
  readonly table: Table;
  readonly pk: string;
  /** With an index the rows are fetched by key, because the index carries keys only. */
  readonly index?: 'byOwner';
  readonly prefix?: string;
  readonly oldestFirst?: boolean;
  /** Where a list that is newest first ends, inclusive; it begins with the prefix. */
  readonly lowest?: string | undefined;
  /** The row as shown, or `undefined` when it is filtered out. */
  readonly read: (item: Item) => T | undefined;
  /** Told of rows that cannot be read. With it they are left out, so that one bad row does not hide all others. */
  readonly log?: Log;
}

/** The row as shown; a row that cannot be read is told of and left out. Asked for by its id it is still an error. */
export const legible =
  <T>(log: Log, read: (item: Item) => T | undefined): ((item: Item) => T | undefined) =>
  (item) => {
    try {
      return read(item);
    } catch (error) {
      if (!(error instanceof UnreadableRow)) throw error;
      log.error('A row cannot be read and is left out of a list.', { error });
      return undefined;
    }
  };

/** A function answers at most 6 MB. A page that would hold more ends earlier, with a `next`. */
const MOST_ANSWER_BYTES = 4_500_000;

/** Watches the size of an answer. True when the row still fits; the first one always does. */
export const answerBudget = (): ((row: unknown) => boolean) => {
  let bytes = 0;
  return (row) => {
    // Twice, because a function's answer carries the JSON of its body as a string, with every quote escaped once more.
    const size = Buffer.byteLength(JSON.stringify(JSON.stringify(row) ?? ''));
    const fits = bytes === 0 || bytes + size <= MOST_ANSWER_BYTES;
    bytes += size;
    return fits;
  };
};

/** A filter that lets little through must not read for ever: after this many rows a page is cut short, with a `next`. */
export const MOST_ROWS_READ = 2_000;
const BATCH = 100; // `getMany` takes 100 keys
const MAX_SORT_KEY = 1_024; // bytes, DynamoDB's limit

/**
 * Newest first, unless told otherwise. A position is a sort key inside this one partition, so that a forged cursor can reach nothing but another
 * place in the same list.
 * @throws AppError 400 when the position cannot be one of this list
 */
export const listRows = async <T>(query: ListQuery<T>, page: PageRequest): Promise<Listed<T>> => {
  const { table, pk, index, prefix, log, lowest, oldestFirst = false } = query;
  const show = log === undefined ? query.read : legible(log, query.read);
  if (page.start !== undefined && !isPosition(page.start, prefix ?? '')) {
    throw badRequest('The cursor does not belong to this list.', [], 'invalid_cursor');
  }
  const items: T[] = [];
  const fits = answerBudget();
  let read = 0;
  let after: Value | undefined;
  do {
    const found = await table.query({
      pk,
      // A list shows what the caller wrote a moment ago; only an index cannot promise that.
      ...(index === undefined ? { consistent: true } : { index }),
      ...(oldestFirst ? bounds(page.start ?? prefix, undefined, prefix) : bounds(lowest ?? prefix, page.start, prefix)),
      newestFirst: !oldestFirst,
      limit: Math.min(BATCH, page.limit + 1),
      ...(after === undefined ? {} : { after }),
    });
    const rows = index === undefined ? found.items : await load(table, found.items);
    read += rows.length;
    after = found.next;
    const cut = read >= MOST_ROWS_READ && after !== undefined;
    for (const [at, key] of found.items.entries()) {
      const row = rows[at];
      // When the page is cut short, the last row read is left for the next page: its position is where that one begins.
      if (cut && at === found.items.length - 1) return { items, next: positionOf(key, index) };
      const shown = row === undefined ? undefined : show(row);
      if (shown === undefined) continue;
      if (items.length === page.limit || !fits(shown)) return { items, next: positionOf(key, index) };
      items.push(shown);
    }
  } while (after !== undefined);
  return { items };
};

/** From the one end of a list to the other; an empty bound is refused by DynamoDB. */
const bounds = (from: string | undefined, to: string | undefined, prefix = ''): { from?: string; to: string } => ({
  ...(from === undefined ? {} : { from }),
  to: to ?? `${prefix}${LAST}`,
});

const isPosition = (text: string, prefix: string): boolean =>
  text !== '' && text.startsWith(prefix) && Buffer.byteLength(text) <= MAX_SORT_KEY;

const load = async (table: Table, keys: readonly Key[]): Promise<(Item | undefined)[]> =>
  keys.length === 0
    ? []
    : table.getMany(
        keys.map(({ pk, sk }) => ({ pk, sk })),
        { consistent: true },
      );

const positionOf = (item: Item, index: 'byOwner' | undefined): string =>
  index === undefined ? item.sk : String(item.ownerSk);
