import { buryEffect } from '../effect/deliver.ts';
import { effectMessageSchema } from '../effect/effect.ts';
import { judgeDeadLetter } from '../execution/dead-letter.ts';
import { stepMessageSchema } from '../execution/message.ts';
import { buryAssessment } from '../router/assess/tend.ts';
import { buryDelivery } from '../router/ingest/tend.ts';
import { assessMessageSchema, inboxMessageSchema, postingMessageSchema } from '../router/message.ts';
import { buryPostingMessage } from '../router/outbox/wake.ts';
import { buryFire } from '../schedule/dead-letter.ts';
import { fireMessageSchema } from '../schedule/message.ts';
import { buryWebhook } from '../webhook/deliver.ts';
import { webhookMessageSchema } from '../webhook/message.ts';
import { executionDeps } from './executions.ts';

/** Of every queue; no message fits two of them. */
const SCHEMAS = [
  stepMessageSchema,
  effectMessageSchema,
  fireMessageSchema,
  webhookMessageSchema,
  inboxMessageSchema,
  assessMessageSchema,
  postingMessageSchema,
] as const;
type DeadMessage = ReturnType<(typeof SCHEMAS)[number]['parse']>;

/** @throws Error when it is no message of ours */
export const parseDead = (body: string): DeadMessage => {
  const message: unknown = JSON.parse(body);
  for (const schema of SCHEMAS) {
    const parsed = schema.safeParse(message);
    if (parsed.success) return parsed.data;
  }
  throw new Error('It is a message of no known kind.');
};

/** What becomes of a message that its queue gave up on. */
export const bury = async (message: DeadMessage, messageId: string): Promise<void> => {
  const deps = executionDeps();
  if ('effectId' in message) await buryEffect(deps, message);
  else if ('webhookId' in message) await buryWebhook(deps, message);
  else if ('scheduleId' in message) await buryFire(deps, message);
  else if ('sourceId' in message) await buryDelivery(deps, message);
  else if ('postingId' in message) await buryPostingMessage(deps, message);
  else if ('threadId' in message) await buryAssessment(deps, message);
  else await judgeDeadLetter(deps, message, messageId);
};
