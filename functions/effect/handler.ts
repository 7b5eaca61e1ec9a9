import * as z from 'zod';
import { blobs } from '../../lib/compose/bucket.ts';
import { effects, log, metrics } from '../../lib/compose/core.ts';
import { effectDeps } from '../../lib/compose/effect.ts';
import { outboxDeps } from '../../lib/compose/outbox.ts';
import { webhookDeps } from '../../lib/compose/webhooks.ts';
import { deliverEffect, retrySeconds } from '../../lib/effect/deliver.ts';
import { effectMessageSchema } from '../../lib/effect/effect.ts';
import { sqsHandler } from '../../lib/middleware/sqs-handler.ts';
import { postingMessageSchema } from '../../lib/router/message.ts';
import { sendPosting } from '../../lib/router/outbox/send.ts';
import { handleWebhookMessage } from '../../lib/webhook/deliver.ts';
import { webhookMessageSchema } from '../../lib/webhook/message.ts';

const messageSchema = z.union([effectMessageSchema, webhookMessageSchema, postingMessageSchema]);

export const handler = sqsHandler({
  log,
  metrics,
  blobs,
  parse: (body) => messageSchema.parse(JSON.parse(body)),
  handle: async (message) => {
    log.append({ ...message });
    if ('effectId' in message) await deliverEffect(effectDeps(), message);
    else if ('postingId' in message) await sendPosting(outboxDeps(), message);
    else await handleWebhookMessage(webhookDeps(), message);
  },
  later: { queue: effects, seconds: (_, receiveCount) => retrySeconds(receiveCount) },
});
