import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface Seen {
  readonly headers: IncomingMessage['headers'];
  readonly url: string;
  /** The JSON that was sent. */
  readonly body: { readonly [name: string]: unknown };
}

export interface FakeProvider {
  readonly url: string;
  readonly seen: Seen[];
  /** What answers the next requests. */
  answer: (response: ServerResponse, request: Seen) => void;
  close(): Promise<void>;
}

/** A real HTTP server that answers as a test says and keeps what it was sent. */
export const startFakeProvider = async (): Promise<FakeProvider> => {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const entry = {
        headers: request.headers,
        url: request.url ?? '',
        body: text === '' ? {} : JSON.parse(text),
      };
      seen.push(entry);
      provider.answer(response, entry);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const provider: FakeProvider = {
    url: `http://127.0.0.1:${port}/v1`,
    seen,
    answer: (response) => json(response, 200, completion({ content: 'hello' })),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return provider;
};

export const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
};

export const completion = (message: object, more: { finish?: string; usage?: object | null } = {}) => ({
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, finish_reason: more.finish ?? 'stop', message: { role: 'assistant', ...message } }],
  ...(more.usage === null
    ? {}
    : { usage: more.usage ?? { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 } }),
});
