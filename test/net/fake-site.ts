import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface Hit {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface FakeSite {
  readonly port: number;
  /** `127.0.0.1:<port>`, as it stands in an allow list. */
  readonly host: string;
  readonly hits: Hit[];
  answer: (response: ServerResponse, hit: Hit) => void;
  close(): Promise<void>;
}

/** A real HTTP server on the loopback. */
export const startFakeSite = async (): Promise<FakeSite> => {
  const hits: Hit[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const hit = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
      hits.push(hit);
      site.answer(response, hit);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const site: FakeSite = {
    port,
    host: `127.0.0.1:${port}`,
    hits,
    answer: (response) => response.end('hello'),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return site;
};
