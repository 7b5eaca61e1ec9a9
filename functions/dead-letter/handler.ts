import { blobs } from '../../lib/compose/bucket.ts';
import { log, metrics } from '../../lib/compose/core.ts';
import { bury, parseDead } from '../../lib/compose/dead-letters.ts';
import { UnreadableRow } from '../../lib/kernel/errors.ts';
import { sqsHandler } from '../../lib/middleware/sqs-handler.ts';

export const handler = sqsHandler({
  log,
  metrics,
  blobs,
  parse: parseDead,
  // A row of a newer version outlasts every repeat; the row itself stays as it is.
  hopeless: (error) => error instanceof UnreadableRow,
  handle: async (message, record) => {
    log.append({ ...message });
    await bury(message, record.messageId);
  },
});
