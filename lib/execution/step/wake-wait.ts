import { keys } from '../../kernel/keys.ts';
import { and, eq, le, set } from '../../kernel/table.ts';
import { A, type Execution } from '../execution.ts';
import type { Status } from '../status.ts';
import { intoRunning } from './changes.ts';
import type { ExecutionDeps } from './deps.ts';
import { isRefused, writeStatus } from './stop.ts';

/** A wait whose time has come. Those that only a child's end or a message ends have no time. */
export const isOverdue = (execution: Execution, now: number): boolean =>
  execution.status === 'WAIT_STEP' && execution.waitUntil !== undefined && execution.waitUntil <= now;

/**
 * Moves a wait that is over to RUNNING.
 * @param aside seconds by which the news of it steps aside
 * @returns false when somebody else moved it meanwhile; the row says where to
 */
export const wakeWait = async (deps: ExecutionDeps, execution: Execution, aside = 0): Promise<boolean> => {
  const now = deps.clock.now();
  try {
    await writeStatus(
      deps,
      { execution, from: 'WAIT_STEP', to: 'RUNNING', reason: undefined, at: now, aside },
      {
        update: keys.execution(execution.orgId, execution.executionId),
        changes: [
          set(A.status, 'RUNNING' satisfies Status),
          set(A.since, now),
          set(A.updated, now),
          ...intoRunning(execution.executionId, now),
        ],
        if: and(
          eq(A.status, 'WAIT_STEP'),
          eq(A.seq, execution.seq),
          eq(A.since, execution.since),
          le(A.waitUntil, now),
        ),
      },
    );
    return true;
  } catch (error) {
    if (!isRefused(error)) throw error;
    return false;
  }
};
