import type { Execution } from '../execution.ts';
import type { StatusEvent } from '../status.ts';

/** Our own crashes per step; above it a person has to look. */
export const MAX_ATTEMPTS = 5;

export interface Stop {
  readonly event: Extract<StatusEvent, 'iteration_limit' | 'budget' | 'error'>;
  /** Stable name of the fuse, the `reason` of the execution. */
  readonly reason: string;
  readonly message: string;
  /** What the refused call can cost, micro-dollars, where the row says less: a resume has to find room for it. */
  readonly worst?: number | undefined;
}

/** Micro-dollars that must still fit before a call. */
export interface Needed {
  /** Of the coming call. */
  readonly next: number;
  /** Reserved by earlier claims of this step, which may have bought replies that nobody has. */
  readonly lost: number;
}

const usd = (micro: number): string => `$${(micro / 1e6).toFixed(4)}`;

/** Time spent RUNNING so far, milliseconds. */
export const runningMs = (execution: Execution, now: number): number =>
  execution.runningMs + (execution.runningSince === undefined ? 0 : Math.max(0, now - execution.runningSince));

/** Micro-dollars that a run has spent or set aside beside its own reservations: its children's count as its own. */
export const committed = ({ cost, childCost, carved }: Execution): number => cost + childCost + carved;

/**
 * The fuses that a person can extend, judged before anything is bought.
 */
export const limitReached = (execution: Execution, needed: Needed, now: number): Stop | undefined => {
  const tokens = execution.tokensIn + execution.tokensOut;
  if (execution.calls >= execution.maxIterations) {
    const message = `All ${execution.maxIterations} model calls of maxIterations are used. Raise it and resume.`;
    return { event: 'iteration_limit', reason: 'max_iterations', message };
  }
  const idle = idleLimitReached(execution);
  if (idle !== undefined) return idle;
  if (execution.maxTokens !== undefined && tokens >= execution.maxTokens) {
    const message = `${tokens} of ${execution.maxTokens} tokens are used (maxTokens). Raise it and resume.`;
    return { event: 'budget', reason: 'max_tokens', message };
  }
  if (committed(execution) + needed.lost + needed.next > execution.maxCost) {
    return { event: 'budget', reason: 'max_cost', message: costSentence(execution, needed) };
  }
  return secondsReached(execution, now);
};

const costSentence = ({ cost, childCost, carved, maxCost }: Execution, { next, lost }: Needed): string => {
  const parts = [
    `${usd(cost + childCost)} are spent`,
    ...(carved > 0 ? [`${usd(carved)} are set aside for runs that it started`] : []),
    ...(lost > 0 ? [`${usd(lost)} are set aside for earlier tries of this step, which may have been billed`] : []),
  ];
  return `${parts.join(', ')} and the next call can cost up to ${usd(next)}, which is more than maxCostUsd ${usd(maxCost)} allows. Raise it and resume.`;
};

const idleLimitReached = (execution: Execution): Stop | undefined => {
  if (execution.idleSteps < execution.maxSteps) return undefined;
  const message = `${execution.maxSteps} steps in a row ran without a model call (maxSteps). Raise it and resume.`;
  return { event: 'iteration_limit', reason: 'max_steps', message };
};

const secondsReached = (execution: Execution, now: number): Stop | undefined => {
  if (runningMs(execution, now) <= execution.maxSeconds * 1000) return undefined;
  const message = `The run has been RUNNING for more than ${execution.maxSeconds} s (maxSeconds). Raise it and resume.`;
  return { event: 'budget', reason: 'max_seconds', message };
};

/** The fuses of a step that buys nothing. */
export const quietLimitReached = (execution: Execution, now: number): Stop | undefined =>
  idleLimitReached(execution) ?? secondsReached(execution, now);

export const attemptsExhausted = (execution: Execution): Stop | undefined =>
  execution.attempts > MAX_ATTEMPTS
    ? {
        event: 'error',
        reason: 'step_failed',
        message: `Step ${execution.seq} failed ${MAX_ATTEMPTS} times${execution.lastError === undefined ? '' : `; last: ${execution.lastError}`}. Resume to try again.`,
      }
    : undefined;
