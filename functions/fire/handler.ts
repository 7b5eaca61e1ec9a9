import { blobs } from '../../lib/compose/bucket.ts';
import { fires, log, metrics } from '../../lib/compose/core.ts';
import { fireDeps } from '../../lib/compose/fire.ts';
import { retrySeconds } from '../../lib/effect/deliver.ts';
import { UnreadableRow } from '../../lib/kernel/errors.ts';
import { sqsHandler } from '../../lib/middleware/sqs-handler.ts';
import { fireSchedule } from '../../lib/schedule/fire.ts';
import { fireMessageSchema } from '../../lib/schedule/message.ts';

export const handler = sqsHandler({
  log,
  metrics,
  blobs,
  parse: (body) => fireMessageSchema.parse(JSON.parse(body)),
  // A schedule of a newer version outlasts every repeat; its mark brings it back.
  hopeless: (error) => error instanceof UnreadableRow,
  handle: (message) => fireSchedule(fireDeps(), message),
  later: { queue: fires, seconds: (_, receiveCount) => retrySeconds(receiveCount) },
});
