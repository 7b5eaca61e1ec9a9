import { blobs } from '../../lib/compose/bucket.ts';
import { inbox, log, metrics } from '../../lib/compose/core.ts';
import { resolveDeps } from '../../lib/compose/resolve.ts';
import { UnreadableRow } from '../../lib/kernel/errors.ts';
import { sqsHandler } from '../../lib/middleware/sqs-handler.ts';
import { resolveDelivery, retryResolveSeconds } from '../../lib/router/ingest/resolve.ts';
import { inboxMessageSchema } from '../../lib/router/message.ts';

export const handler = sqsHandler({
  log,
  metrics,
  blobs,
  parse: (body) => inboxMessageSchema.parse(JSON.parse(body)),
  // A row of a newer version outlasts every repeat; the delivery's mark brings it back.
  hopeless: (error) => error instanceof UnreadableRow,
  handle: async (message) => {
    log.append({ ...message });
    await resolveDelivery(resolveDeps(), message);
  },
  later: { queue: inbox, seconds: retryResolveSeconds },
});
