import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Assembly } from '../template/assembly.ts';
import { createAccess, type Stands } from './access/access.ts';
import type { UsageReport } from './access/usage.ts';
import { AwsError, errorResponse } from './aws-error.ts';
import type { AwsRequest, AwsResponse, ServiceName, WireRequest } from './aws-request.ts';
import type { Chaos } from './chaos.ts';
import { callFault } from './chaos-calls.ts';
import { createDispatch, type Services } from './dispatch.ts';
import { guessService, identify, isService } from './identify.ts';
import type { Principal } from './principal.ts';
import { AuthenticationError } from './sign/authentication-error.ts';
import { SigningKeys } from './sign/canonical.ts';
import { plainBody } from './sign/plain-body.ts';
import { refusedSignature } from './sign/refusals.ts';
import { verifySignature } from './sign/sigv4.ts';
import { type Trace, traced } from './trace.ts';
import { Disconnected, readRequest, writeResponse } from './wire.ts';

export interface GatewayOptions {
  /** 0 for any free one. */
  readonly port: number;
  readonly assembly: Assembly;
  readonly services: Services;
  readonly principals: readonly Principal[];
  readonly chaos: Chaos;
  /** Chaos: ends the function process that made a call. */
  readonly killCaller?: (principalName: string) => void;
  /** Without it all grants stand. */
  readonly stands?: Stands | undefined;
  /** Gets every request that is let through. */
  readonly trace?: Trace | undefined;
  /** One line for what went wrong inside the gateway itself. */
  readonly log?: (line: string) => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export interface Gateway {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** What roles were granted, what they used and what they were refused, since the start. */
  usage(): UsageReport;
  /** Ends the server and its connections. The services behind it are the caller's to close. */
  close(): Promise<void>;
}

/** Principals of the local cloud itself: no chaos for them. */
const OWN = new Set(['operator', 'service']);

/** Calls that the queue pollers make in a function's name. The faults of deliveries are theirs, not those of calls. */
const POLLER_CALLS = new Set(['ReceiveMessage', 'DeleteMessage', 'DeleteMessageBatch']);

/**
 * The one door to all emulated services, on 127.0.0.1: signature, permission, faults on purpose, then the service.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { chaos } = options;
  const now = options.now ?? Date.now;
  const keys = new SigningKeys();
  const principals = new Map(options.principals.map((principal) => [principal.accessKeyId, principal]));
  const access = createAccess(options.assembly, options.principals, options.stands);
  const dispatch = createDispatch(options.services);

  const answer = async (
    wire: WireRequest,
    signal: AbortSignal,
    named: (service: ServiceName) => void,
  ): Promise<AwsResponse> => {
    const signed = verifySignature(wire, (id) => principals.get(id), keys, now());
    const { principal, service } = signed;
    if (!isService(service)) {
      throw new AwsError('UnknownOperationException', `The local cloud has no service '${service}'.`);
    }
    named(service);
    const request = identify(service, service === 's3' ? plainBody(wire, signed) : wire);
    access.check(principal, request);
    const spared = OWN.has(principal.name) || POLLER_CALLS.has(request.operation);
    const fault = spared ? undefined : callFault(chaos, request);
    if (fault !== undefined) throw fault;
    const kill = spared ? undefined : chaos.kills();
    if (kill === 'before') throw killed(principal);
    const work = (asked: AwsRequest) => dispatch(asked, signal);
    const { trace } = options;
    const response = await (trace === undefined ? work(request) : traced(trace, principal, request, work));
    if (kill === 'after') throw killed(principal);
    return access.hideMissing(principal, request, response);
  };

  const killed = (principal: Principal): Disconnected => {
    options.killCaller?.(principal.name);
    return new Disconnected('killed by chaos');
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const gone = new AbortController();
    response.on('close', () => response.writableFinished || gone.abort());
    response.on('error', () => gone.abort());
    let service = guessService(request.url ?? '/', request.headers);
    const named = (name: ServiceName): void => {
      service = name;
    };
    try {
      const result = await readRequest(request)
        .then((wire) => answer(wire, gone.signal, named))
        .catch((error: unknown) => {
          if (error instanceof Disconnected) throw error;
          return errorResponse(service, asAwsError(service, error));
        });
      writeResponse(response, result, request.method ?? 'GET');
    } catch (error) {
      if (!(error instanceof Disconnected)) options.log?.(`[gateway] ${String(error)}`);
      response.destroy();
    }
  };

  const asAwsError = (service: ServiceName, error: unknown): AwsError => {
    if (error instanceof AwsError) return error;
    if (error instanceof AuthenticationError) return refusedSignature(service, error);
    options.log?.(`[gateway] ${service}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return new AwsError('InternalServerError', 'The local cloud failed at this request; its log has the reason.', {
      status: 500,
    });
  };

  // Idle connections are kept longer than any client keeps them, so that none is closed under a request.
  const server = createServer({ keepAliveTimeout: 120_000, requestTimeout: 0, noDelay: true }, (request, response) => {
    void serve(request, response);
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    usage: access.usage,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
