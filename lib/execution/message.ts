import * as z from 'zod';
import type { Execution } from './execution.ts';

/**
 * The wake-up of one step. The truth is in the table: `from` and `summary` only hint at the window, so that it can be
 * read beside the claim; the claimed row decides.
 */
export const stepMessageSchema = z.strictObject({
  orgId: z.string().min(1),
  executionId: z.string().min(1),
  seq: z.number().int().min(1),
  from: z.number().int().min(0).optional(),
  summary: z.number().int().min(1).optional(),
  /** It comes at the end of a wait: the run is woken first, and thinks when a message of its own comes to its turn. */
  wake: z.literal(true).optional(),
});
export type StepMessage = z.infer<typeof stepMessageSchema>;

/** The message that moves this execution on from where its row says it stands. */
export const messageFor = (
  execution: Pick<Execution, 'orgId' | 'executionId' | 'seq' | 'status' | 'windowFrom' | 'summarySeq'>,
): StepMessage => ({
  orgId: execution.orgId,
  executionId: execution.executionId,
  seq: execution.seq,
  ...(execution.windowFrom > 0 && { from: execution.windowFrom }),
  ...(execution.summarySeq !== undefined && { summary: execution.summarySeq }),
  ...(execution.status === 'WAIT_STEP' && { wake: true }),
});

/** One receipt of a message. `receiveCount` is 1 for the first. */
export interface Delivery {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly receiveCount: number;
}
