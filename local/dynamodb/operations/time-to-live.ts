import { attributesOf, type TableSchema } from '../store/schema.ts';
import type { Attributes } from '../values/values.ts';
import type { Context } from './operation.ts';
import { carryOut, planWrite } from './write-plan.ts';

/** DynamoDB leaves items alone whose time lies more than five years back. Seconds. */
const OLDEST = 5 * 365 * 24 * 60 * 60;
/** Few enough that nobody waits long behind one transaction. */
const BATCH = 500;

/** Removes expired items from tables and indexes; answers how many. */
export function deleteExpired({ store, now }: Context): number {
  const seconds = Math.floor(now() / 1000);
  let deleted = 0;
  for (const table of store.tables()) {
    if (table.ttlAttribute === undefined) continue;
    for (let count = BATCH; count === BATCH; deleted += count) {
      count = store.sqlite.transaction(() => {
        const expired = store.expired(table, seconds - OLDEST, seconds, BATCH);
        for (const { item } of expired)
          carryOut(store, planWrite(store, table, { kind: 'delete', Key: keyOf(table, item) }));
        return expired.length;
      });
    }
  }
  return deleted;
}

const keyOf = (table: TableSchema, item: Attributes): Attributes =>
  Object.fromEntries(attributesOf(table).map(({ name }) => [name, item[name] ?? {}]));
