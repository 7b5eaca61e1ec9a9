import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome } from '../functions/outcome.ts';
import { MAX_PAYLOAD_BYTES } from '../functions/outcome.ts';
import { StartError } from '../start-error.ts';
import type { LocalRoute } from '../template/assembly.ts';
import { httpEvent, targetOf } from './event.ts';
import { type HttpAnswer, httpAnswer, internalError, message, problem } from './response.ts';
import { matchRoute } from './route-match.ts';

/** Largest request of an HTTP API, bytes. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** Marks the front's own request to a backend that is not open yet. */
const PROBE = 'x-local-probe';
/** Tries of the first look before it counts as a fault. */
const PROBES = 4;
const FIRE = /^\/_local\/rules\/([^/]+)\/fire$/;

/** What stands behind the front once everything is up. */
export interface Backend {
  readonly routes: readonly LocalRoute[];
  invoke(functionArn: string, payload: string): Promise<Outcome>;
  mayInvoke(functionArn: string, sourceArn: string): boolean;
  fireRule(name: string): boolean;
  readonly ruleNames: readonly string[];
}

/** The HTTP API of the template, on one address. */
export interface Front {
  readonly url: string;
  /** Until this is called every request answers 503. */
  open(backend: Backend): void;
  /** Asks the backend for a path with GET, past the 503. @throws StartError unless the answer is a 200 */
  probe(backend: Backend, path: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Listens on the loopback interface only.
 * @param port 0 picks a free one
 * @throws Error with code EADDRINUSE when the port is taken
 */
export const startFront = async (port: number): Promise<Front> => {
  let backend: Backend | undefined;
  let probed: { readonly token: string; readonly backend: Backend } | undefined;
  const behind = (request: IncomingMessage): Backend | undefined =>
    probed !== undefined && request.headers[PROBE] === probed.token ? probed.backend : backend;
  const server = createServer((request, response) => {
    answerRequest(request, behind(request))
      .catch(internalError)
      .then((answer) => send(request, response, answer))
      // A header that cannot be sent.
      .catch(() => send(request, response, internalError()))
      .catch(() => response.destroy());
  });
  // API Gateway keeps idle connections for minutes; a shorter time here makes clients meet closed sockets.
  server.keepAliveTimeout = 65_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', () => resolve());
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    open(opened) {
      backend = opened;
    },
    async probe(tried, path) {
      probed = { token: randomUUID(), backend: tried };
      const { token } = probed;
      const look = async (): Promise<number> => (await fetch(url + path, { headers: { [PROBE]: token } })).status;
      let status = await look();
      // Under BATON_CHAOS the process that answers may be killed.
      for (let again = 1; status >= 500 && again < PROBES; again++) status = await look();
      probed = undefined;
      if (status !== 200)
        throw new StartError(`GET ${path} answered ${status} and not 200; the logs of the functions say why.`);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const answerRequest = async (request: IncomingMessage, backend: Backend | undefined): Promise<HttpAnswer> => {
  if (backend === undefined) return problem(503, 'starting', 'The local cloud is still starting.');
  const target = targetOf(request.url ?? '/');
  const [, ruleName] = FIRE.exec(target.path) ?? [];
  if (ruleName !== undefined) return fire(request.method, ruleName, backend);
  const match = matchRoute(backend.routes, request.method ?? '', target.path);
  if (match === undefined) return message(404, 'Not Found');
  const body = await readBody(request);
  if (body === undefined) return message(413, 'Request Entity Too Large');
  const event = httpEvent(request, target, body, match, randomUUID());
  // Base64 and escapes grow a body; the function's own limit may be hit below the API's.
  if (Buffer.byteLength(event) > MAX_PAYLOAD_BYTES) return message(413, 'Request Entity Too Large');
  const { functionArn, sourceArn, timeoutMs } = match.route;
  if (!backend.mayInvoke(functionArn, sourceArn)) return internalError();
  return invoke(backend, functionArn, event, timeoutMs);
};

const invoke = async (backend: Backend, functionArn: string, event: string, timeoutMs: number): Promise<HttpAnswer> => {
  const done = new AbortController();
  const outcome = await Promise.race([
    backend.invoke(functionArn, event),
    sleep(timeoutMs, undefined, { signal: done.signal, ref: false }),
  ]);
  done.abort();
  if (outcome === undefined) return message(503, 'Service Unavailable');
  return outcome.ok ? httpAnswer(outcome.payload) : internalError();
};

const fire = (method: string | undefined, name: string, backend: Backend): HttpAnswer => {
  if (method !== 'POST') {
    const refused = problem(405, 'method_not_allowed', 'A rule is fired with POST.');
    return { ...refused, headers: { ...refused.headers, allow: 'POST' } };
  }
  if (!backend.fireRule(name)) {
    const names = backend.ruleNames.join(', ');
    return problem(404, 'not_found', `There is no rule ${name}. There are: ${names}.`, { rules: backend.ruleNames });
  }
  return { status: 202, headers: { 'content-type': 'application/json' }, body: Buffer.from('{"status":"fired"}') };
};

/** The whole body, or `undefined` when it is over the limit; the rest is then read and dropped, so that the answer arrives. */
const readBody = (request: IncomingMessage): Promise<Buffer | undefined> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
      else resolve(undefined);
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });

const send = (request: IncomingMessage, response: ServerResponse, answer: HttpAnswer): void => {
  response.writeHead(answer.status, {
    ...answer.headers,
    'content-length': answer.body.length,
    // What was not read to its end would be taken for the next request.
    ...(request.complete ? {} : { connection: 'close' }),
  });
  response.end(answer.body);
};
