/** What a run may still use is changed by a person. */
import { AppError, conflict, notFound } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import { and, ConditionFailed, eq, not, oneOf, set } from '../kernel/table.ts';
import { roomFor } from './children/books.ts';
import { changeBudget } from './children/raise-budget.ts';
import { A, EXECUTION_VERSION, type Execution, type Limits, readExecution } from './execution.ts';
import { type At, getExecution } from './get.ts';
import { isTerminal, TERMINAL } from './status.ts';
import type { ExecutionDeps } from './step/deps.ts';

/** The step under way may spend meanwhile: each loser reads again and judges anew. */
const MAX_TRIES = 8;

export type LimitChanges = { readonly [Name in keyof Limits]?: number | undefined };

const LIMIT_FIELDS = {
  maxIterations: A.maxIterations,
  maxSteps: A.maxSteps,
  maxTokens: A.maxTokens,
  maxCost: A.maxCost,
  maxSeconds: A.maxSeconds,
} as const;

const hasParent = (
  execution: Execution,
): execution is Execution & { readonly parentId: string; readonly parentSeq: number; readonly parentN: number } =>
  execution.parentId !== undefined && execution.parentSeq !== undefined && execution.parentN !== undefined;

/**
 * Takes effect at the next claim.
 * @throws AppError 400 for less money than is spent, reserved and set aside for its children; 404; 409 when it has ended, or
 * when the run above has not so much left
 */
export const changeLimits = async (deps: ExecutionDeps, at: At, limits: LimitChanges): Promise<Execution> => {
  const changes = (Object.keys(LIMIT_FIELDS) as (keyof typeof LIMIT_FIELDS)[]).flatMap((field) => {
    const value = limits[field];
    return value === undefined ? [] : [set(LIMIT_FIELDS[field], value)];
  });
  const all = [...changes, set(A.updated, deps.clock.now())];
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const seen = limits.maxCost === undefined ? undefined : await getExecution(deps.table, at);
    const isOpen = seen !== undefined && !isTerminal(seen.status);
    if (isOpen && limits.maxCost !== undefined && hasParent(seen)) {
      await changeBudget(deps, seen, limits.maxCost, all);
      return getExecution(deps.table, at);
    }
    const room = isOpen && limits.maxCost !== undefined ? roomFor(seen, limits.maxCost) : [];
    const alive = [eq(A.version, EXECUTION_VERSION), not(oneOf(A.status, TERMINAL))];
    try {
      return readExecution(
        await deps.table.update(keys.execution(at.orgId, at.executionId), all, and(...alive, ...room)),
      );
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      if (error.item === undefined) throw notFound('execution');
      const { status } = readExecution(error.item);
      if (isTerminal(status)) {
        const message = `The execution is ${status}: its limits cannot be changed any more.`;
        throw conflict('execution_ended', message, { from: status });
      }
      // It spent something meanwhile.
    }
  }
  throw new AppError(503, 'busy', 'The run kept spending meanwhile: try again in a moment.', { retryAfter: 1 });
};
