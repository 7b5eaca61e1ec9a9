import {
  type Change,
  type Condition,
  ConditionFailed,
  type Item,
  type Key,
  type Query,
  type Table,
  TransactionRefused,
  type Write,
} from '../../lib/kernel/table.ts';
import { holds } from './memory-condition.ts';
import { makeShelves } from './memory-shelves.ts';
import { applyChanges, checkChanges } from './memory-update.ts';
import { checkKeys, freezeItem, invalid, type Stored } from './memory-value.ts';

const TOKEN_LIFE_MS = 10 * 60_000;
const MAX_WRITES = 100;
const MAX_TRANSACTION_BYTES = 4 * 1024 * 1024;

export interface MemoryTable extends Table {
  /** Every item, by pk and sk. */
  dump(): Item[];
}

/**
 * The table with DynamoDB's semantics, in memory: each call works in one synchronous go and answers by a promise.
 * What it answers is deeply frozen: a reader that changes a row gets a TypeError instead of changing the table.
 * The same contract suite runs against this and against the adapter.
 * @param now for the ten minutes that a transaction's token counts, ms
 */
export const makeMemoryTable = (now: () => number = Date.now): MemoryTable => {
  const shelves = makeShelves();
  const tokens = new Map<string, { readonly at: number; readonly writes: string }>();

  const guard = (current: Item | undefined, condition: Condition | undefined): void => {
    if (condition !== undefined && !holds(condition, current)) throw new ConditionFailed(current);
  };

  const plan = (write: Write): Planned => {
    const key = keyOf(write);
    checkKeys(key);
    const put = 'put' in write ? freezeItem(write.put) : undefined;
    if ('update' in write) checkChanges(write.changes);
    const current = shelves.get(key);
    return { write, key, current, put, met: write.if === undefined || holds(write.if, current) };
  };

  /** What a write leaves behind: an item, nothing at all, or (a check) everything as it was. */
  const result = ({ write, key, current, put }: Planned): Stored | 'gone' | 'same' => {
    if ('update' in write) return applyChanges(key, current, write.changes);
    if ('delete' in write) return 'gone';
    return put ?? 'same';
  };

  const replayed = (token: string, writes: readonly Write[]): boolean => {
    for (const [old, { at }] of tokens) {
      if (now() - at <= TOKEN_LIFE_MS) break; // in order of time, so the first that counts ends the search
      tokens.delete(old);
    }
    const seen = tokens.get(token);
    if (seen !== undefined && seen.writes !== JSON.stringify(writes)) {
      throw Object.assign(new Error('The token was used for other writes.'), {
        name: 'IdempotentParameterMismatchException',
      });
    }
    return seen !== undefined;
  };

  return {
    async get(key) {
      checkKeys(key);
      return shelves.get(key);
    },
    async getMany(wantedKeys) {
      if (wantedKeys.length > MAX_WRITES) throw invalid(`${wantedKeys.length} keys; at most 100 are read at once.`);
      for (const key of wantedKeys) checkKeys(key);
      return wantedKeys.map((key) => shelves.get(key));
    },
    async query(query: Query) {
      return shelves.query(query);
    },
    async put(item, condition) {
      const stored = freezeItem(item);
      guard(shelves.get(item), condition);
      shelves.set(stored);
    },
    async update(key: Key, changes: readonly Change[], condition) {
      checkKeys(key);
      checkChanges(changes);
      const current = shelves.get(key);
      guard(current, condition);
      const stored = applyChanges(key, current, changes);
      shelves.set(stored);
      return stored.item;
    },
    async delete(key, condition) {
      checkKeys(key);
      guard(shelves.get(key), condition);
      shelves.remove(key);
    },
    async transact(writes, token) {
      if (writes.length === 0 || writes.length > MAX_WRITES)
        throw invalid(`${writes.length} writes; 1 to 100 go together.`);
      if (token !== undefined && (token === '' || token.length > 36)) throw invalid('A token has 1 to 36 characters.');
      if (new Set(writes.map((write) => JSON.stringify([keyOf(write).pk, keyOf(write).sk]))).size < writes.length) {
        throw invalid('Transaction request cannot include multiple operations on one item');
      }
      if (token !== undefined && replayed(token, writes)) return;
      const planned = writes.map(plan);
      if (planned.some(({ met }) => !met)) {
        throw new TransactionRefused(
          planned.map(({ met }) => !met),
          planned.map(({ met, current }) => (met ? undefined : current)),
        );
      }
      const results = planned.map((one) => ({ key: one.key, left: result(one) })); // all of them before the first is kept
      const bytes = results.reduce((sum, { left }) => sum + (typeof left === 'object' ? left.size : 0), 0);
      if (bytes > MAX_TRANSACTION_BYTES) throw invalid('Collection size of the items exceeds 4 MB');
      for (const { key, left } of results) {
        if (left === 'gone') shelves.remove(key);
        else if (left !== 'same') shelves.set(left);
      }
      if (token !== undefined) tokens.set(token, { at: now(), writes: JSON.stringify(writes) });
    },
    dump: () => shelves.all(),
  };
};

interface Planned {
  readonly write: Write;
  readonly key: Key;
  readonly current: Item | undefined;
  readonly put: Stored | undefined;
  readonly met: boolean;
}

const keyOf = (write: Write): Key => {
  if ('put' in write) return write.put;
  if ('update' in write) return write.update;
  return 'delete' in write ? write.delete : write.check;
};
