import { connect } from 'node:net';
import { crc32 } from 'node:zlib';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { TABLE } from './definition.ts';
import { useDynamoDb } from './harness.ts';

const local = useDynamoDb();

async function post(target: string, body: string | Uint8Array<ArrayBuffer>) {
  const response = await fetch(local.server.url, {
    method: 'POST',
    headers: { 'x-amz-target': target, 'content-type': 'application/x-amz-json-1.0' },
    body,
  });
  const text = await response.text();
  if (response.headers.has('x-amz-crc32')) expect(Number(response.headers.get('x-amz-crc32'))).toBe(crc32(text));
  return {
    status: response.status,
    body: text === '' ? undefined : (JSON.parse(text) as { [member: string]: unknown }),
  };
}

const PUT = 'DynamoDB_20120810.PutItem';

test.each([
  ['an unknown operation', 'DynamoDB_20120810.Explode', '{}', 'UnknownOperationException'],
  ['an inherited name', 'DynamoDB_20120810.toString', '{}', 'UnknownOperationException'],
  ['another service', 'AmazonSQS.SendMessage', '{}', 'UnknownOperationException'],
  ['no JSON', PUT, '{"TableName":', 'SerializationException'],
  ['no body', PUT, '', 'SerializationException'],
  ['JSON that is no object', PUT, '[]', 'SerializationException'],
  ['null', PUT, 'null', 'SerializationException'],
  ['a wrong type', PUT, '{"TableName": 5}', 'SerializationException'],
  ['an item that is a list', PUT, `{"TableName": "${TABLE}", "Item": []}`, 'SerializationException'],
  ['nothing that is required', PUT, '{}', 'ValidationException'],
  ['null as a value', PUT, `{"TableName": "${TABLE}", "Item": {"pk": {"L": [null]}}}`, 'ValidationException'],
  [
    'an attribute __proto__',
    PUT,
    `{"TableName": "${TABLE}", "Item": {"__proto__": {"S": "x"}}}`,
    'ValidationException',
  ],
  ['endless nesting', PUT, `{"Item":${'['.repeat(200_000)}${']'.repeat(200_000)}}`, 'ValidationException'],
  ['an unknown table', PUT, '{"TableName": "nope", "Item": {"pk": {"S": "x"}}}', 'ResourceNotFoundException'],
])('%s is the client’s mistake', async (_, target, body, type) => {
  const answer = await post(target, body);
  expect(answer.status).toBe(400);
  expect(answer.body?.__type).toMatch(new RegExp(`#${type}$`));
  expect(answer.body?.message).not.toBe('');
});

test('invalid UTF-8 is refused', async () => {
  const body = Buffer.from(`{"TableName": "${TABLE}", "Item": {"pk": {"S": "\xff"}}}`, 'latin1');
  expect(await post(PUT, new Uint8Array(body))).toMatchObject({ status: 400 });
});

test('a body over 16 MB is refused', async () => {
  const outcome = await post(PUT, ' '.repeat(17 * 1024 * 1024)).catch((error: unknown) => error);
  // The server answers and hangs up; a client that is still sending may see only the latter.
  if (!(outcome instanceof Error)) expect(outcome).toMatchObject({ status: 413 });
  expect((await post(PUT, '{}')).status).toBe(400);
});

test('a client that resets in the middle of its body harms nobody', async () => {
  const { port } = new URL(local.server.url);
  for (let i = 0; i < 5; i++) {
    await new Promise<void>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write(
          `POST / HTTP/1.1\r\nhost: x\r\nx-amz-target: ${PUT}\r\ncontent-length: 1000\r\n\r\n{"Table`,
          () => {
            socket.resetAndDestroy();
          },
        );
      });
      socket.once('error', reject);
      socket.once('close', () => resolve());
    });
  }
  const Item = { pk: 'after', sk: '1' };
  await local.doc.send(new PutCommand({ TableName: TABLE, Item }));
  expect((await local.doc.send(new GetCommand({ TableName: TABLE, Key: Item }))).Item).toEqual(Item);
});
