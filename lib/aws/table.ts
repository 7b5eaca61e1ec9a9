import { randomUUID } from 'node:crypto';
import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Item, Key, Table, Value } from '../kernel/table.ts';
import { checkKey, storableItem } from './attribute-values.ts';
import { updateExpression } from './expression.ts';
import { backoffMs, CONFLICT_RETRY, type Retry, retrying } from './retry.ts';
import { isPassing, translated } from './table-errors.ts';
import { isEmptyRange, queryInput } from './table-query.ts';
import { guarded, keyOf, transactItem } from './table-writes.ts';

/** Capacity that one request consumed, in units, indexes included. A refused write costs too, but is not told. */
export interface Units {
  readonly operation: 'get' | 'getMany' | 'query' | 'put' | 'update' | 'delete' | 'transact';
  readonly read: number;
  readonly write: number;
}

export interface TableOptions {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  /** Told after every request that succeeded. */
  readonly onUnits?: (units: Units) => void;
  /** How conflicts are retried; see `CONFLICT_RETRY`. */
  readonly retry?: Partial<Retry>;
}

/** BatchGetItem reads at most 100 items, TransactWriteItems writes at most 100 (and 4 MB). */
const MOST = 100;

/**
 * The table port over DynamoDB. Items are at most 400 KB; a page of a query ends at 1 MB.
 *
 * A conflict with another transaction is retried like a throttle, here and bounded; the SDK retries throttles and lost
 * responses. So a single write may reach the table twice: whoever adds to a counter guards it, or uses `transact`, whose
 * token (one is made where none is given, and kept over all tries) makes the second arrival a no-op.
 */
export const makeTable = (options: TableOptions): Table => {
  const { client, tableName, onUnits } = options;
  const retry: Retry = { ...CONFLICT_RETRY, ...options.retry };
  const base = {
    TableName: tableName,
    ...(onUnits === undefined ? {} : { ReturnConsumedCapacity: 'TOTAL' as const }),
  };

  const tell = (
    operation: Units['operation'],
    capacity: ConsumedCapacity | readonly ConsumedCapacity[] | undefined,
  ): void => {
    if (onUnits === undefined || capacity === undefined) return;
    const parts: readonly ConsumedCapacity[] = Array.isArray(capacity) ? capacity : [capacity as ConsumedCapacity];
    const units = parts.reduce((sum, part) => sum + (part.CapacityUnits ?? 0), 0);
    const reads = operation === 'get' || operation === 'getMany' || operation === 'query';
    onUnits({ operation, read: reads ? units : 0, write: reads ? 0 : units });
  };

  const writing = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await retrying(work, isPassing, retry);
    } catch (error) {
      throw translated(error);
    }
  };

  /** One BatchGetItem after the other until nothing is left over (16 MB a request, or throttled keys). */
  const readAll = async (wanted: readonly Key[], consistent: boolean): Promise<Item[]> => {
    const found: Item[] = [];
    let rest: Record<string, unknown>[] = wanted.map(({ pk, sk }) => ({ pk, sk }));
    for (let idle = 0; rest.length > 0; ) {
      const answer = await client.send(
        new BatchGetCommand({
          RequestItems: { [tableName]: { Keys: rest, ConsistentRead: consistent } },
          ...(onUnits === undefined ? {} : { ReturnConsumedCapacity: 'TOTAL' as const }),
        }),
      );
      tell('getMany', answer.ConsumedCapacity);
      found.push(...((answer.Responses?.[tableName] ?? []) as Item[]));
      const left = answer.UnprocessedKeys?.[tableName]?.Keys ?? [];
      idle = left.length < rest.length ? 0 : idle + 1;
      if (idle >= retry.attempts) throw new Error(`DynamoDB left ${left.length} keys unread after ${idle} tries.`);
      if (left.length > 0) await retry.sleep(backoffMs(idle + 1, retry));
      rest = left;
    }
    return found;
  };

  return {
    async get(key, { consistent = false } = {}) {
      checkKey(key);
      const answer = await client.send(
        new GetCommand({ ...base, Key: { pk: key.pk, sk: key.sk }, ConsistentRead: consistent }),
      );
      tell('get', answer.ConsumedCapacity);
      return answer.Item as Item | undefined;
    },

    async getMany(keys, { consistent = false } = {}) {
      if (keys.length > MOST) throw new TypeError(`${keys.length} keys; at most ${MOST} are read at once.`);
      for (const key of keys) checkKey(key);
      const unique = new Map(keys.map((key) => [together(key), key])); // a key given twice is refused by DynamoDB
      const found = new Map((await readAll([...unique.values()], consistent)).map((item) => [together(item), item]));
      return keys.map((key) => found.get(together(key)));
    },

    async query(query) {
      const input = queryInput(query, tableName);
      if (isEmptyRange(query)) return { items: [] };
      const answer = await client.send(new QueryCommand({ ...base, ...input }));
      tell('query', answer.ConsumedCapacity);
      const items = (answer.Items ?? []) as Item[];
      return answer.LastEvaluatedKey === undefined ? { items } : { items, next: answer.LastEvaluatedKey as Value };
    },

    async put(item, condition) {
      const input = { ...base, Item: storableItem(item), ...guarded(condition) };
      const answer = await writing(() => client.send(new PutCommand(input)));
      tell('put', answer.ConsumedCapacity);
    },

    async update(key, changes, condition) {
      const input = {
        ...base,
        Key: keyOf(key),
        ...guarded(condition, (to) => ({ UpdateExpression: updateExpression(changes, to) })),
        ReturnValues: 'ALL_NEW' as const,
      };
      const answer = await writing(() => client.send(new UpdateCommand(input)));
      tell('update', answer.ConsumedCapacity);
      return answer.Attributes as Item;
    },

    async delete(key, condition) {
      const input = { ...base, Key: keyOf(key), ...guarded(condition) };
      const answer = await writing(() => client.send(new DeleteCommand(input)));
      tell('delete', answer.ConsumedCapacity);
    },

    async transact(writes, token = randomUUID()) {
      if (writes.length === 0 || writes.length > MOST) {
        throw new TypeError(`${writes.length} writes; 1 to ${MOST} go together.`);
      }
      if (token.length === 0 || token.length > 36) {
        throw new TypeError(`The token has ${token.length} characters; expected 1 to 36.`);
      }
      const input = {
        TransactItems: writes.map((write) => transactItem(write, tableName)),
        ClientRequestToken: token,
        ...(onUnits === undefined ? {} : { ReturnConsumedCapacity: 'TOTAL' as const }),
      };
      const answer = await writing(() => client.send(new TransactWriteCommand(input)));
      tell('transact', answer.ConsumedCapacity);
    },
  };
};

const together = ({ pk, sk }: Key): string => JSON.stringify([pk, sk]);
