import { isId } from '../kernel/ids.ts';
import { keys, owner } from '../kernel/keys.ts';
import type { Item, Page, Table, Value } from '../kernel/table.ts';
import {
  answerBudget,
  type Listed,
  legible,
  listRows,
  MOST_ROWS_READ,
  type PageRequest,
} from '../tenancy/list-rows.ts';
import { type Execution, readExecution } from './execution.ts';
import { type FeedRow, readFeedRow } from './feed.ts';
import { type At, getExecution } from './get.ts';
import { messageFor } from './message.ts';
import { type AskRow, readAsk } from './rows.ts';
import { isTerminal, type Status } from './status.ts';
import type { ExecutionDeps } from './step/deps.ts';

type Listing = Pick<ExecutionDeps, 'table' | 'log'>;

/** Newest first; of one agent by its pointers, of the whole organisation by the index. */
export const listExecutions = async (
  { table, log }: Listing,
  orgId: string,
  filter: { readonly agentId?: string | undefined; readonly status?: Status | undefined },
  page: PageRequest,
): Promise<Listed<Execution>> => {
  const read = legible(log, (item): Execution | undefined => {
    const execution = readExecution(item);
    return filter.status === undefined || execution.status === filter.status ? execution : undefined;
  });
  if (filter.agentId === undefined) {
    return listRows({ table, pk: owner.executions(orgId), index: 'byOwner', read }, page);
  }
  if (!isId('agt', filter.agentId)) return { items: [] };
  const items: Execution[] = [];
  const fits = answerBudget();
  const { pk, prefix } = keys.agentExecutions(orgId, filter.agentId);
  // A filter that lets little through is read in long pages, whatever length of answer is wanted.
  const limit = filter.status === undefined ? page.limit : BATCH;
  let start = page.start;
  let looked = 0;
  // The pointers name the rows; the rows decide. A page may need several looks when the filter lets little through.
  for (;;) {
    const pointers = await listRows({ table, pk, prefix, read: (item) => item.sk }, { limit, start });
    const rows = await fetchRows(table, orgId, pointers.items);
    for (const [index, row] of rows.entries()) {
      const here = pointers.items[index] ?? '';
      if (items.length === page.limit) return { items, next: here };
      const execution = row && read(row);
      if (execution === undefined) continue;
      if (!fits(execution)) return { items, next: here };
      items.push(execution);
    }
    looked += rows.length;
    if (pointers.next === undefined) return { items };
    if (items.length === page.limit || looked >= MOST_ROWS_READ) return { items, next: pointers.next };
    start = pointers.next;
  }
};

const BATCH = 100; // `getMany` takes 100 keys

const fetchRows = async (table: Table, orgId: string, sortKeys: readonly string[]): Promise<(Item | undefined)[]> => {
  const wanted = sortKeys.map((sk) => keys.execution(orgId, sk.slice('EXECUTION#'.length)));
  const rows: (Item | undefined)[] = [];
  for (let at = 0; at < wanted.length; at += BATCH) {
    rows.push(...(await table.getMany(wanted.slice(at, at + BATCH), { consistent: true })));
  }
  return rows;
};

export interface FeedSlice {
  readonly rows: readonly FeedRow[];
  /** It has ended and nothing comes after these rows. */
  readonly ended: boolean;
}

/**
 * Committed rows after a position, in order, fewer than `limit` where an answer could not carry them all. Rows at or above
 * the execution's `seq` do not show before their commit.
 */
export const readFeed = async (
  table: Table,
  at: At,
  after: { readonly seq: number; readonly n: number } | undefined,
  limit: number,
): Promise<FeedSlice> => {
  const execution = await getExecution(table, at);
  const range = keys.feedRange(at.orgId, at.executionId, after?.seq ?? 0, execution.seq - 1);
  const from = after === undefined ? range.from : `${keys.feed(at.orgId, at.executionId, after.seq, after.n).sk}!`;
  const rows: FeedRow[] = [];
  const fits = answerBudget();
  let next: Value | undefined;
  do {
    const page: Page = await table.query({
      ...range,
      from,
      consistent: true,
      limit: limit + 1 - rows.length,
      ...(next !== undefined && { after: next }),
    });
    for (const row of page.items.map(readFeedRow)) {
      if (rows.length === limit || !fits(row)) return { rows, ended: false };
      rows.push(row);
    }
    next = page.next;
  } while (next !== undefined);
  return { rows, ended: isTerminal(execution.status) };
};

/** Rows of whole steps, `limit` steps at a time, beginning with `fromSeq`. */
export const readSteps = async (
  table: Table,
  at: At,
  fromSeq: number,
  limit: number,
): Promise<{ readonly rows: readonly FeedRow[]; readonly nextSeq: number | undefined }> => {
  const execution = await getExecution(table, at);
  const to = Math.min(execution.seq - 1, fromSeq + limit - 1);
  const rows: FeedRow[] = [];
  let after: Value | undefined;
  if (to >= fromSeq) {
    do {
      const page: Page = await table.query({
        ...keys.feedRange(at.orgId, at.executionId, fromSeq, to),
        consistent: true,
        ...(after !== undefined && { after }),
      });
      rows.push(...page.items.map(readFeedRow));
      after = page.next;
    } while (after !== undefined);
  }
  return { rows, nextSeq: to < execution.seq - 1 ? to + 1 : undefined };
};

/** Newest first; of one execution by its own rows, of the whole organisation by the index. */
export const listPermissions = (
  { table, log }: Listing,
  orgId: string,
  filter: { readonly state?: AskRow['state'] | undefined; readonly executionId?: string | undefined },
  page: PageRequest,
): Promise<Listed<AskRow>> => {
  const { state, executionId } = filter;
  const read = (item: Item): AskRow | undefined => {
    const ask = readAsk(item);
    return ask.kind === 'permission' && (state === undefined || ask.state === state) ? ask : undefined;
  };
  return executionId === undefined
    ? listRows({ table, log, pk: owner.asks(orgId), index: 'byOwner', read }, page)
    : listRows({ table, log, ...keys.asks(orgId, executionId), read }, page);
};

/** Sends a wake-up to every RUNNING execution of an organisation; whoever moves already ignores it. */
export const wakeOrganisation = async (deps: ExecutionDeps, orgId: string): Promise<void> => {
  let start: string | undefined;
  do {
    const page = await listExecutions(deps, orgId, { status: 'RUNNING' }, { limit: BATCH, start });
    await Promise.all(
      page.items.map((execution) => deps.steps.send(messageFor(execution), { delaySeconds: 0, tenant: orgId })),
    );
    start = page.next;
  } while (start !== undefined);
};
