import type { NewAttention } from '../../lib/attention/attention.ts';
import { A, readExecution } from '../../lib/execution/execution.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { set, type Value } from '../../lib/kernel/table.ts';
import { executionIdOf, NOW, ORG, putExecution } from '../execution/support.ts';
import { makeMemoryTable } from '../support/memory-table.ts';

/** An item of the first execution, some ms after NOW. */
export const item = (ms: number, more: Partial<NewAttention> = {}): NewAttention => ({
  orgId: ORG,
  kind: 'error',
  subject: { type: 'execution', id: executionIdOf(0) },
  at: NOW + ms,
  question: 'It stands.',
  url: `/v1/executions/${executionIdOf(0)}`,
  actions: [{ label: 'Resume', method: 'POST', path: `/v1/executions/${executionIdOf(0)}/resume` }],
  ...more,
});

/** The first execution with some of its attributes changed. */
export const executionWith = async (attributes: { readonly [Name in keyof typeof A]?: Value }) => {
  const table = makeMemoryTable();
  const changes = Object.entries(attributes).map(([name, value]) => set(A[name as keyof typeof A], value));
  await putExecution(table, 0, changes);
  const row = await table.get(keys.execution(ORG, executionIdOf(0)));
  if (row === undefined) throw new Error('The execution is missing.');
  return readExecution(row);
};
