/** Wake-ups of the Router: ids only, the truth is in the table. */
import * as z from 'zod';

const id = z.string().min(1);

/** On the inbox queue: a delivery waits for the resolver. */
export const inboxMessageSchema = z.strictObject({ orgId: id, sourceId: id, deliveryId: id });
export type InboxMessage = z.infer<typeof inboxMessageSchema>;

/** On the assess queue: a Thread has pending Triggers. */
export const assessMessageSchema = z.strictObject({ orgId: id, threadId: id });
export type AssessMessage = z.infer<typeof assessMessageSchema>;

/** On the effect queue: a posting wants to go out. */
export const postingMessageSchema = z.strictObject({ orgId: id, postingId: id });
export type PostingMessage = z.infer<typeof postingMessageSchema>;
