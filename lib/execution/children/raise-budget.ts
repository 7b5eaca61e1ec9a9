import { AppError, conflict, notFound } from '../../kernel/errors.ts';
import { keys } from '../../kernel/keys.ts';
import { add, and, type Change, eq, not, oneOf, TransactionRefused } from '../../kernel/table.ts';
import { A, EXECUTION_VERSION, type Execution } from '../execution.ts';
import { type At, getExecution } from '../get.ts';
import { isTerminal, TERMINAL } from '../status.ts';
import type { ExecutionDeps } from '../step/deps.ts';
import { asRead, asWorkedOut, freeOf, roomFor } from './books.ts';
import { readChild } from './child-row.ts';

const MAX_TRIES = 8;
const usd = (micro: number): string => `$${(micro / 1e6).toFixed(4)}`;

/**
 * Changes limits of a run that another one started. What it may cost comes out of its parent's budget: what it gets more is
 * set aside there in the same transaction. Lowered, it gives nothing back before its end, for it may have spent it.
 * @param maxCost micro-dollars
 * @param changes of the run's row, this limit among them
 * @throws AppError 400 for less than it has spent and promised already; 409 when the parent has not so much left, or has ended; 404
 */
export const changeBudget = async (
  deps: ExecutionDeps,
  given: Execution & { readonly parentId: string; readonly parentSeq: number; readonly parentN: number },
  maxCost: number,
  changes: readonly Change[],
): Promise<void> => {
  const { orgId, parentId, parentSeq, parentN } = given;
  const at: At = { orgId, executionId: parentId };
  const recordKey = keys.child(orgId, parentId, parentSeq, parentN);
  let child: Execution = given;
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const room = roomFor(child, maxCost);
    const [parent, item] = await Promise.all([
      getExecution(deps.table, at),
      deps.table.get(recordKey, { consistent: true }),
    ]);
    if (item === undefined) throw notFound('execution');
    const record = readChild(item);
    const more = Math.max(0, maxCost - record.budget);
    if (isTerminal(parent.status) || record.state === 'ended') {
      throw conflict('parent_ended', `The run ${parentId} that started this one is ${parent.status}.`, { parentId });
    }
    if (more > freeOf(parent)) {
      const message = `This run's budget comes out of that of ${parentId}, which has ${usd(Math.max(0, freeOf(parent)))} left and would need ${usd(more)}. Raise its maxCostUsd first.`;
      throw conflict('parent_budget', message, { parentId });
    }
    try {
      await deps.table.transact([
        {
          update: keys.execution(orgId, child.executionId),
          changes,
          if: and(eq(A.version, EXECUTION_VERSION), not(oneOf(A.status, TERMINAL)), ...room),
        },
        {
          update: keys.execution(orgId, parentId),
          changes: [add(A.carved, more)],
          if: and(asWorkedOut(parent), asRead(A.cost, parent.cost), asRead(A.reserved, parent.reserved)),
        },
        {
          update: recordKey,
          changes: [add('budget', more)],
          if: and(eq('state', 'open'), eq('budget', record.budget)),
        },
      ]);
      return;
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      const now = await getExecution(deps.table, child);
      if (isTerminal(now.status)) {
        const message = `The execution is ${now.status}: its limits cannot be changed any more.`;
        throw conflict('execution_ended', message, { from: now.status });
      }
      child = now;
    }
  }
  throw new AppError(503, 'busy', 'The run above kept moving meanwhile: try again in a moment.', { retryAfter: 1 });
};
