import { keys } from '../../kernel/keys.ts';
import type { Table } from '../../kernel/table.ts';
import type { Execution } from '../execution.ts';
import { allPages } from '../step/load.ts';
import { type ChildRow, readChild } from './child-row.ts';

/** Rows of the runs that this one's calls started, oldest first; most runs start none, and then nothing is read. */
export const childRows = async (table: Table, execution: Execution): Promise<readonly ChildRow[] | undefined> => {
  if (execution.children === 0) return undefined;
  const items = await allPages(table, keys.children(execution.orgId, execution.executionId));
  return items.map(readChild);
};
