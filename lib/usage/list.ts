/** What an organisation has used, by one dimension, over some days. */
import { type AppError, badRequest, UnreadableRow } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import type { Log } from '../kernel/ports.ts';
import type { Item, Table, Value } from '../kernel/table.ts';
import type { Listed, PageRequest } from '../tenancy/list-rows.ts';
import { type Dimension, type Figures, NO_FIGURES, plus } from './figures.ts';
import { figuresBy, readUsage, type UsageRow } from './row.ts';

export interface Used extends Figures {
  readonly key: string;
}

export interface UsageQuery {
  readonly orgId: string;
  readonly by: Dimension;
  /** First and last day, both inclusive. */
  readonly from: string;
  readonly to: string;
}

/**
 * Rows that one request adds up, 30 MB or so: the function behind the API has 30 s, and one partition gives 12 MB a second. No
 * day is begun above it; a day that is begun is read to its end, so that one day is always answered.
 */
const MOST_ROWS = 40_000;

/**
 * Sums per key, sorted by key. Rows stand by day: a page by day reads the days that it shows. In every other dimension each
 * page adds up the whole range, because any day may hold any key; a range of more rows is refused, never summed in part.
 * @throws AppError 400 for a position that is no key of this list, and for a range with too many rows, naming a last day that fits
 */
export const listUsage = async (
  { table, log }: { readonly table: Table; readonly log: Log },
  { orgId, by, from, to }: UsageQuery,
  page: PageRequest,
  mostRows = MOST_ROWS,
): Promise<Listed<Used>> => {
  const { start = from } = page;
  if (by === 'day' ? !isDay(start) : start === '') {
    throw badRequest('The cursor does not belong to this list.', [], 'invalid_cursor');
  }
  const sums = new Map<string, Figures>();
  const range = keys.usageOfDays(orgId, by === 'day' && start > from ? start : from, to);
  let day: string | undefined;
  let read = 0;
  let after: Value | undefined;
  do {
    const found = await table.query({ ...range, consistent: true, ...(after !== undefined && { after }) });
    for (const item of found.items) {
      const row = legible(log, item);
      if (row !== undefined && row.day !== day) {
        const full = read >= mostRows;
        if (by === 'day' && (full || sums.size === page.limit)) return { items: sorted(sums), next: row.day };
        if (full && day !== undefined) throw tooMuch(to, day, mostRows);
        day = row.day;
      }
      read += 1;
      for (const [key, figures] of row === undefined ? [] : figuresBy(row, by)) {
        sums.set(key, plus(sums.get(key) ?? NO_FIGURES, figures));
      }
    }
    after = found.next;
  } while (after !== undefined);
  return pageOf(sorted(sums), page);
};

const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text);

const sorted = (sums: ReadonlyMap<string, Figures>): readonly Used[] =>
  [...sums].map(([key, figures]) => ({ key, ...figures })).sort((one, other) => (one.key < other.key ? -1 : 1));

const pageOf = (all: readonly Used[], { start = '', limit }: PageRequest): Listed<Used> => {
  const left = all.filter(({ key }) => key >= start);
  const next = left[limit];
  return { items: left.slice(0, limit), ...(next !== undefined && { next: next.key }) };
};

const tooMuch = (to: string, last: string, mostRows: number): AppError => {
  const expected = `a day up to ${last}: some ${mostRows} rows of usage are added up at once`;
  return badRequest('So much was used in these days that they cannot be added up at once.', [
    { field: 'to', received: to, expected },
  ]);
};

const legible = (log: Log, item: Item): UsageRow | undefined => {
  try {
    return readUsage(item);
  } catch (error) {
    if (!(error instanceof UnreadableRow)) throw error;
    log.error('A usage row cannot be read and is left out.', { error });
    return undefined;
  }
};

/** What was spent on a day so far, micro-dollars; of runs that go on, up to a minute ago. */
export const spentOn = async (
  deps: { readonly table: Table; readonly log: Log },
  orgId: string,
  day: string,
): Promise<number> => {
  const { items } = await listUsage(deps, { orgId, by: 'day', from: day, to: day }, { limit: 1 });
  return items[0]?.cost ?? 0;
};
