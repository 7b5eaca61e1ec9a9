import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc32 } from 'node:zlib';
import type { DynamoDb, DynamoDbAnswer } from './dynamodb.ts';
import { serializationError, unknownOperation } from './errors.ts';

const TARGET_PREFIX = 'DynamoDB_20120810.';
/** DynamoDB's own limit for a request. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

export interface DynamoDbServer {
  readonly url: string;
  close(): Promise<void>;
}

/** DynamoDB over HTTP on a free loopback port, without signatures: for tests and tools. */
export async function startDynamoDbServer(db: DynamoDb): Promise<DynamoDbServer> {
  const server = createServer((request, response) => {
    // A client that went away in the middle of its request is not this server's trouble.
    serve(db, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}

async function serve(db: DynamoDb, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop early must not destroy the connection before the answer is out.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += (chunk as Buffer).length;
    if (size > MAX_BODY_BYTES) {
      response.writeHead(413, { connection: 'close' }).end();
      return;
    }
    chunks.push(chunk as Buffer);
  }
  const { status, body } = answerTo(db, String(request.headers['x-amz-target'] ?? ''), Buffer.concat(chunks));
  const text = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    'content-type': 'application/x-amz-json-1.0',
    'content-length': text.length,
    'x-amz-crc32': String(crc32(text)),
  });
  response.end(text);
}

function answerTo(db: DynamoDb, target: string, text: Buffer): DynamoDbAnswer {
  if (!target.startsWith(TARGET_PREFIX)) return refusal(unknownOperation(target));
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(text));
  } catch {
    return refusal(serializationError('The body of a request is a JSON object in UTF-8.'));
  }
  return db.handle(target.slice(TARGET_PREFIX.length), body);
}

const refusal = ({ status, body }: ReturnType<typeof unknownOperation>): DynamoDbAnswer => ({ status, body });
