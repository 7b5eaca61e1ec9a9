import * as z from 'zod';
import { UnreadableRow } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import type { Item, Table } from '../kernel/table.ts';
import type { Execution } from './execution.ts';
import { count, time } from './row-fields.ts';

const VERSION = 1;

/** What one call, or one step of a workflow, waits for. Written once, in the transaction that parks the step. */
const waitSchema = z.object({
  v: z.literal(VERSION),
  until: time,
  /** A message ends the wait before its time. */
  wakeOnInput: z.boolean(),
  /** The counter of waking inputs when it began: only what came later ends it. */
  waking: count,
  at: time,
});
export type WaitRow = z.infer<typeof waitSchema>;

export const waitItem = (
  { orgId, executionId, seq }: Pick<Execution, 'orgId' | 'executionId' | 'seq'>,
  n: number,
  row: Omit<WaitRow, 'v'>,
): Item => ({ ...keys.wait(orgId, executionId, seq, n), ...row, v: VERSION });

/**
 * The wait that an earlier claim of this step began; `undefined` when it has not begun.
 * @throws UnreadableRow
 */
export const findWait = async (
  deps: { readonly table: Table },
  execution: Execution,
  n: number,
): Promise<WaitRow | undefined> => {
  // The first claim of a step finds nothing, so it reads nothing.
  if (execution.claims <= 1) return undefined;
  const key = keys.wait(execution.orgId, execution.executionId, execution.seq, n);
  const item = await deps.table.get(key, { consistent: true });
  if (item === undefined) return undefined;
  const parsed = waitSchema.safeParse(item);
  if (!parsed.success) throw new UnreadableRow(item, z.prettifyError(parsed.error));
  return parsed.data;
};
