import { keys } from '../../kernel/keys.ts';
import type { Table } from '../../kernel/table.ts';
import type { Execution } from '../execution.ts';
import { allPages } from '../step/load.ts';
import { readChild } from './child-row.ts';

/** Ids of the runs that this one's calls started, oldest first; most runs start none, and then nothing is read. */
export const childrenIds = async (table: Table, execution: Execution): Promise<readonly string[] | undefined> => {
  if (execution.children === 0) return undefined;
  const items = await allPages(table, keys.children(execution.orgId, execution.executionId));
  return items.map((item) => readChild(item).executionId);
};
