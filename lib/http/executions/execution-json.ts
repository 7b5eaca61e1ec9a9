import type { Execution } from '../../execution/execution.ts';
import { type NeedsPerson, nowOf } from '../../execution/now.ts';
import type { ExecutionView } from '../execution-views.ts';

export const iso = (ms: number): string => new Date(ms).toISOString();
export const usd = (micro: number): number => micro / 1_000_000;

/** What is told of an execution beside its own row. */
export interface Beside {
  /** The whole result, where the row holds only its beginning. */
  readonly whole?: string | undefined;
  /** Since when the organisation is stopped, ms. */
  readonly held?: number | undefined;
  /** Ids of the runs that its calls started, oldest first. */
  readonly children?: readonly string[] | undefined;
  /** Runs below it that stand until a person acts. */
  readonly stuck?: readonly NeedsPerson[] | undefined;
}

export const executionJson = (
  execution: Execution,
  now: number,
  { whole, held, children, stuck }: Beside = {},
): ExecutionView => {
  const doing = nowOf(execution, now, held, stuck);
  const result = whole ?? execution.result;
  return {
    id: execution.executionId,
    agentId: execution.agentId,
    ...(execution.scheduleId !== undefined && { scheduleId: execution.scheduleId }),
    name: execution.name,
    ...(execution.parentId !== undefined && { parentId: execution.parentId }),
    ...(children !== undefined && { children: [...children] }),
    status: execution.status,
    ...(execution.reason !== undefined && { reason: execution.reason }),
    currentStepId: execution.stepId,
    seq: execution.seq,
    calls: execution.calls,
    tokens: {
      input: execution.tokensIn,
      output: execution.tokensOut,
      total: execution.tokensIn + execution.tokensOut,
    },
    costUsd: usd(execution.cost + execution.childCost),
    ...(execution.priceUnknown === true && { priceUnknown: true }),
    limits: {
      maxIterations: execution.maxIterations,
      maxSteps: execution.maxSteps,
      ...(execution.maxTokens !== undefined && { maxTokens: execution.maxTokens }),
      maxCostUsd: usd(execution.maxCost),
      maxSeconds: execution.maxSeconds,
    },
    ...(result !== undefined && { result }),
    ...(execution.errorMessage !== undefined && {
      error: { code: execution.errorCode ?? execution.reason ?? 'stopped', message: execution.errorMessage },
    }),
    ...(doing !== undefined && {
      now: {
        state: doing.state,
        since: iso(doing.since),
        ...(doing.waitingOn !== undefined && { waitingOn: doing.waitingOn }),
        ...(doing.attempt !== undefined && {
          attempt: {
            n: doing.attempt.n,
            max: doing.attempt.max,
            ...(doing.attempt.nextAt !== undefined && { nextAt: iso(doing.attempt.nextAt) }),
            ...(doing.attempt.lastError !== undefined && { lastError: doing.attempt.lastError }),
          },
        }),
        sentence: doing.sentence,
      },
    }),
    createdAt: iso(execution.created),
    updatedAt: iso(execution.updated),
    ...(execution.finished !== undefined && { finishedAt: iso(execution.finished) }),
  };
};
