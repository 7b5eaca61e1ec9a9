import { keys } from '../kernel/keys.ts';
import type { Log } from '../kernel/ports.ts';
import type { Table } from '../kernel/table.ts';
import { type Listed, listRows, type PageRequest } from '../tenancy/list-rows.ts';
import { BUILT_IN_NAMES, builtIn } from './built-ins.ts';
import { readHead } from './rows.ts';

/** A workflow without its definition. A built-in one has no dates. */
export interface ListedWorkflow {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: number;
  readonly builtIn: boolean;
  readonly createdAt?: string;
  readonly updatedAt?: string;
}

const shownBuiltIn = (name: string): ListedWorkflow => {
  const version = builtIn(name)?.version ?? 1;
  return { id: name, name, description: builtIn(name)?.definition.description ?? '', version, builtIn: true };
};

/**
 * The organisation's own, newest first, then the built-in ones. Their names sort before `wfl_`, so that positions in the
 * list go on from one kind to the other.
 */
export const listWorkflows = async (
  deps: { readonly table: Table; readonly log: Log },
  orgId: string,
  page: PageRequest,
): Promise<Listed<ListedWorkflow>> => {
  const range = keys.workflows(orgId);
  const own = await listRows(
    { table: deps.table, ...range, read: (item) => ({ ...readHead(item), builtIn: false }), log: deps.log },
    page,
  );
  if (own.next !== undefined) return own;
  const positionOf = (name: string): string => `${range.prefix}${name}`;
  const rest = [...BUILT_IN_NAMES]
    .sort()
    .reverse()
    .filter((name) => page.start === undefined || positionOf(name) <= page.start);
  const room = page.limit - own.items.length;
  const items = [...own.items, ...rest.slice(0, room).map(shownBuiltIn)];
  const next = rest[room];
  return next === undefined ? { items } : { items, next: positionOf(next) };
};

/** Names of an organisation's own workflows, the newest 20: for a message that says what there is. */
export const ownNames = async (
  deps: { readonly table: Table; readonly log: Log },
  orgId: string,
): Promise<readonly string[]> => {
  const { items } = await listRows(
    { table: deps.table, ...keys.workflows(orgId), read: (item) => readHead(item).name, log: deps.log },
    { limit: 20 },
  );
  return items;
};
