import { blobs } from '../../lib/compose/bucket.ts';
import { log, metrics } from '../../lib/compose/core.ts';
import { effectDeps } from '../../lib/compose/effect.ts';
import { deliverEffect, retrySeconds } from '../../lib/effect/deliver.ts';
import { effectMessageSchema } from '../../lib/effect/effect.ts';
import { sqsHandler } from '../../lib/middleware/sqs-handler.ts';

export const handler = sqsHandler({
  log,
  metrics,
  blobs,
  parse: (body) => effectMessageSchema.parse(JSON.parse(body)),
  handle: async (message, record) => {
    log.append({ orgId: message.orgId, effectId: message.effectId });
    const deps = effectDeps();
    try {
      await deliverEffect(deps, message);
    } catch (error) {
      const seconds = retrySeconds(Number(record.attributes.ApproximateReceiveCount));
      await deps.effects.changeVisibility(record.receiptHandle, seconds);
      throw error;
    }
  },
});
