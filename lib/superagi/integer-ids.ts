/**
 * Whole numbers for ids, as SuperAGI's clients know them: of an organisation, by kind, from 1 up, for ever the same. They are
 * given when they are first asked for, so that what was started by a schedule or by Baton's own API has one too.
 */
import * as z from 'zod';
import { UnreadableRow } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import {
  add,
  ConditionFailed,
  eq,
  type Item,
  missing,
  or,
  set,
  type Table,
  TransactionRefused,
  type Write,
} from '../kernel/table.ts';
import { makeRow, ROW_VERSION, readRow } from '../tenancy/row.ts';

/** Prefixes of the ids that have a number. */
export type Numbered = 'agt' | 'exe' | 'prj';

const numberSchema = z.object({ number: z.int().min(1) });
const idSchema = z.object({ id: z.string() });
const lastSchema = z.object({ last: z.int().min(1) });

/** `getMany` takes 100 keys; a transaction takes 100 writes, and a number is two of them. */
const READ_AT_ONCE = 100;
const GIVEN_AT_ONCE = 50;
/** Each refused round means that somebody else gave at least one of the numbers. */
const MAX_ROUNDS = 8;

const kindOf = (id: string): string => id.slice(0, 3);

const chunks = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));

/**
 * Takes numbers off the counter, for ids that are about to get them; the first of `count` in a row. They are nobody else's
 * from now on: if we die before they are given they are left out, and requests at once never wait for one another.
 * @throws UnreadableRow
 */
export const reserveNumbers = async (table: Table, orgId: string, kind: Numbered, count: number): Promise<number> => {
  const key = keys.lastNumber(orgId, kind);
  const known = or(missing('v'), eq('v', ROW_VERSION));
  try {
    const row = await table.update(key, [add('last', count), set('v', ROW_VERSION)], known);
    return readRow(lastSchema, row).last - count + 1;
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    throw new UnreadableRow(key, 'a newer version of the code wrote it.', error);
  }
};

/** Both directions of a reserved number, for the transaction that makes what has the id. */
export const numberWrites = (orgId: string, id: string, number: number): readonly Write[] => [
  { put: makeRow(keys.numberOf(orgId, id), { number }), if: missing('pk') },
  { put: makeRow(keys.numbered(orgId, kindOf(id), number), { id }), if: missing('pk') },
];

const numberIn = (item: Item | undefined): number | undefined => item && readRow(numberSchema, item).number;

const known = async (table: Table, orgId: string, ids: readonly string[]): Promise<(number | undefined)[]> => {
  const wanted = ids.map((id) => keys.numberOf(orgId, id));
  return (await table.getMany(wanted, { consistent: true })).map(numberIn);
};

/** Of a few different ids. What a lost answer or another request wrote meanwhile is found by the next look. */
const give = async (table: Table, orgId: string, kind: Numbered, ids: readonly string[]): Promise<number[]> => {
  for (let round = 1; ; round++) {
    const numbers = await known(table, orgId, ids);
    const without = ids.filter((_, at) => numbers[at] === undefined);
    if (without.length === 0) return numbers.filter((number) => number !== undefined);
    const first = await reserveNumbers(table, orgId, kind, without.length);
    try {
      await table.transact(without.flatMap((id, at) => numberWrites(orgId, id, first + at)));
    } catch (error) {
      if (!(error instanceof TransactionRefused) || round === MAX_ROUNDS) throw error;
    }
  }
};

/**
 * The numbers of ids that are this organisation's, in their order; those that have none get one, in this order.
 * Whoever calls has made sure that the things are there.
 */
export const numbersOf = async (
  table: Table,
  orgId: string,
  kind: Numbered,
  ids: readonly string[],
): Promise<readonly number[]> => {
  const byId = new Map<string, number>();
  for (const some of chunks([...new Set(ids)], GIVEN_AT_ONCE)) {
    const numbers = await give(table, orgId, kind, some);
    for (const [at, id] of some.entries()) byId.set(id, numbers[at] ?? 0);
  }
  return ids.map((id) => byId.get(id) ?? 0);
};

/** One number. */
export const numberOf = async (table: Table, orgId: string, kind: Numbered, id: string): Promise<number> =>
  (await numbersOf(table, orgId, kind, [id]))[0] ?? 0;

/** The ids behind numbers, in their order; `undefined` where this organisation has given no such number. */
export const idsOf = async (
  table: Table,
  orgId: string,
  kind: Numbered,
  numbers: readonly number[],
): Promise<readonly (string | undefined)[]> => {
  const ids: (string | undefined)[] = [];
  for (const some of chunks(numbers, READ_AT_ONCE)) {
    // A key may stand in a request once.
    const different = [...new Set(some)];
    const wanted = different.map((number) => keys.numbered(orgId, kind, number));
    const items = await table.getMany(wanted, { consistent: true });
    const found = new Map(different.map((number, at) => [number, items[at]] as const));
    for (const number of some) {
      const item = found.get(number);
      ids.push(item && readRow(idSchema, item).id);
    }
  }
  return ids;
};
