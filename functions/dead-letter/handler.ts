import * as z from 'zod';
import { blobs } from '../../lib/compose/bucket.ts';
import { log, metrics } from '../../lib/compose/core.ts';
import { executionDeps } from '../../lib/compose/executions.ts';
import { buryEffect } from '../../lib/effect/deliver.ts';
import { effectMessageSchema } from '../../lib/effect/effect.ts';
import { judgeDeadLetter } from '../../lib/execution/dead-letter.ts';
import { stepMessageSchema } from '../../lib/execution/message.ts';
import { UnreadableRow } from '../../lib/kernel/errors.ts';
import { sqsHandler } from '../../lib/middleware/sqs-handler.ts';
import { buryFire } from '../../lib/schedule/dead-letter.ts';
import { fireMessageSchema } from '../../lib/schedule/message.ts';
import { buryWebhook } from '../../lib/webhook/deliver.ts';
import { webhookMessageSchema } from '../../lib/webhook/message.ts';

const deadSchema = z.union([stepMessageSchema, effectMessageSchema, fireMessageSchema, webhookMessageSchema]);

export const handler = sqsHandler({
  log,
  metrics,
  blobs,
  parse: (body) => deadSchema.parse(JSON.parse(body)),
  // A row of a newer version outlasts every repeat; the row itself stays as it is.
  hopeless: (error) => error instanceof UnreadableRow,
  handle: async (message, record) => {
    log.append({ ...message });
    if ('effectId' in message) await buryEffect(executionDeps(), message);
    else if ('webhookId' in message) await buryWebhook(executionDeps(), message);
    else if ('scheduleId' in message) await buryFire(executionDeps(), message);
    else await judgeDeadLetter(executionDeps(), message, record.messageId);
  },
});
