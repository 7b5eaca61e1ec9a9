import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { blobKeys } from '../kernel/keys.ts';
import type { Blobs, Queue } from '../kernel/ports.ts';
import { METRICS } from '../names.ts';
import type { RequestLog } from '../observe/logger.ts';
import type { RequestMetrics } from '../observe/metrics.ts';
import { logContext } from './log-context.ts';
import { type SqsRecords, sqsRecords } from './sqs-records.ts';

export interface SqsHandler<Message> extends Pick<SqsRecords<Message>, 'parse' | 'handle'> {
  readonly log: RequestLog;
  readonly metrics: RequestMetrics;
  readonly blobs: () => Blobs;
  /** Errors that no repeat mends: their message is set aside too. */
  readonly hopeless?: (error: unknown) => boolean;
  /** After how many seconds what failed comes back; without it when the queue's time-out ends, which is long. */
  readonly later?: {
    readonly queue: () => Pick<Queue<Message>, 'changeVisibility'>;
    readonly seconds: (error: unknown, receiveCount: number) => number;
  };
}

/** Sets a message aside that nobody can read: body and reason go to the bucket, an alarm looks at the count. */
const parkRecord = async (
  { blobs, metrics }: Pick<SqsHandler<unknown>, 'blobs' | 'metrics'>,
  record: SQSRecord,
  why: unknown,
): Promise<void> => {
  const parked = { messageId: record.messageId, queue: record.eventSourceARN, body: record.body, why: String(why) };
  const day = new Date().toISOString().slice(0, 10);
  const bytes = new TextEncoder().encode(JSON.stringify(parked));
  await blobs().put(blobKeys.parked(day, record.messageId), bytes, 'application/json');
  metrics.count(METRICS.parked);
};

/** Never throws: what failed first is what has to be told, and the queue's time-out brings the message back too. */
const comeBack = async <Message>(
  { log, later }: Pick<SqsHandler<Message>, 'log' | 'later'>,
  { messageId, receiptHandle, attributes }: SQSRecord,
  error: unknown,
): Promise<void> => {
  try {
    const seconds = later?.seconds(error, Number(attributes.ApproximateReceiveCount));
    if (seconds !== undefined) await later?.queue().changeVisibility(receiptHandle, seconds);
  } catch (second) {
    log.warn('A message comes back when its time-out says.', { messageId, error: String(second) });
  }
};

/** A consumer of a queue: log context, partial failures, parking. */
export const sqsHandler = <Message>(options: SqsHandler<Message>) => {
  const { log, metrics, parse, handle, hopeless } = options;
  const park = (record: SQSRecord, why: unknown): Promise<void> => parkRecord(options, record, why);
  const handleOrPark: typeof handle = async (message, record) => {
    try {
      await handle(message, record);
    } catch (error) {
      if (hopeless?.(error) !== true) {
        await comeBack(options, record, error);
        throw error;
      }
      log.error('A message can never be handled; it is set aside.', { messageId: record.messageId, error });
      await park(record, error);
    }
  };
  return middy<SQSEvent, SQSBatchResponse>()
    .use(logContext(log, metrics))
    .handler(sqsRecords({ parse, handle: handleOrPark, log, park }));
};
