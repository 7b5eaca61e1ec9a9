import { assessDeps } from '../../lib/compose/assess.ts';
import { blobs } from '../../lib/compose/bucket.ts';
import { log, metrics } from '../../lib/compose/core.ts';
import { UnreadableRow } from '../../lib/kernel/errors.ts';
import { sqsHandler } from '../../lib/middleware/sqs-handler.ts';
import { assessThread } from '../../lib/router/assess/assess.ts';
import { assessMessageSchema } from '../../lib/router/message.ts';

/** Milliseconds of the function's time; set for each invocation before its one record is handled. */
let remainingMs = (): number => 0;

const records = sqsHandler({
  log,
  metrics,
  blobs,
  parse: (body) => assessMessageSchema.parse(JSON.parse(body)),
  // A row of a newer version outlasts every repeat; the Thread's mark brings it back.
  hopeless: (error) => error instanceof UnreadableRow,
  handle: async (message, record) => {
    log.append({ ...message });
    const { messageId, receiptHandle, attributes } = record;
    const receiveCount = Number(attributes.ApproximateReceiveCount);
    await assessThread(assessDeps(), message, { messageId, receiptHandle, receiveCount }, () => remainingMs());
  },
});

export const handler = records.before(({ context }) => {
  remainingMs = () => context.getRemainingTimeInMillis();
});
