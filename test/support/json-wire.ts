import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface JsonWire {
  readonly url: string;
  close(): Promise<void>;
}

export interface WireAnswer {
  readonly status: number;
  readonly body: object;
}

/**
 * A loopback server for one AWS service with a JSON protocol: takes a request apart, asks `answer`, sends the answer.
 * Signatures are not looked at.
 */
export const startJsonWire = async (
  answer: (operation: string, input: { readonly [member: string]: unknown }) => WireAnswer | Promise<WireAnswer>,
): Promise<JsonWire> => {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const operation = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
    const { status, body } = await answer(operation, JSON.parse(Buffer.concat(chunks).toString()));
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** Region and keys for clients of local servers; nobody checks them. */
export const LOCAL_ACCESS = {
  region: 'eu-central-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
} as const;
