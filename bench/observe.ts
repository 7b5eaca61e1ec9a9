import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TracedRequest } from '../local/gateway/trace.ts';
import type { Assembly, LocalFunction } from '../local/template/assembly.ts';
import type { EventUse } from './cost.ts';
import { gbSeconds } from './cost.ts';
import { invocationsOf, parseTrace, useOf } from './rounds.ts';
import { median } from './stats.ts';

/** What the platform asked for one thing that happened. The requests of people (the API) are not in it. */
export interface Work extends EventUse {
  /** To any service, those of the pollers included. */
  readonly requests: number;
}

const NO_WORK: Work = {
  requests: 0,
  writeUnits: 0,
  readUnits: 0,
  sqsRequests: 0,
  busEvents: 0,
  lambdaRequests: 0,
  gbSeconds: 0,
};

const combined = (one: Work, other: Work, how: (a: number, b: number) => number): Work => ({
  requests: how(one.requests, other.requests),
  writeUnits: how(one.writeUnits, other.writeUnits),
  readUnits: how(one.readUnits, other.readUnits),
  sqsRequests: how(one.sqsRequests, other.sqsRequests),
  busEvents: how(one.busEvents, other.busEvents),
  lambdaRequests: how(one.lambdaRequests, other.lambdaRequests),
  gbSeconds: how(one.gbSeconds, other.gbSeconds),
});

/** What `more` has that `less` has not, for each of `count` things. */
export const addedBy = (more: Work, less: Work, count = 1): Work =>
  combined(more, less, (above, below) => (above - below) / count);

/** Member by member. */
export const medianWork = (all: readonly Work[]): Work => {
  const of = (member: (work: Work) => number): number => median(all.map(member)) ?? 0;
  return {
    requests: of(({ requests }) => requests),
    writeUnits: of(({ writeUnits }) => writeUnits),
    readUnits: of(({ readUnits }) => readUnits),
    sqsRequests: of(({ sqsRequests }) => sqsRequests),
    busEvents: of(({ busEvents }) => busEvents),
    lambdaRequests: of(({ lambdaRequests }) => lambdaRequests),
    gbSeconds: of(({ gbSeconds }) => gbSeconds),
  };
};

/** Functions that people or a deployment call: what they ask is not the platform's own going on. */
const NOT_OURS = ['-api', '-bootstrap'];
/** Functions of the clock. Looking whether something is due is in the figures of an idle installation. */
const CLOCK = ['-tick', '-sweep'];

const isOneOf = (names: readonly string[], { name }: LocalFunction): boolean =>
  names.some((each) => name.endsWith(each));

/** Lines of what the platform did, without what it asks when nothing happens. */
export const workLines = (
  trace: readonly TracedRequest[],
  { functions }: Pick<Assembly, 'functions'>,
): readonly TracedRequest[] => {
  const ours = functions.filter((fn) => !isOneOf(NOT_OURS, fn));
  const roles = new Set(ours.map(({ roleLogicalId }) => roleLogicalId));
  const clock = new Set(ours.filter((fn) => isOneOf(CLOCK, fn)).map(({ roleLogicalId }) => roleLogicalId));
  return trace.filter(
    ({ principal, action, messages }) =>
      roles.has(principal) &&
      !(action === 'Query' && clock.has(principal)) &&
      !(action === 'ReceiveMessage' && messages === 0),
  );
};

/** First request to the end of the last one: of a function that waits for a second or a receiver it is nearly all. */
const spanMs = (requests: readonly TracedRequest[]): number =>
  Math.max(...requests.map(({ end }) => end)) - Math.min(...requests.map(({ start }) => start));

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

/** @param lines as `workLines` gives them */
export const workOf = (lines: readonly TracedRequest[], { functions }: Pick<Assembly, 'functions'>): Work => {
  const all = useOf(lines);
  const perFunction = functions.map((fn) => {
    const invocations = invocationsOf(lines, fn.roleLogicalId);
    // The clock comes anyway.
    const lambdaRequests = isOneOf(CLOCK, fn) ? 0 : invocations.length;
    return { lambdaRequests, gbSeconds: sum(invocations.map((own) => gbSeconds(spanMs(own), fn.memoryMb))) };
  });
  return {
    ...NO_WORK,
    requests: all.requests,
    writeUnits: all.writeUnits,
    readUnits: all.readUnits,
    sqsRequests: all.sqsRequests,
    busEvents: lines.filter(({ action }) => action === 'PutEvents').length,
    lambdaRequests: sum(perFunction.map((each) => each.lambdaRequests)),
    gbSeconds: sum(perFunction.map((each) => each.gbSeconds)),
  };
};

/** Nothing of ours for so long: everything that was under way has ended. */
const QUIET_MS = 700;
const LOOK_EVERY_MS = 100;
const SETTLED_WITHIN_MS = 30_000;
const MINUTE_SECONDS = 60;

/** Watches the trace of a cloud on which nothing else runs meanwhile. */
export interface Observer {
  readonly assembly: Assembly;
  /**
   * What the platform asked from the beginning of `happen` until it had come to rest.
   * @param seconds it takes at most on a quiet machine: it is not begun where a minute ends within them, because marks move
   *   and books are kept once a minute, which would fall to whoever runs then
   */
  during(seconds: number, happen: () => Promise<unknown>): Promise<readonly TracedRequest[]>;
  /** The same, summed. */
  workDuring(seconds: number, happen: () => Promise<unknown>): Promise<Work>;
}

export const makeObserver = (assembly: Assembly, traceFile: string): Observer => {
  const size = (): number => readFileSync(traceFile).lastIndexOf('\n') + 1;
  const linesFrom = (offset: number): readonly TracedRequest[] =>
    workLines(parseTrace(readFileSync(traceFile).subarray(offset).toString('utf8')), assembly);
  const settle = async (offset: number): Promise<void> => {
    const until = performance.now() + SETTLED_WITHIN_MS;
    let count = linesFrom(offset).length;
    let since = performance.now();
    while (performance.now() - since < QUIET_MS && performance.now() < until) {
      await sleep(LOOK_EVERY_MS);
      const now = linesFrom(offset).length;
      if (now !== count) [count, since] = [now, performance.now()];
    }
  };
  const during: Observer['during'] = async (seconds, happen) => {
    await settle(size());
    const left = MINUTE_SECONDS - ((Date.now() / 1000) % MINUTE_SECONDS);
    if (left < seconds) await sleep(left * 1000);
    const offset = size();
    await happen();
    await settle(offset);
    return linesFrom(offset);
  };
  return {
    assembly,
    during,
    workDuring: async (seconds, happen) => workOf(await during(seconds, happen), assembly),
  };
};
