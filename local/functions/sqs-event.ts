import type { Message } from '@aws-sdk/client-sqs';

/** The record Lambda hands to a function for a message of a queue. */
export const sqsEvent = (messages: readonly Message[], queueArn: string, region: string): string =>
  JSON.stringify({
    Records: messages.map((message) => ({
      messageId: message.MessageId,
      receiptHandle: message.ReceiptHandle,
      body: message.Body,
      attributes: message.Attributes ?? {},
      messageAttributes: Object.fromEntries(
        Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [
          name,
          {
            ...(value.StringValue === undefined ? {} : { stringValue: value.StringValue }),
            ...(value.BinaryValue === undefined
              ? {}
              : { binaryValue: Buffer.from(value.BinaryValue).toString('base64') }),
            stringListValues: [],
            binaryListValues: [],
            dataType: value.DataType,
          },
        ]),
      ),
      md5OfBody: message.MD5OfBody,
      eventSource: 'aws:sqs',
      eventSourceARN: queueArn,
      awsRegion: region,
    })),
  });

/**
 * Which messages of a batch are done, by Lambda's rules for `ReportBatchItemFailures`: an empty or absent list means all,
 * a list with an empty, missing or unknown identifier means none.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 * @returns ids of the messages to delete
 */
export const doneMessages = (answer: Buffer, messageIds: readonly string[]): readonly string[] => {
  const failures = readFailures(answer);
  if (failures === 'malformed') return [];
  if (failures.some((id) => !messageIds.includes(id))) return [];
  return messageIds.filter((id) => !failures.includes(id));
};

const readFailures = (answer: Buffer): readonly string[] | 'malformed' => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(answer.toString('utf8'));
  } catch {
    return 'malformed';
  }
  if (parsed === null) return [];
  if (typeof parsed !== 'object' || Array.isArray(parsed)) return 'malformed';
  const list = (parsed as { readonly batchItemFailures?: unknown }).batchItemFailures;
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) return 'malformed';
  const ids = list.map((item) => (item as { readonly itemIdentifier?: unknown } | null)?.itemIdentifier);
  return ids.every((id): id is string => typeof id === 'string' && id !== '') ? ids : 'malformed';
};
