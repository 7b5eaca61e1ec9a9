/**
 * Port: the single table. One call is one network request; nothing here retries a refused condition.
 *
 * Guards are data (`Condition`), so that the rule that holds an invariant stands in the use case that needs it, and the
 * in-memory table of the simulation judges the very same guard as DynamoDB does.
 */

/** A value as stored. Numbers are IEEE doubles and must be safe; `undefined` is never stored. */
export type Value = string | number | boolean | null | Value[] | { [key: string]: Value };

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

export type Item = Key & { readonly [attribute: string]: Value };

/** A path is a top-level attribute name: nested documents are written whole. */
export type Condition =
  | { readonly op: 'exists' | 'missing'; readonly path: string }
  | {
      readonly op: '=' | '<>' | '<' | '<=' | '>' | '>=';
      readonly path: string;
      readonly value: string | number | boolean;
    }
  | { readonly op: 'in'; readonly path: string; readonly values: readonly (string | number)[] }
  | { readonly op: 'and' | 'or'; readonly all: readonly Condition[] }
  | { readonly op: 'not'; readonly not: Condition };

export type Change =
  | { readonly do: 'set'; readonly path: string; readonly value: Value }
  /** Adds to a number; a missing attribute counts as 0. */
  | { readonly do: 'add'; readonly path: string; readonly value: number }
  /** Adds the value of another attribute of the same item as it was before the update (missing counts as 0). */
  | { readonly do: 'addFrom'; readonly path: string; readonly from: string }
  | { readonly do: 'remove'; readonly path: string };

export interface Query {
  readonly pk: string;
  /** Sort keys from `from` (inclusive) up to `to` (inclusive); either may be left out. */
  readonly from?: string;
  readonly to?: string;
  readonly prefix?: string;
  readonly index?: 'byOwner' | 'due';
  readonly limit?: number;
  readonly newestFirst?: boolean;
  readonly consistent?: boolean;
  /** Where to go on: the `next` of an earlier page. */
  readonly after?: Value;
}

export interface Page {
  readonly items: readonly Item[];
  /** Present when more may follow. Opaque. */
  readonly next?: Value;
}

export type Write =
  | { readonly put: Item; readonly if?: Condition }
  | { readonly update: Key; readonly changes: readonly Change[]; readonly if?: Condition }
  | { readonly delete: Key; readonly if?: Condition }
  | { readonly check: Key; readonly if: Condition };

export interface Table {
  get(key: Key, options?: { readonly consistent?: boolean }): Promise<Item | undefined>;
  /** Up to 100 keys; the answer is in the order of `keys`, missing items are `undefined`. */
  getMany(keys: readonly Key[], options?: { readonly consistent?: boolean }): Promise<(Item | undefined)[]>;
  /** One request: at most one page (1 MB or `limit`). With an index, items carry keys only (pk, sk and the index's own). */
  query(query: Query): Promise<Page>;
  /** @throws ConditionFailed with the item as it stands (if there is one). */
  put(item: Item, condition?: Condition): Promise<void>;
  /** Creates the item if it is missing, as DynamoDB does; guard with `exists` where that is wrong. Answers the item after the update. @throws ConditionFailed */
  update(key: Key, changes: readonly Change[], condition?: Condition): Promise<Item>;
  /** @throws ConditionFailed */
  delete(key: Key, condition?: Condition): Promise<void>;
  /**
   * All or nothing, at most 100 writes, no two on one key.
   * `token` (at most 36 characters) makes a repeat within ten minutes a no-op.
   * @throws TransactionRefused when a condition does not hold; TransactionConflict is retried by the adapter like a throttle.
   */
  transact(writes: readonly Write[], token?: string): Promise<void>;
}

/** A guard did not hold. `item` is the row as it stands, if there is one. */
export class ConditionFailed extends Error {
  override readonly name = 'ConditionFailed';
  readonly item: Item | undefined;
  constructor(item: Item | undefined) {
    super('The condition of a write did not hold.');
    this.item = item;
  }
}

/** A transaction was refused. `refused[i]` is true where write i's guard did not hold; `items[i]` is that row as it stands. */
export class TransactionRefused extends Error {
  override readonly name = 'TransactionRefused';
  readonly refused: readonly boolean[];
  readonly items: readonly (Item | undefined)[];
  constructor(refused: readonly boolean[], items: readonly (Item | undefined)[]) {
    super('A condition of a transaction did not hold.');
    this.refused = refused;
    this.items = items;
  }
}

export const exists = (path: string): Condition => ({ op: 'exists', path });
export const missing = (path: string): Condition => ({ op: 'missing', path });
export const eq = (path: string, value: string | number | boolean): Condition => ({ op: '=', path, value });
export const ne = (path: string, value: string | number | boolean): Condition => ({ op: '<>', path, value });
export const lt = (path: string, value: string | number): Condition => ({ op: '<', path, value });
export const le = (path: string, value: string | number): Condition => ({ op: '<=', path, value });
export const gt = (path: string, value: string | number): Condition => ({ op: '>', path, value });
export const ge = (path: string, value: string | number): Condition => ({ op: '>=', path, value });
export const oneOf = (path: string, values: readonly (string | number)[]): Condition => ({ op: 'in', path, values });
export const and = (...all: readonly Condition[]): Condition => ({ op: 'and', all });
export const or = (...all: readonly Condition[]): Condition => ({ op: 'or', all });
export const not = (condition: Condition): Condition => ({ op: 'not', not: condition });

export const set = (path: string, value: Value): Change => ({ do: 'set', path, value });
export const add = (path: string, value: number): Change => ({ do: 'add', path, value });
export const addFrom = (path: string, from: string): Change => ({ do: 'addFrom', path, from });
export const remove = (path: string): Change => ({ do: 'remove', path });
