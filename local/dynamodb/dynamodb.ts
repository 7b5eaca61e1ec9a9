import { DynamoDbError, internalError, unknownOperation } from './errors.ts';
import { batchGetItem, batchWriteItem } from './operations/batch-operations.ts';
import { deleteItem, getItem, putItem, updateItem } from './operations/item-operations.ts';
import type { Context, Operation } from './operations/operation.ts';
import { query } from './operations/query.ts';
import { scan } from './operations/scan.ts';
import {
  createTable,
  definitionOf,
  deleteTable,
  describeTable,
  describeTimeToLive,
  listTables,
  updateTimeToLive,
} from './operations/table-operations.ts';
import { deleteExpired } from './operations/time-to-live.ts';
import { Sqlite } from './store/sqlite.ts';
import { Store } from './store/store.ts';
import { transactGetItems } from './transactions/transact-get.ts';
import { transactWriteItems } from './transactions/transact-write.ts';

const OPERATIONS: { readonly [operation: string]: Operation } = {
  BatchGetItem: batchGetItem,
  BatchWriteItem: batchWriteItem,
  CreateTable: createTable,
  DeleteItem: deleteItem,
  DeleteTable: deleteTable,
  DescribeTable: describeTable,
  DescribeTimeToLive: describeTimeToLive,
  GetItem: getItem,
  ListTables: listTables,
  PutItem: putItem,
  Query: query,
  Scan: scan,
  TransactGetItems: transactGetItems,
  TransactWriteItems: transactWriteItems,
  UpdateItem: updateItem,
  UpdateTimeToLive: updateTimeToLive,
};

export interface DynamoDbAnswer {
  readonly status: number;
  readonly body: { readonly [member: string]: unknown };
}

export interface DynamoDb {
  /**
   * One request of the AWS JSON 1.0 protocol. Synchronous, and durable when it returns; never throws.
   * @param operation The target without its prefix, for example `PutItem`.
   * @param body The parsed JSON. An answer other than 200 is `{ __type, message, Item?, CancellationReasons? }`.
   */
  handle(operation: string, body: unknown): DynamoDbAnswer;
  /**
   * Makes sure that a table stands as its definition (a CreateTable request) says. Indexes that differ are written anew.
   * @throws Error when the definition is invalid or the table stands under other keys.
   */
  createTableIfMissing(definition: { readonly [member: string]: unknown }, ttlAttribute?: string): void;
  /** Removes what has expired, from the indexes too. Answers how many items that were. */
  deleteExpired(): number;
  close(): void;
}

export interface DynamoDbOptions {
  /** Path of the SQLite file, or `:memory:`. */
  readonly file: string;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly region: string;
  readonly account: string;
}

/** DynamoDB in this process, over one SQLite file. One process at a time may have the file open. */
export function createDynamoDb(options: DynamoDbOptions): DynamoDb {
  const sqlite = new Sqlite(options.file);
  const store = new Store(sqlite);
  const { region, account, now = Date.now } = options;
  const context: Context = { store, now, region, account };
  return {
    handle: (operation, body) => answer(context, operation, body),
    createTableIfMissing: (definition, ttlAttribute) => ensureTable(context, definition, ttlAttribute),
    deleteExpired: () => deleteExpired(context),
    close: () => sqlite.close(),
  };
}

function answer(context: Context, operation: string, body: unknown): DynamoDbAnswer {
  try {
    const run = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation] : undefined;
    if (run === undefined) throw unknownOperation(operation);
    return { status: 200, body: run(context, body) };
  } catch (error) {
    if (error instanceof DynamoDbError) return { status: error.status, body: error.body };
    // A fault of this program or of the disk: told to whoever runs it, since an SDK would only retry it.
    console.error(`local DynamoDB, ${operation}:`, error);
    const fault = internalError(error instanceof Error ? error.message : String(error));
    return { status: fault.status, body: fault.body };
  }
}

function ensureTable({ store, now }: Context, body: { readonly [member: string]: unknown }, ttl?: string): void {
  const definition = definitionOf(body);
  store.alter(() => {
    let table = store.find(definition.TableName);
    if (table === undefined) {
      table = store.addTable(definition, now());
    } else if (JSON.stringify(table.definition) !== JSON.stringify(definition)) {
      const keysOf = ({ KeySchema, AttributeDefinitions }: typeof definition) =>
        JSON.stringify(
          KeySchema.map((key) => AttributeDefinitions.find((one) => one.AttributeName === key.AttributeName)),
        );
      if (keysOf(table.definition) !== keysOf(definition)) {
        throw new Error(`Table ${table.name} stands under other keys than its definition says; delete the local data.`);
      }
      table = store.redefine(table, definition);
    }
    if (table.ttlAttribute !== ttl) store.setTtl(table, ttl);
  });
}
