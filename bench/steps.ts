import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Assembly, LocalFunction } from '../local/template/assembly.ts';
import type { BenchCloud } from './cloud.ts';
import { type InvocationUse, invocationsOf, parseTrace, pollerRequestsPerMessage, useOf } from './rounds.ts';
import { mean, median, most } from './stats.ts';

/** What one step with so many calls asks of the services, at the default delay. */
export interface StepUnits {
  readonly invocations: number;
  readonly rounds: number | undefined;
  /** The highest: a step that had to look up its model again, or moved the mark of the sweep. */
  readonly roundsMost: number | undefined;
  readonly writeUnits: number | undefined;
  readonly writeUnitsMean: number | undefined;
  readonly readUnits: number | undefined;
  /** The function's own requests and those of the poller for it. */
  readonly sqsRequests: number | undefined;
}

export const functionOf = (assembly: Assembly, name: string): LocalFunction => {
  const fn = assembly.functions.find((one) => one.name.endsWith(`-${name}`));
  if (fn === undefined) throw new Error(`The template has no function ${name}.`);
  return fn;
};

const putsOf = ({ actions }: InvocationUse): number => actions.filter((action) => action === 'PutItem').length;

/** A step that buys a reply and runs its calls writes one row for the reply and one for each call. */
export const unitsOf = (uses: readonly InvocationUse[], calls: number, pollerRequests: number): StepUnits => {
  const own = uses.filter((use) => putsOf(use) === 1 + calls);
  const sqs = median(own.map(({ sqsRequests }) => sqsRequests));
  return {
    invocations: own.length,
    rounds: median(own.map(({ rounds }) => rounds)),
    roundsMost: most(own.map(({ rounds }) => rounds)),
    writeUnits: median(own.map(({ writeUnits }) => writeUnits)),
    writeUnitsMean: mean(own.map(({ writeUnits }) => writeUnits)),
    readUnits: median(own.map(({ readUnits }) => readUnits)),
    sqsRequests: sqs === undefined ? undefined : sqs + pollerRequests,
  };
};

/** Everything a long run asks, summaries included, for each of its steps. */
export interface LongRun {
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly invocations: number;
}

export interface Units {
  readonly one: StepUnits;
  readonly three: StepUnits;
  readonly long: LongRun;
  /** Lines and bytes that the step function logged for one invocation. */
  readonly logLines: number;
  readonly logBytes: number;
}

/** Two short runs at the delay of the environment, one with one call a step and one with three, on a traced cloud. */
export const measureUnits = async (
  cloud: BenchCloud,
  assembly: Assembly,
  traceFile: string,
  steps: number,
): Promise<Units> => {
  const { name, roleLogicalId } = functionOf(assembly, 'step');
  const logFile = join(cloud.home, 'logs', `${name}.log`);
  const ids = await Promise.all([
    cloud.begin({ run: 'one-call', steps, calls: 1 }),
    cloud.begin({ run: 'three-calls', steps, calls: 3 }),
  ]);
  for (const id of ids) await cloud.completed(id, 60 + steps * 10);
  const trace = parseTrace(readFileSync(traceFile, 'utf8'));
  const uses = invocationsOf(trace, roleLogicalId).map(useOf);
  const poller = pollerRequestsPerMessage(trace, roleLogicalId);
  const lines = readFileSync(logFile, 'utf8').trim().split('\n');
  const logBytes = statSync(logFile).size;
  return {
    one: unitsOf(uses, 1, poller),
    three: unitsOf(uses, 3, poller),
    long: await measureLong(cloud, traceFile, roleLogicalId),
    logLines: lines.length / uses.length,
    logBytes: logBytes / uses.length,
  };
};

/** The first summary comes at about step 92, the next ones each 46 steps later: what follows the first is two cycles. */
const FILLING = 92;
const CYCLES = 92;

/** Sums over the end of a run whose window has filled. `uses` are its invocations in order. */
export const longRunOf = (uses: readonly InvocationUse[], skipped: number): LongRun => {
  const late = uses.slice(skipped);
  // A summary buys a reply too, and has no call.
  const steps = late.filter((use) => putsOf(use) >= 2).length;
  const perStep = (values: readonly number[]): number => (mean(values) ?? 0) * (late.length / Math.max(1, steps));
  return {
    readUnits: perStep(late.map(({ readUnits }) => readUnits)),
    writeUnits: perStep(late.map(({ writeUnits }) => writeUnits)),
    invocations: perStep(late.map(() => 1)),
  };
};

/** The window is the default one and full; the delay is none, which changes when a request is made and not what it takes. */
const measureLong = async (cloud: BenchCloud, traceFile: string, role: string): Promise<LongRun> => {
  const uses = () => invocationsOf(parseTrace(readFileSync(traceFile, 'utf8')), role).map(useOf);
  const before = uses().length;
  const script = { run: 'long', steps: FILLING + CYCLES, calls: 1 };
  await cloud.completed(await cloud.begin(script, { stepDelaySeconds: 0 }), 300, 500);
  return longRunOf(uses().slice(before), FILLING);
};
