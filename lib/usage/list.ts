/** What an organisation has used, by one dimension, over some days. */
import * as z from 'zod';
import { badRequest, UnreadableRow } from '../kernel/errors.ts';
import { keys, LAST } from '../kernel/keys.ts';
import type { Log } from '../kernel/ports.ts';
import type { Item, Table, Value } from '../kernel/table.ts';
import type { Listed, PageRequest } from '../tenancy/list-rows.ts';
import { type Dimension, type Figures, NO_FIGURES, plus } from './figures.ts';
import { USAGE_VERSION } from './roll-up.ts';

const figure = z.int().default(0);
const rowSchema = z.object({
  v: z.literal(USAGE_VERSION),
  key: z.string(),
  day: z.string(),
  runs: figure,
  calls: figure,
  input: figure,
  output: figure,
  cached: figure,
  cost: figure,
  ms: figure,
  errors: figure,
});

/** @throws UnreadableRow */
export const readUsage = (item: Item): z.output<typeof rowSchema> => {
  const parsed = rowSchema.safeParse(item);
  if (!parsed.success) throw new UnreadableRow(item, z.prettifyError(parsed.error));
  return parsed.data;
};

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

/** Rows of one request to the table. */
const BATCH = 500;
/** A page ends earlier where it would read more than this; the next one goes on there. */
const MOST_ROWS = 20_000;

/**
 * Sums per key, sorted by key. Rows stand by key and then by day, so that each key is one stretch of rows: days outside of
 * the range are jumped over.
 * @throws AppError 400 for a position that is no key of this list
 */
export const listUsage = async (
  { table, log }: { readonly table: Table; readonly log: Log },
  { orgId, by, from, to }: UsageQuery,
  page: PageRequest,
): Promise<Listed<Used>> => {
  // A day is its own key: what comes before the first one is not even read.
  const first = by === 'day' ? from : '';
  const items: Used[] = [];
  if (page.start !== undefined && !isPosition(page.start)) {
    throw badRequest('The cursor does not belong to this list.', [], 'invalid_cursor');
  }
  let range = keys.usageFrom(orgId, by, page.start ?? first, by === 'day' ? '' : from);
  let current: Used | undefined;
  let read = 0;
  let after: Value | undefined;
  for (;;) {
    const found = await table.query({
      ...range,
      limit: BATCH,
      consistent: true,
      ...(after !== undefined && { after }),
    });
    read += found.items.length;
    let jump: typeof range | undefined;
    for (const item of found.items) {
      const row = legible(log, item);
      if (row === undefined) continue;
      if (row.day < from || row.day > to) {
        if (by === 'day') return finished(items, current);
        jump = keys.usageFrom(orgId, by, row.key, row.day < from ? from : LAST);
        break;
      }
      if (current !== undefined && current.key !== row.key) {
        items.push(current);
        current = undefined;
      }
      if (items.length === page.limit || (current === undefined && read > MOST_ROWS)) return { items, next: row.key };
      current = { key: row.key, ...plus(current ?? NO_FIGURES, row) };
    }
    if (jump === undefined && found.next === undefined) return finished(items, current);
    after = jump === undefined ? found.next : undefined;
    range = jump ?? range;
  }
};

/** A sort key holds 1,024 bytes, and a key is encoded in it. */
const isPosition = (key: string): boolean => key !== '' && encodeURIComponent(key.toWellFormed()).length <= 900;

const finished = (items: readonly Used[], current: Used | undefined): Listed<Used> => ({
  items: current === undefined ? items : [...items, current],
});

const legible = (log: Log, item: Item): ReturnType<typeof readUsage> | undefined => {
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
