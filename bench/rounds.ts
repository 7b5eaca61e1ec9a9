import type { TracedRequest } from '../local/gateway/trace.ts';

/** What one invocation of a function asked of the services. */
export interface InvocationUse {
  /** Longest chain of requests of which each began after the one before had its answer. */
  readonly rounds: number;
  readonly requests: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly sqsRequests: number;
  readonly actions: readonly string[];
}

/** Longest chain of intervals that do not overlap. */
export const depthOf = (requests: readonly Pick<TracedRequest, 'start' | 'end'>[]): number => {
  let rounds = 0;
  let free = Number.NEGATIVE_INFINITY;
  for (const { start, end } of requests.toSorted((a, b) => a.end - b.end)) {
    if (start < free) continue;
    rounds++;
    free = end;
  }
  return rounds;
};

/** A refused write is charged like the item it met, which the answer does not say: one unit at least. */
const REFUSED_WRITE = 1;
const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems']);

const writeUnits = ({ action, status, write }: TracedRequest): number =>
  status >= 300 && WRITES.has(action) ? REFUSED_WRITE : write;

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

export const useOf = (requests: readonly TracedRequest[]): InvocationUse => ({
  rounds: depthOf(requests),
  requests: requests.length,
  readUnits: sum(requests.map(({ read }) => read)),
  writeUnits: sum(requests.map(writeUnits)),
  sqsRequests: requests.filter(({ service }) => service === 'sqs').length,
  actions: requests.toSorted((a, b) => a.start - b.start).map(({ action }) => action),
});

/** The requests of a role, one list for each invocation, in their order. What a queue's poller asks belongs to none. */
export const invocationsOf = (trace: readonly TracedRequest[], role: string): readonly TracedRequest[][] => {
  const own = trace.filter(({ principal, invocation }) => principal === role && invocation !== '');
  return [...Map.groupBy(own, ({ invocation }) => invocation).values()];
};

/** Requests of the poller for each message it took: receives that brought something, and deletes. */
export const pollerRequestsPerMessage = (trace: readonly TracedRequest[], role: string): number => {
  const own = trace.filter(({ principal, invocation }) => principal === role && invocation === '');
  const receives = own.filter(({ action, messages }) => action === 'ReceiveMessage' && messages > 0);
  const deletes = own.filter(({ action }) => action.startsWith('DeleteMessage'));
  const messages = sum(receives.map((each) => each.messages));
  return messages === 0 ? 0 : (receives.length + deletes.length) / messages;
};

/** A trace file as `BATON_TRACE` writes it; the last line may be half written. */
export const parseTrace = (text: string): readonly TracedRequest[] =>
  text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as TracedRequest]));
