import { A } from '../../lib/execution/execution.ts';
import {
  type Change,
  ConditionFailed,
  type Item,
  type Key,
  type Query,
  type Table,
  type Write,
} from '../../lib/kernel/table.ts';
import type { MemoryTable } from '../support/memory-table.ts';
import type { Injector, Process } from './faults.ts';
import type { World } from './world.ts';

const STALE_FOR_MS = 150;
const idOf = (key: Key): string => `${key.pk}|${key.sk}`;

/** What the checks look at: every change of the step number and of the status, as the table saw it. */
export interface Observation {
  readonly at: number;
  /** Who wrote it. */
  readonly process: Process;
  readonly executionId: string;
  readonly from: Item | undefined;
  readonly to: Item;
}

/** The one true table, with its history: eventually consistent reads may miss what was written just now. */
export class ObservedTable {
  readonly observations: Observation[] = [];
  /** Rows of the feed and pinned configurations that somebody wrote over: none may. */
  readonly overwritten: string[] = [];
  /** Commits under somebody else's lease. */
  readonly trespasses: string[] = [];
  readonly #table: MemoryTable;
  readonly #world: World;
  readonly #before = new Map<string, { readonly at: number; readonly item: Item | undefined }>();

  /** The most that a day's budget row ever said was given out. */
  mostGranted = 0;

  /** The execution rows as they stand, without copying the whole table. */
  readonly executions = new Map<string, Item>();

  constructor(table: MemoryTable, world: World) {
    this.#table = table;
    this.#world = world;
  }

  async #write<T>(process: Process, keys: readonly Key[], work: () => Promise<T>): Promise<T> {
    const earlier = await Promise.all(keys.map((key) => this.#table.get(key)));
    const result = await work();
    for (const [index, key] of keys.entries()) {
      const item = earlier[index];
      const to = await this.#table.get(key);
      // A condition check writes nothing.
      if (to === item) continue;
      this.#before.set(idOf(key), { at: this.#world.now, item });
      if (isFixed(key) && item !== undefined && JSON.stringify(item) !== JSON.stringify(to)) {
        this.overwritten.push(idOf(key));
      }
      if (key.sk === 'EXEC' && to !== undefined) {
        const executionId = String(to[A.executionId]);
        this.observations.push({ at: this.#world.now, process, executionId, from: item, to });
        this.executions.set(to.pk, to);
      }
      if (key.sk.startsWith('BUDGET#')) this.mostGranted = Math.max(this.mostGranted, Number(to?.granted ?? 0));
    }
    return result;
  }

  /** When the row was last written, virtual ms. */
  writtenAt(key: Key): number | undefined {
    return this.#before.get(idOf(key))?.at;
  }

  #aged(item: Item): Item | undefined {
    const before = this.#before.get(idOf(item));
    if (before === undefined || this.#world.now - before.at > STALE_FOR_MS || this.#world.random() < 0.5) return item;
    return before.item;
  }

  /** The table as one process sees it, with that process's faults. */
  for(process: Process, injector: Injector): Table {
    const table = this.#table;
    const call = <T>(name: string, work: () => Promise<T>): Promise<T> => injector.call(process, name, work);
    return {
      get: (key, options) =>
        call(`get ${kindOf(key.sk)}`, async () => {
          const item = await table.get(key);
          return item && (options?.consistent === true ? item : this.#aged(item));
        }),
      getMany: (keys) => call('getMany', () => table.getMany(keys)),
      query: (query: Query) =>
        call(`query ${query.index ?? kindOf(query.prefix ?? query.from ?? '')}`, async () => {
          const page = await table.query(query);
          if (query.consistent === true || query.index !== undefined) return page;
          return { ...page, items: page.items.flatMap((item) => this.#aged(item) ?? []) };
        }),
      put: (item, condition) =>
        call(`put ${kindOf(item.sk)}`, () => this.#write(process, [item], () => table.put(item, condition))),
      update: (key, changes: readonly Change[], condition) =>
        call(`update ${kindOf(key.sk)}${nameOf(changes)}`, () =>
          this.#write(process, [key], async () => {
            const before = await table.get(key);
            const item = await table.update(key, changes, condition);
            if (isClaim(changes)) noteClaim(process, this.#world.now, changes);
            const trespasses = isCommit(changes) && before?.[A.leaseOwner] !== process.owner;
            if (trespasses) this.trespasses.push(`${key.pk} at seq ${String(before?.[A.seq])}`);
            return item;
          }).catch((error: unknown) => {
            // A claim that was applied and whose answer was lost counts from then on.
            const mine = error instanceof ConditionFailed && error.item?.[A.leaseOwner] === ownerIn(changes);
            if (isClaim(changes) && mine) noteClaim(process, process.claimedAt ?? this.#world.now, changes);
            throw error;
          }),
        ),
      delete: (key, condition) =>
        call(`delete ${kindOf(key.sk)}`, () => this.#write(process, [key], () => table.delete(key, condition))),
      transact: (writes: readonly Write[], token) =>
        call('transact', () => this.#write(process, writes.map(keyOf), () => table.transact(writes, token))),
    };
  }
}

const isClaim = (changes: readonly Change[]): boolean =>
  changes.some((change) => change.path === A.claims && change.do === 'add');
const isCommit = (changes: readonly Change[]): boolean => changes.some((change) => change.path === A.seq);

const ownerIn = (changes: readonly Change[]): string | undefined => {
  const owner = changes.find((change) => change.path === A.leaseOwner);
  return owner?.do === 'set' ? String(owner.value) : undefined;
};

const noteClaim = (process: Process, at: number, changes: readonly Change[]): void => {
  process.claimedAt = at;
  process.owner = ownerIn(changes);
};

/** Processes remember such rows, and the feed is the audit: what is written stays as it is. */
const isFixed = ({ sk }: Key): boolean => sk.startsWith('FEED#') || sk === 'PINNED';
const kindOf = (sk: string): string => sk.split('#')[0] ?? '';
const nameOf = (changes: readonly Change[]): string => {
  if (isClaim(changes)) return ' claim';
  return isCommit(changes) ? ' commit' : '';
};

const keyOf = (write: Write): Key => {
  if ('put' in write) return write.put;
  if ('update' in write) return write.update;
  return 'delete' in write ? write.delete : write.check;
};
