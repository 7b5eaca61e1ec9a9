import type { SQLInputValue } from 'node:sqlite';
import { tableNotFound } from '../errors.ts';
import { itemSize } from '../values/item-size.ts';
import { type Attributes, attributeOf } from '../values/values.ts';
import { entryOf, type IndexChange } from './index-entries.ts';
import { type RowKey, rowKeyOf } from './keys.ts';
import { type Index, schemaOf, type TableDefinition, type TableSchema } from './schema.ts';
import type { Row, Sqlite } from './sqlite.ts';

export interface StoredItem {
  readonly item: Attributes;
  readonly size: number;
}

/** A row of a table or index as a range read yields it. */
export interface RangeRow extends StoredItem {
  readonly hash: Uint8Array;
}

export interface RangeSelection {
  readonly table: TableSchema;
  readonly index: Index | undefined;
  /** SQL conditions on the columns `hash`, `range`, `item_hash`, `item_range`, joined with AND. */
  readonly where: readonly string[];
  readonly values: readonly SQLInputValue[];
  readonly backward: boolean;
}

/** Tables, items and index entries in SQLite. Callers open the transaction. */
export class Store {
  readonly sqlite: Sqlite;
  readonly #schemas = new Map<string, TableSchema>();

  constructor(sqlite: Sqlite) {
    this.sqlite = sqlite;
    this.#loadAll();
  }

  /** A transaction that changes tables: when it fails, what is known of them is read again. */
  alter<T>(work: () => T): T {
    try {
      return this.sqlite.transaction(work);
    } catch (error) {
      this.#loadAll();
      throw error;
    }
  }

  tables(): readonly TableSchema[] {
    return [...this.#schemas.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  find(name: string): TableSchema | undefined {
    return this.#schemas.get(name);
  }

  /** @throws ResourceNotFoundException */
  table(name: string): TableSchema {
    const found = this.find(name);
    if (found === undefined) throw tableNotFound(name);
    return found;
  }

  addTable(definition: TableDefinition, now: number): TableSchema {
    const { id } = this.sqlite.run(
      'INSERT INTO tables (name, definition, created_at) VALUES (?, ?, ?)',
      definition.TableName,
      JSON.stringify(definition),
      now,
    );
    return this.#reload(id);
  }

  /** Takes over another definition of the same keys and writes every index anew. */
  redefine(table: TableSchema, definition: TableDefinition): TableSchema {
    this.sqlite.run('UPDATE tables SET definition = ? WHERE id = ?', JSON.stringify(definition), table.id);
    this.sqlite.run('DELETE FROM entries WHERE table_id = ?', table.id);
    const next = this.#reload(table.id);
    for (const { item } of this.#allItems(table.id)) {
      const key = rowKeyOf(item, next);
      for (const index of next.indexes) this.#putEntry(next, key, { index, put: entryOf(item, index) });
    }
    return next;
  }

  dropTable(table: TableSchema): void {
    for (const from of ['entries', 'items']) this.sqlite.run(`DELETE FROM ${from} WHERE table_id = ?`, table.id);
    this.sqlite.run('DELETE FROM tables WHERE id = ?', table.id);
    this.#schemas.delete(table.name);
  }

  /** Sets or unsets the attribute that says when an item expires, for the items that are there as well. */
  setTtl(table: TableSchema, attribute: string | undefined): TableSchema {
    this.sqlite.run('UPDATE tables SET ttl_attribute = ? WHERE id = ?', attribute ?? null, table.id);
    const next = this.#reload(table.id);
    for (const { item } of this.#allItems(table.id)) this.putItem(next, rowKeyOf(item, next), item);
    return next;
  }

  getItem(table: TableSchema, key: RowKey): StoredItem | undefined {
    const row = this.sqlite.get(
      'SELECT item, size FROM items WHERE table_id = ? AND hash = ? AND range = ?',
      table.id,
      key.hash,
      key.range,
    );
    return row === undefined ? undefined : storedItem(row);
  }

  putItem(table: TableSchema, key: RowKey, item: Attributes, size = itemSize(item)): void {
    this.sqlite.run(
      `INSERT INTO items (table_id, hash, range, item, size, expires) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET item = excluded.item, size = excluded.size, expires = excluded.expires`,
      table.id,
      key.hash,
      key.range,
      JSON.stringify(item),
      size,
      expiryOf(table, item),
    );
  }

  deleteItem(table: TableSchema, key: RowKey): void {
    this.sqlite.run('DELETE FROM items WHERE table_id = ? AND hash = ? AND range = ?', table.id, key.hash, key.range);
  }

  changeIndex(table: TableSchema, key: RowKey, change: IndexChange): void {
    const { index, remove } = change;
    if (remove !== undefined) {
      this.sqlite.run(
        `DELETE FROM entries WHERE table_id = ? AND index_name = ? AND hash = ? AND range = ? AND item_hash = ? AND item_range = ?`,
        ...[table.id, index.name, remove.key.hash, remove.key.range, key.hash, key.range],
      );
    }
    this.#putEntry(table, key, change);
  }

  /** Rows in key order. The caller stops reading where its page ends. */
  *range(selection: RangeSelection): Iterable<RangeRow> {
    const { table, index, backward } = selection;
    const order = backward ? 'DESC' : 'ASC';
    const columns = index === undefined ? ['hash', 'range'] : ['hash', 'range', 'item_hash', 'item_range'];
    const sql =
      `SELECT item, size, hash FROM ${index === undefined ? 'items' : 'entries'} WHERE ` +
      ['table_id = ?', ...(index === undefined ? [] : ['index_name = ?']), ...selection.where].join(' AND ') +
      ` ORDER BY ${columns.map((column) => `${column} ${order}`).join(', ')}`;
    const first: SQLInputValue[] = index === undefined ? [table.id] : [table.id, index.name];
    for (const row of this.sqlite.iterate(sql, ...first, ...selection.values)) {
      yield { ...storedItem(row), hash: row.hash as Uint8Array };
    }
  }

  /** Items whose time came, at most `limit` of them. Both bounds in seconds since 1970. */
  expired(table: TableSchema, after: number, until: number, limit: number): StoredItem[] {
    return this.sqlite
      .all(
        'SELECT item, size FROM items WHERE table_id = ? AND expires > ? AND expires <= ? LIMIT ?',
        ...[table.id, after, until, limit],
      )
      .map(storedItem);
  }

  /** Items and bytes of a table, or entries of one of its indexes. */
  count(table: TableSchema, index?: Index): { readonly items: number; readonly bytes: number } {
    const [from, values]: [string, SQLInputValue[]] =
      index === undefined
        ? ['items WHERE table_id = ?', [table.id]]
        : ['entries WHERE table_id = ? AND index_name = ?', [table.id, index.name]];
    const row = this.sqlite.get(`SELECT count(*) AS items, coalesce(sum(size), 0) AS bytes FROM ${from}`, ...values);
    return { items: Number(row?.items ?? 0), bytes: Number(row?.bytes ?? 0) };
  }

  #putEntry(table: TableSchema, key: RowKey, { index, put }: Pick<IndexChange, 'index' | 'put'>): void {
    if (put === undefined) return;
    this.sqlite.run(
      `INSERT INTO entries (table_id, index_name, hash, range, item_hash, item_range, item, size)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET item = excluded.item, size = excluded.size`,
      ...[table.id, index.name, put.key.hash, put.key.range, key.hash, key.range],
      JSON.stringify(put.attributes),
      put.size,
    );
  }

  #allItems(tableId: number): StoredItem[] {
    return this.sqlite.all('SELECT item, size FROM items WHERE table_id = ?', tableId).map(storedItem);
  }

  #loadAll(): void {
    this.#schemas.clear();
    for (const row of this.sqlite.all('SELECT id, name, definition, ttl_attribute, created_at FROM tables')) {
      this.#remember(row);
    }
  }

  #reload(id: number): TableSchema {
    const row = this.sqlite.get('SELECT id, name, definition, ttl_attribute, created_at FROM tables WHERE id = ?', id);
    if (row === undefined) throw new Error(`Table ${id} vanished`);
    return this.#remember(row);
  }

  #remember(row: Row): TableSchema {
    const schema = schemaOf({
      id: Number(row.id),
      definition: JSON.parse(String(row.definition)) as TableDefinition,
      ttlAttribute: typeof row.ttl_attribute === 'string' ? row.ttl_attribute : undefined,
      createdAt: Number(row.created_at),
    });
    this.#schemas.set(schema.name, schema);
    return schema;
  }
}

const storedItem = (row: Row): StoredItem => ({
  item: JSON.parse(String(row.item)) as Attributes,
  size: Number(row.size),
});

/** DynamoDB takes a number as seconds since 1970 and ignores every other type. */
function expiryOf(table: TableSchema, item: Attributes): number | null {
  const value = table.ttlAttribute === undefined ? undefined : attributeOf(item, table.ttlAttribute)?.N;
  return value === undefined ? null : Number(value);
}
