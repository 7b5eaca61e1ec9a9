import { createServer } from 'node:http';
import { closeServer, listen, readBody } from './http-server.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  readonly body: string;
}

/** The outside world: an HTTP receiver that keeps what it got. */
export interface Sink {
  readonly url: string;
  /** For EGRESS_ALLOW. */
  readonly host: string;
  readonly got: Received[];
  /** Paths that were reached under more than one Idempotency-Key, or under none. */
  doubled(): readonly string[];
  /** Different paths that were reached. */
  paths(): ReadonlySet<string>;
  close(): Promise<void>;
}

export const startSink = async (answer: (received: Received) => string = () => 'ok'): Promise<Sink> => {
  const got: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = (await readBody(request)).toString('utf8');
    const key = request.headers['idempotency-key'];
    const received = {
      method: request.method ?? '',
      path: request.url ?? '',
      key: typeof key === 'string' ? key : undefined,
      body,
    };
    got.push(received);
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end(answer(received));
  });
  const { host } = await listen(server);
  return {
    url: `http://${host}`,
    host,
    got,
    doubled() {
      const keysOf = new Map<string, Set<string | undefined>>();
      for (const { path, key } of got) keysOf.set(path, (keysOf.get(path) ?? new Set()).add(key));
      return [...keysOf].filter(([, keys]) => keys.size > 1 || keys.has(undefined)).map(([path]) => path);
    },
    paths: () => new Set(got.map(({ path }) => path)),
    close: () => closeServer(server),
  };
};
