import * as z from 'zod';

/**
 * The wake-up of a schedule. The row decides: `dueAt` only tells an early or repeated message, and is missing where it is
 * the end of a run that wakes.
 */
export const fireMessageSchema = z.strictObject({
  orgId: z.string().min(1),
  scheduleId: z.string().min(1),
  dueAt: z.int().min(0).optional(),
});
export type FireMessage = z.infer<typeof fireMessageSchema>;

/** Ids out of a schedule's primary key, as the index shows it. */
export const parseSchedulePk = (pk: string): { readonly orgId: string; readonly scheduleId: string } | undefined => {
  const match = /^ORG#([^#]+)#SCHEDULE#([^#]+)$/.exec(pk);
  return match?.[1] !== undefined && match[2] !== undefined ? { orgId: match[1], scheduleId: match[2] } : undefined;
};
