import { blobs } from '../../lib/compose/bucket.ts';
import { log, metrics } from '../../lib/compose/core.ts';
import { stepDeps } from '../../lib/compose/step.ts';
import { stepMessageSchema } from '../../lib/execution/message.ts';
import { processStep } from '../../lib/execution/step/process.ts';
import { sqsHandler } from '../../lib/middleware/sqs-handler.ts';

/** Milliseconds of the function's time; set for each invocation before its one record is handled. */
let remainingMs = (): number => 0;

const records = sqsHandler({
  log,
  metrics,
  blobs,
  parse: (body) => stepMessageSchema.parse(JSON.parse(body)),
  handle: async (message, record) => {
    log.append({ orgId: message.orgId, executionId: message.executionId, seq: message.seq });
    await processStep(
      stepDeps(),
      message,
      {
        messageId: record.messageId,
        receiptHandle: record.receiptHandle,
        receiveCount: Number(record.attributes.ApproximateReceiveCount),
      },
      remainingMs,
    );
  },
});

export const handler = records.before(({ context }) => {
  remainingMs = () => context.getRemainingTimeInMillis();
});
