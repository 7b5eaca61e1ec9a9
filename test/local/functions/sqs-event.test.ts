import { expect, test } from 'vitest';
import { doneMessages, sqsEvent } from '../../../local/functions/sqs-event.ts';

const IDS = ['a', 'b', 'c'];

test.each([
  ['{"batchItemFailures":[]}', IDS],
  ['{"batchItemFailures":null}', IDS],
  ['{}', IDS],
  ['null', IDS],
  ['{"batchItemFailures":[{"itemIdentifier":"b"}]}', ['a', 'c']],
  ['{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"b"},{"itemIdentifier":"c"}]}', []],
  ['{"batchItemFailures":[{"itemIdentifier":""}]}', []],
  ['{"batchItemFailures":[{"itemIdentifier":null}]}', []],
  ['{"batchItemFailures":[{"item":"b"}]}', []],
  ['{"batchItemFailures":["b"]}', []],
  ['{"batchItemFailures":[null]}', []],
  ['{"batchItemFailures":[{"itemIdentifier":"unknown"}]}', []],
  ['{"batchItemFailures":"b"}', []],
  ['"done"', []],
  ['[]', []],
  ['no json', []],
])('%s leaves done: %j', (answer, done) => {
  expect(doneMessages(Buffer.from(answer), IDS)).toEqual(done);
});

test('binary attributes are base64 in the record', () => {
  const message = {
    MessageId: 'a',
    Body: 'b',
    MessageAttributes: { x: { DataType: 'Binary', BinaryValue: new Uint8Array([1, 255]) } },
  };
  const { Records } = JSON.parse(sqsEvent([message], 'arn', 'r')) as { Records: Record<string, unknown>[] };
  expect(Records[0]?.messageAttributes).toMatchObject({ x: { binaryValue: 'Af8=', dataType: 'Binary' } });
});
