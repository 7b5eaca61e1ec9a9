import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

const SCHEMA_VERSION = 1;

// Items are ordinary rows under a unique key, because WITHOUT ROWID keeps whole rows in the inner pages of the tree and
// items may be 400 KB; index entries are small. Keys are blobs in the order DynamoDB sorts them (key-order.ts).
const SCHEMA = `
  CREATE TABLE tables (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, definition TEXT NOT NULL, ttl_attribute TEXT, created_at INTEGER NOT NULL
  );
  CREATE TABLE items (
    table_id INTEGER NOT NULL, hash BLOB NOT NULL, range BLOB NOT NULL, item TEXT NOT NULL, size INTEGER NOT NULL,
    expires REAL, PRIMARY KEY (table_id, hash, range)
  );
  CREATE INDEX items_by_expiry ON items (table_id, expires) WHERE expires IS NOT NULL;
  CREATE TABLE entries (
    table_id INTEGER NOT NULL, index_name TEXT NOT NULL, hash BLOB NOT NULL, range BLOB NOT NULL,
    item_hash BLOB NOT NULL, item_range BLOB NOT NULL, item TEXT NOT NULL, size INTEGER NOT NULL,
    PRIMARY KEY (table_id, index_name, hash, range, item_hash, item_range)
  ) WITHOUT ROWID;
  CREATE TABLE tokens (token TEXT PRIMARY KEY, request TEXT NOT NULL, used_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX tokens_by_age ON tokens (used_at);
`;

export type Row = { readonly [column: string]: unknown };

/** A SQLite file with its statements prepared once. Synchronous throughout. */
export class Sqlite {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /** @param file A path or `:memory:`. @throws when the file was written by a newer version. */
  constructor(file: string) {
    this.#db = new DatabaseSync(file);
    // WAL with NORMAL loses nothing committed when the process dies; only a power failure could take the last commits.
    this.#db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000');
    const version = Number(this.get('PRAGMA user_version')?.user_version ?? 0);
    if (version > SCHEMA_VERSION) {
      this.#db.close();
      throw new Error(`${file} has schema version ${version}; this program knows up to ${SCHEMA_VERSION}.`);
    }
    if (version === 0) this.transaction(() => this.#db.exec(`${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION}`));
  }

  /** Commits what `work` did, all of it or (when it throws) nothing. */
  transaction<T>(work: () => T): T {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#db.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  run(sql: string, ...values: SQLInputValue[]): { readonly id: number; readonly changes: number } {
    const { lastInsertRowid, changes } = this.#prepare(sql).run(...values);
    return { id: Number(lastInsertRowid), changes: Number(changes) };
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepare(sql).get(...values);
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepare(sql).all(...values);
  }

  /** Rows one by one, so that a page ends where it is full. No other statement may run in between. */
  iterate(sql: string, ...values: SQLInputValue[]): Iterable<Row> {
    return this.#prepare(sql).iterate(...values);
  }

  close(): void {
    this.#db.close();
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
