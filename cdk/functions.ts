/** What each function is given besides its grants: size, time-out, environment, and what it means when it fails. */
import type { ENV, FunctionName } from '../lib/names.ts';

export interface FunctionSpec {
  readonly memoryMb: number;
  readonly timeoutSeconds: number;
  /** Variables of `ENV` that the function reads; `STAGE` and `TABLE_NAME` come with every function. */
  readonly env: readonly (keyof typeof ENV)[];
  /** Lambda stops a chain of messages at about the sixteenth hop unless the function allows its own loop. */
  readonly recursive?: true;
  /** Shown in the alarm: what people notice when this function fails. */
  readonly impact: string;
}

export const FUNCTION_SPECS: { readonly [name in FunctionName]: FunctionSpec } = {
  api: {
    // CPU grows with memory; people wait for this one.
    memoryMb: 512,
    // API Gateway gives up after 29 s; the function may finish its log line.
    timeoutSeconds: 30,
    env: [
      'bucket',
      'stepQueueUrl',
      'effectQueueUrl',
      'fireQueueUrl',
      'egressAllow',
      'modelParameter',
      'secretPrefix',
      'auditDays',
    ],
    impact: 'Callers of the HTTP API get 5xx answers.',
  },
  step: {
    memoryMb: 256,
    timeoutSeconds: 900,
    env: [
      'bucket',
      'stepQueueUrl',
      'effectQueueUrl',
      'fireQueueUrl',
      'stepDelaySeconds',
      'leaseSeconds',
      'egressAllow',
      'modelParameter',
      'secretPrefix',
    ],
    recursive: true,
    impact: 'Steps fail and are tried again; executions slow down and may stop with ERROR_PAUSED.',
  },
  effect: {
    memoryMb: 256,
    timeoutSeconds: 60,
    env: ['bucket', 'stepQueueUrl', 'effectQueueUrl', 'bus', 'egressAllow', 'modelParameter', 'secretPrefix'],
    // It sends the messages of webhooks' attempts; each delivery is tried for a day, with a growing wait between.
    recursive: true,
    impact: 'Events and replies leave late, or not at all until the sweep finds them.',
  },
  tick: {
    memoryMb: 256,
    timeoutSeconds: 60,
    env: ['stepQueueUrl', 'effectQueueUrl', 'fireQueueUrl'],
    impact: 'Waits, retries and schedules fire late.',
  },
  sweep: {
    memoryMb: 256,
    timeoutSeconds: 120,
    env: ['stepQueueUrl', 'effectQueueUrl', 'inboxQueueUrl', 'assessQueueUrl'],
    impact: 'Executions whose message was lost are not found.',
  },
  'dead-letter': {
    memoryMb: 256,
    timeoutSeconds: 60,
    env: ['bucket', 'stepQueueUrl', 'effectQueueUrl', 'fireQueueUrl'],
    impact: 'Executions whose messages wore out stay RUNNING without a reason that people can read.',
  },
  'run-agent': {
    memoryMb: 256,
    timeoutSeconds: 30,
    env: ['stepQueueUrl', 'effectQueueUrl', 'modelParameter', 'secretPrefix'],
    impact: 'Events of type "Run Agent" start nothing until EventBridge delivers them again.',
  },
  fire: {
    memoryMb: 256,
    timeoutSeconds: 30,
    env: ['bucket', 'stepQueueUrl', 'effectQueueUrl', 'fireQueueUrl', 'modelParameter', 'secretPrefix'],
    // It sends the next occurrence itself, and the end of one run starts the next: a hop a minute at most, or a run long.
    recursive: true,
    impact: 'Schedules start nothing until it works again; what was missed then is up to each schedule.',
  },
  ingest: {
    // Half of the time that the most impatient provider gives (Lark: 3 s, of which 1 s for a handshake) is a cold start.
    memoryMb: 512,
    // GitHub gives up after 10 s; API Gateway does a second before the function.
    timeoutSeconds: 10,
    env: ['bucket', 'inboxQueueUrl', 'secretPrefix'],
    impact: 'Providers get no answer to their events and deliver them again, some of them only when a person asks.',
  },
  resolve: {
    memoryMb: 256,
    timeoutSeconds: 60,
    env: [
      'bucket',
      'stepQueueUrl',
      'effectQueueUrl',
      'assessQueueUrl',
      'inboxQueueUrl',
      'egressAllow',
      'modelParameter',
      'secretPrefix',
    ],
    impact: 'Events of providers are kept but nobody acts on them until it works again.',
  },
  assess: {
    memoryMb: 256,
    // A batch is two calls of a model at most, and its answers are kept between them.
    timeoutSeconds: 300,
    env: [
      'bucket',
      'stepQueueUrl',
      'effectQueueUrl',
      'assessQueueUrl',
      'leaseSeconds',
      'egressAllow',
      'modelParameter',
      'secretPrefix',
    ],
    // What came while it judged wakes it again.
    recursive: true,
    impact: 'Requests to the team wait undecided; workers that are at it go on.',
  },
  bootstrap: { memoryMb: 256, timeoutSeconds: 30, env: [], impact: 'New organisations cannot be made.' },
};
