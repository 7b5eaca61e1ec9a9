import type { Execution } from './execution.ts';
import { PERMISSION_EXPIRED } from './settle.ts';
import { isTerminal } from './status.ts';
import { MAX_ATTEMPTS } from './step/fuses.ts';
import { PLAIN_POSITION } from './step/workflow/pin.ts';

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

/** A run below this one that stands until a person acts, with its own sentence. */
export interface NeedsPerson {
  readonly executionId: string;
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

/** Plain runs have one place, which says nothing. */
const placeOf = ({ stepId }: Execution): string => (stepId === PLAIN_POSITION ? '' : ` (${stepId})`);

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
    const what =
      execution.phase === 'summarise' ? 'Condenses its earlier steps' : `Works on step ${seq}${placeOf(execution)}`;
    const again = execution.attempts > 1 ? `, attempt ${execution.attempts} of ${MAX_ATTEMPTS}` : '';
    return { state: 'working', since: execution.since, ...attemptOf(execution), sentence: `${what}${again}.` };
  }
  const trouble = lastError === undefined ? '' : ` The last attempt failed: ${lastError}`;
  const sentence = `Step ${seq}${placeOf(execution)} is queued.${trouble}`;
  return { state: 'queued', since: execution.since, waitingOn: { kind: 'queue' }, ...attemptOf(execution), sentence };
};

const waitingOn = ({ waitUntil }: Execution, [first]: readonly NeedsPerson[] = []): NonNullable<Now['waitingOn']> => {
  if (waitUntil !== undefined) return { kind: 'time' };
  return first === undefined ? { kind: 'runs' } : { kind: 'person', id: first.executionId };
};

/** The first with its sentence, the others by their ids. */
const stuckSentence = ([first, ...others]: readonly NeedsPerson[]): string => {
  if (first === undefined) return '';
  const ids = others.map(({ executionId }) => executionId).join(', ');
  const too = ids === '' ? '' : `; ${ids} ${others.length === 1 ? 'needs' : 'need'} one too`;
  return `; ${first.executionId} needs a person: ${first.sentence.replace(/\.$/, '')}${too}`;
};

/** What a run in WAIT_STEP waits for, without its full stop. */
const waitSentence = (
  { waitUntil, wakeOnInput, openChildren }: Execution,
  stuck: readonly NeedsPerson[] = [],
): string => {
  if (waitUntil === undefined) {
    const runs = openChildren === 1 ? 'a run' : `${openChildren} runs`;
    return `Waits for ${runs} that it started${stuckSentence(stuck)}`;
  }
  const until = `Waits until ${new Date(waitUntil).toISOString()}`;
  return wakeOnInput === true ? `${until}, or for a message` : until;
};

const betweenTurns = ({ since, parked, ticketId = '' }: Execution): Now => ({
  state: 'waiting',
  since,
  waitingOn: { kind: 'ticket', id: ticketId },
  sentence:
    parked === 'over'
      ? `Its turn is over: the ticket ${ticketId} gives it the next message.`
      : `It gave back a place that was lent to it: the ticket ${ticketId} waits for another one.`,
});

/**
 * @param held since when the whole organisation is stopped, ms; `undefined` when it is not
 * @param stuck runs that it waits for and that stand until a person acts
 * @returns `undefined` once it has ended
 */
export const nowOf = (
  execution: Execution,
  now: number,
  held?: number,
  stuck?: readonly NeedsPerson[],
): Now | undefined => {
  const { status, since, errorMessage, pausedFrom } = execution;
  if (isTerminal(status)) return undefined;
  switch (status) {
    case 'RUNNING':
      return held === undefined ? running(execution, now) : heldBack(held);
    case 'PAUSED': {
      const before = pausedFrom === 'WAIT_STEP' ? `${pausedFrom} (${waitSentence(execution, stuck)})` : pausedFrom;
      const then = before === undefined || before === 'RUNNING' ? '' : ` Before that it was ${before}.`;
      return {
        state: 'paused',
        since,
        waitingOn: { kind: 'person' },
        sentence:
          execution.reason === PERMISSION_EXPIRED
            ? 'Paused because nobody decided about a call in time; approve or reject it, and the run goes on.'
            : `Paused by a person; resume to go on.${then}`,
      };
    }
    case 'WAIT_STEP':
      return {
        state: 'waiting',
        since,
        waitingOn: waitingOn(execution, stuck),
        sentence: `${waitSentence(execution, stuck)}.`,
      };
    case 'WAITING_FOR_INPUT':
      if (execution.parked !== undefined) return betweenTurns(execution);
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
