import { createWriteStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AwsRequest, type AwsResponse, headerOf, type ServiceName } from './aws-request.ts';
import { isObject, listOf } from './json.ts';
import type { Principal } from './principal.ts';

/** One request that reached its service, as a line of the trace. Times are milliseconds since the epoch, with fractions. */
export interface TracedRequest {
  readonly start: number;
  readonly end: number;
  /** The role's logical id, or `operator`. */
  readonly principal: string;
  readonly service: ServiceName;
  readonly action: string;
  /** HTTP status of the answer. */
  readonly status: number;
  /** Capacity units of DynamoDB, indexes included. A refused write is not told its units by the service: 0. */
  readonly read: number;
  readonly write: number;
  /** Messages that a ReceiveMessage brought; 0 for everything else. */
  readonly messages: number;
  /** Which invocation of a function made the call, as Lambda's trace header says; empty for a caller that is none. */
  readonly invocation: string;
}

export interface Trace {
  add(request: TracedRequest): void;
  close(): Promise<void>;
}

/** Writes one JSON object a line. The file is begun anew. */
export const openTrace = (file: string): Trace => {
  const stream = createWriteStream(file, { flags: 'w' });
  return {
    add: (request) => void stream.write(`${JSON.stringify(request)}\n`),
    close: () => new Promise((resolve) => stream.end(() => resolve())),
  };
};

/**
 * How long a traced answer is held back, milliseconds. The emulators answer at once and one after the other, so that calls
 * made side by side would look like a chain; with a pause longer than the caller takes to make them all, they overlap as
 * they do on a real network.
 */
export const HELD_MS = 10;

/** Hands a request on and writes down what it took. It asks DynamoDB for the units, which the answer then holds too. */
export const traced = async (
  trace: Trace,
  principal: Principal,
  request: AwsRequest,
  dispatch: (request: AwsRequest) => Promise<AwsResponse>,
): Promise<AwsResponse> => {
  const { service, operation, input, headers } = request;
  const asked = service === 'dynamodb' ? { ...request, input: { ReturnConsumedCapacity: 'TOTAL', ...input } } : request;
  const start = now();
  let response: AwsResponse | undefined;
  try {
    response = await dispatch(asked);
    await sleep(HELD_MS);
    return response;
  } finally {
    const end = now();
    const counts = response === undefined || response.status >= 300 ? NOTHING : countsOf(request, response);
    trace.add({
      start,
      end,
      principal: principal.name,
      service,
      action: operation,
      // A service that threw answers an error, whose status is made further out.
      status: response?.status ?? 500,
      ...counts,
      invocation: headerOf(headers, 'x-amzn-trace-id') ?? '',
    });
  }
};

const now = (): number => performance.timeOrigin + performance.now();

const NOTHING = { read: 0, write: 0, messages: 0 };
const READS = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan', 'TransactGetItems']);

const countsOf = ({ service, operation }: AwsRequest, { body }: AwsResponse) => {
  if (service === 'sqs' && operation === 'ReceiveMessage') {
    return { ...NOTHING, messages: listOf(parsed(body).Messages).length };
  }
  if (service !== 'dynamodb') return NOTHING;
  const units = [parsed(body).ConsumedCapacity].flat().reduce<number>((sum, one) => sum + unitsOf(one), 0);
  return READS.has(operation) ? { ...NOTHING, read: units } : { ...NOTHING, write: units };
};

const unitsOf = (capacity: unknown): number =>
  isObject(capacity) && typeof capacity.CapacityUnits === 'number' ? capacity.CapacityUnits : 0;

const parsed = (body: AwsResponse['body']): { readonly [name: string]: unknown } => {
  const value: unknown = JSON.parse(body.toString());
  return isObject(value) ? value : {};
};
