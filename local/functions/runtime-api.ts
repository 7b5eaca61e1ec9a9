import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { failed, MAX_PAYLOAD_BYTES, type Outcome, parseFunctionError } from './outcome.ts';

export interface RuntimeEvent {
  readonly requestId: string;
  readonly payload: Buffer | string;
  readonly deadlineMs: number;
  readonly functionArn: string;
}

/** What the process tells through its Runtime API. */
export interface RuntimeListener {
  /** The process asks for the next event and waits: it is idle now. */
  waiting(): void;
  finished(requestId: string, outcome: Outcome): void;
  initFailed(error: Outcome): void;
}

export interface RuntimeApi {
  /** `host:port`, as `AWS_LAMBDA_RUNTIME_API` wants it. */
  readonly address: string;
  /** Hands the event to the waiting process. Call it only after `waiting`. */
  deliver(event: RuntimeEvent): void;
  close(): void;
}

const BASE = '/2018-06-01/runtime';

/**
 * Lambda's Runtime API for one process. One server each, because the protocol names a process by host and port alone.
 * `next` is held open until there is an event, so that a warm invocation costs two loopback round trips and no polling.
 */
export const startRuntimeApi = async (listener: RuntimeListener): Promise<RuntimeApi> => {
  let waiting: ServerResponse | undefined;

  const answer = (response: ServerResponse, status: number): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"status":"OK"}');
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url = '' } = request;
    const path = url.startsWith(BASE) ? url.slice(BASE.length) : '';
    if (method === 'GET' && path === '/invocation/next') {
      // One process waits once; an earlier question is left over from a connection that broke.
      if (waiting !== undefined) answer(waiting, 409);
      waiting = response;
      listener.waiting();
      return;
    }
    const body = await readBody(request);
    const isPost = method === 'POST';
    const [, requestId, kind] = (isPost && /^\/invocation\/([^/]+)\/(response|error)$/.exec(path)) || [];
    const isInitError = isPost && path === '/init/error';
    answer(response, requestId !== undefined || isInitError ? 202 : 404);
    if (isInitError) listener.initFailed({ ok: false, error: parseFunctionError(body) });
    if (requestId !== undefined) listener.finished(requestId, outcomeOf(kind, body));
  };

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  // The process may be frozen for as long as it likes between two requests.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  server.timeout = 0;
  await listen(server);
  const { port } = server.address() as AddressInfo;

  return {
    address: `127.0.0.1:${port}`,
    deliver(event) {
      const response = waiting;
      if (response === undefined) throw new Error('No process is waiting for an event.');
      waiting = undefined;
      response
        .writeHead(200, {
          'content-type': 'application/json',
          'lambda-runtime-aws-request-id': event.requestId,
          'lambda-runtime-deadline-ms': String(event.deadlineMs),
          'lambda-runtime-invoked-function-arn': event.functionArn,
          // The SDK hands it on with every request, which tells the calls of one invocation from those of another.
          'lambda-runtime-trace-id': traceId(),
        })
        .end(event.payload);
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
};

/** An id of X-Ray's form, not sampled: there is nobody to report to. */
const traceId = (): string => {
  const seconds = Math.floor(Date.now() / 1000).toString(16);
  return `Root=1-${seconds}-${randomBytes(12).toString('hex')};Parent=${randomBytes(8).toString('hex')};Sampled=0`;
};

const listen = (server: Server): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', () => resolve());
  });

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

const outcomeOf = (kind: string | undefined, body: Buffer): Outcome => {
  if (kind === 'error') return { ok: false, error: parseFunctionError(body) };
  if (body.length > MAX_PAYLOAD_BYTES) {
    const message = `Response payload size exceeded maximum allowed payload size (${MAX_PAYLOAD_BYTES} bytes).`;
    return failed('Function.ResponseSizeTooLarge', message);
  }
  return { ok: true, payload: body };
};
