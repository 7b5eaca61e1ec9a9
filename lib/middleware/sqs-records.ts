import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { Log } from '../kernel/ports.ts';

export interface SqsRecords<Message> {
  /** Reads a record's body. @throws anything, when it never will be readable */
  readonly parse: (body: string) => Message;
  /** Does the work of one message. A throw brings the message back after its visibility time-out. */
  readonly handle: (message: Message, record: SQSRecord) => Promise<void>;
  /**
   * Sets a record aside that cannot be parsed, with the reason. Such a record is then taken off the queue: it would
   * fail until it had worn out its receives, and hide in a DLQ among messages that only met a crash.
   */
  readonly park: (record: SQSRecord, why: unknown) => Promise<void>;
  readonly log: Log;
}

/**
 * A handler for a batch of SQS records, each on its own: who throws is named in `batchItemFailures` (the mapping needs
 * `ReportBatchItemFailures`), the others are done. Records run at the same time: a standard queue has no order to keep.
 * A record whose parking failed comes back too, so nothing is lost.
 */
export const sqsRecords =
  <Message>({ parse, handle, park, log }: SqsRecords<Message>) =>
  async (event: SQSEvent): Promise<SQSBatchResponse> => {
    const one = async (record: SQSRecord): Promise<void> => {
      let message: Message;
      try {
        message = parse(record.body);
      } catch (why) {
        log.error('A message cannot be read; it is set aside.', { messageId: record.messageId, error: why });
        await park(record, why);
        return;
      }
      await handle(message, record);
    };

    const outcomes = await Promise.allSettled(event.Records.map(one));
    const batchItemFailures = outcomes.flatMap((outcome, index) => {
      const messageId = event.Records[index]?.messageId;
      if (outcome.status === 'fulfilled' || messageId === undefined) return [];
      const expected = outcome.reason instanceof Error && 'expected' in outcome.reason;
      if (expected) log.info('A message waits and comes back.', { messageId, error: outcome.reason });
      else log.error('A message failed; it comes back.', { messageId, error: outcome.reason });
      return [{ itemIdentifier: messageId }];
    });
    return { batchItemFailures };
  };
