import * as z from 'zod';
import { UnreadableRow } from '../../kernel/errors.ts';
import { keys } from '../../kernel/keys.ts';
import type { Item } from '../../kernel/table.ts';
import type { At } from '../get.ts';
import { count, time } from '../row-fields.ts';

const VERSION = 1;

/**
 * The parent's record of one run that a call of it started, written in the transaction that starts it: whoever finds it
 * knows that the run exists, and what was set aside for it.
 */
const childSchema = z.object({
  v: z.literal(VERSION),
  executionId: z.string(),
  agentId: z.string(),
  seq: count,
  n: count,
  /** Micro-dollars set aside on the parent until the run has ended. */
  budget: count,
  /** The run at the top, which counts all that are open below it. */
  rootId: z.string(),
  state: z.enum(['open', 'ended']),
  /** What it really cost, once it has ended. */
  cost: count.optional(),
  at: time,
  endedAt: time.optional(),
});
export type ChildRow = z.infer<typeof childSchema>;

/** @throws UnreadableRow */
export const readChild = (item: Item): ChildRow => {
  const parsed = childSchema.safeParse(item);
  if (!parsed.success) throw new UnreadableRow(item, z.prettifyError(parsed.error));
  return parsed.data;
};

export const childItem = (parent: At, row: Omit<ChildRow, 'v' | 'state' | 'cost' | 'endedAt'>): Item => ({
  ...keys.child(parent.orgId, parent.executionId, row.seq, row.n),
  ...row,
  state: 'open',
  v: VERSION,
});
