import { notFound } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import type { Table } from '../kernel/table.ts';
import { type Execution, readExecution } from './execution.ts';

export interface At {
  readonly orgId: string;
  readonly executionId: string;
}

/** @throws AppError 404; UnreadableRow */
export const getExecution = async (table: Table, at: At): Promise<Execution> => {
  const item = await table.get(keys.execution(at.orgId, at.executionId), { consistent: true });
  if (item === undefined) throw notFound('execution');
  return readExecution(item);
};
