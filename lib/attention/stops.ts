/** What a run that was stopped asks of people, and how they mend it. */
import type { Execution } from '../execution/execution.ts';
import type { Status } from '../execution/status.ts';
import type { StatusChange } from '../execution/step/deps.ts';
import { runningMs } from '../execution/step/fuses.ts';
import type { AttentionAction, AttentionKind, Cause, NewAttention } from './attention.ts';

const STOP_KINDS: { readonly [status in Status]?: AttentionKind } = {
  ERROR_PAUSED: 'error',
  ITERATION_LIMIT_EXCEEDED: 'iteration_limit',
  BUDGET_EXCEEDED: 'budget',
};

/** Of a run that stopped at `at`; `undefined` for a status that asks nothing of anybody. */
export const stopCause = ({ orgId, executionId }: Execution, status: Status, at: number): Cause | undefined => {
  const kind = STOP_KINDS[status];
  return kind && { orgId, kind, subject: { type: 'execution', id: executionId }, at };
};

export const executionPath = (executionId: string): string => `/v1/executions/${executionId}`;

const post = (label: string, path: string): AttentionAction => ({ label, method: 'POST', path });

/** The most that configuration and limits take; see `lib/agent/config-keys.ts`. */
const MOST = { maxIterations: 1_000_000, maxTokens: 1e12, maxCostUsd: 1_000_000, maxSeconds: 31_536_000 } as const;

const MICRO = 1_000_000;
/** Calls that a raised limit of money must at least be good for. */
const ROOM = 10;

/** Twice the limit, or as much again as is used up already, so that a resume after it is not refused. */
const raised = (execution: Execution, reason: string | undefined, now: number): { [limit: string]: number } => {
  const { calls, tokensIn, tokensOut, maxTokens = 0 } = execution;
  switch (reason) {
    case 'max_iterations':
      return { maxIterations: Math.max(execution.maxIterations, calls) + execution.maxIterations };
    case 'max_tokens':
      return { maxTokens: Math.max(maxTokens, tokensIn + tokensOut) + maxTokens };
    case 'max_cost': {
      const used = execution.cost + execution.reserved + execution.worst;
      const micro = Math.max(execution.maxCost, used) + Math.max(execution.maxCost, execution.worst * ROOM);
      // Whole cents.
      return { maxCostUsd: Math.ceil((micro / MICRO) * 100) / 100 };
    }
    case 'max_seconds':
      return {
        maxSeconds: Math.max(execution.maxSeconds, Math.ceil(runningMs(execution, now) / 1000)) + execution.maxSeconds,
      };
    default:
      return {};
  }
};

const raiseActions = ({ execution, reason, at }: StatusChange): readonly AttentionAction[] =>
  Object.entries(raised(execution, reason, at))
    .filter(([limit, to]) => to <= MOST[limit as keyof typeof MOST])
    .flatMap(([limit, to]) => [
      {
        label: `Raise ${limit} to ${to}`,
        method: 'PATCH' as const,
        path: executionPath(execution.executionId),
        body: { [limit]: to },
      },
      post('Resume', `${executionPath(execution.executionId)}/resume`),
    ]);

/**
 * The item of a run that stops, from the execution as it ran. Actions are in the order in which they are to be taken; the
 * last one ends the run instead.
 */
export const stopItem = (change: StatusChange, cause: Cause): NewAttention => {
  const { execution, reason, message, to } = change;
  const path = executionPath(execution.executionId);
  const mend = to === 'ERROR_PAUSED' ? [post('Resume', `${path}/resume`)] : raiseActions(change);
  return {
    ...cause,
    executionId: execution.executionId,
    question: `${execution.name}: ${message ?? reason ?? to}`,
    url: path,
    actions: [...mend, post('Terminate', `${path}/terminate`)],
  };
};
