import type { Execution } from './execution.ts';
import { isTerminal } from './status.ts';
import { MAX_ATTEMPTS } from './step/fuses.ts';

/** What an execution does or waits for at this moment; the sentence is the same on every page and in the terminal. */
export interface Now {
  readonly state: string;
  readonly since: number;
  readonly waitingOn?: { readonly kind: string; readonly id?: string };
  readonly attempt?: {
    readonly n: number;
    readonly max: number;
    readonly nextAt?: number;
    readonly lastError?: string;
  };
  readonly sentence: string;
}

const attemptOf = (execution: Execution): Pick<Now, 'attempt'> =>
  execution.attempts === 0 && execution.lastError === undefined
    ? {}
    : {
        attempt: {
          n: Math.max(1, execution.attempts),
          max: MAX_ATTEMPTS,
          ...(execution.notBefore !== undefined && { nextAt: execution.notBefore }),
          ...(execution.lastError !== undefined && { lastError: execution.lastError }),
        },
      };

const heldBack = (since: number): Now => ({
  state: 'held',
  since,
  waitingOn: { kind: 'organisation' },
  sentence: 'The whole organisation is stopped; POST /v1/organisation/resume lets it go on.',
});

const running = (execution: Execution, now: number): Now => {
  const { seq, notBefore, leaseUntil, lastError } = execution;
  if (notBefore !== undefined && notBefore > now) {
    const sentence = `Waits until ${new Date(notBefore).toISOString()} before step ${seq}: ${lastError ?? 'the model asked for it'}`;
    return {
      state: 'backoff',
      since: execution.since,
      waitingOn: { kind: 'model' },
      ...attemptOf(execution),
      sentence,
    };
  }
  if (leaseUntil !== undefined && leaseUntil >= now) {
    const what = execution.phase === 'summarise' ? 'Condenses its earlier steps' : `Works on step ${seq}`;
    const again = execution.attempts > 1 ? `, attempt ${execution.attempts} of ${MAX_ATTEMPTS}` : '';
    return { state: 'working', since: execution.since, ...attemptOf(execution), sentence: `${what}${again}.` };
  }
  const trouble = lastError === undefined ? '' : ` The last attempt failed: ${lastError}`;
  const sentence = `Step ${seq} is queued.${trouble}`;
  return { state: 'queued', since: execution.since, waitingOn: { kind: 'queue' }, ...attemptOf(execution), sentence };
};

/**
 * @param held since when the whole organisation is stopped, ms; `undefined` when it is not
 * @returns `undefined` once it has ended
 */
export const nowOf = (execution: Execution, now: number, held?: number): Now | undefined => {
  const { status, since, errorMessage, pausedFrom } = execution;
  if (isTerminal(status)) return undefined;
  switch (status) {
    case 'RUNNING':
      return held === undefined ? running(execution, now) : heldBack(held);
    case 'PAUSED': {
      const then = pausedFrom === undefined || pausedFrom === 'RUNNING' ? '' : ` Before that it was ${pausedFrom}.`;
      return {
        state: 'paused',
        since,
        waitingOn: { kind: 'person' },
        sentence: `Paused by a person; resume to go on.${then}`,
      };
    }
    case 'WAITING_FOR_INPUT':
      return {
        state: 'waiting',
        since,
        waitingOn: { kind: 'input' },
        sentence: 'Waits for an answer to its question.',
      };
    case 'WAITING_FOR_PERMISSION':
      return {
        state: 'waiting',
        since,
        waitingOn: { kind: 'permission' },
        sentence: 'Waits for a person to approve or reject a call; see GET /v1/permissions?status=pending.',
      };
    default:
      return { state: 'stopped', since, waitingOn: { kind: 'person' }, sentence: errorMessage ?? `It is ${status}.` };
  }
};
