import { keys } from '../kernel/keys.ts';
import { and, eq, lt, missing, or, set } from '../kernel/table.ts';
import { wake } from './control.ts';
import { A, readExecution } from './execution.ts';
import type { StepMessage } from './message.ts';
import { clockStopped } from './step/changes.ts';
import { type ExecutionDeps, NotYet } from './step/deps.ts';
import { MAX_ATTEMPTS } from './step/fuses.ts';
import { isRefused, stopChanges, writeStatus } from './step/stop.ts';
import { isOverdue } from './step/wake-wait.ts';

/**
 * A step message that the queue gave up on. It is judged by the row like any other: what still stands is sent again while
 * attempts remain and nobody is at it; only else a reason is written that a person can read and mend.
 * @throws NotYet while somebody holds the step
 */
export const judgeDeadLetter = async (deps: ExecutionDeps, message: StepMessage, messageId: string): Promise<void> => {
  const key = keys.execution(message.orgId, message.executionId);
  const item = await deps.table.get(key, { consistent: true });
  if (item === undefined) return;
  const execution = readExecution(item);
  // A wait that is over goes on by a fresh message, which ends it; before its time the mark of the wait sees to it.
  if (isOverdue(execution, deps.clock.now()) && message.seq === execution.seq) return wake(deps, execution);
  if (execution.status !== 'RUNNING') return;
  // The commit that consumed this very message may have died before its send, as for any redelivery. Redrive keeps the id.
  const own = execution.messageId === messageId && execution.seq === message.seq + 1;
  if (own) return wake(deps, execution);
  if (message.seq < execution.seq) return;
  if (message.seq > execution.seq) throw new NotYet('The commit before this step has not landed.');
  const now = deps.clock.now();
  if (execution.leaseUntil !== undefined && execution.leaseUntil >= now) {
    throw new NotYet('Somebody is at this step.');
  }
  if (execution.attempts < MAX_ATTEMPTS) {
    await wake(deps, execution);
    return;
  }
  const stop = {
    event: 'error' as const,
    reason: 'step_undeliverable',
    message: `Step ${execution.seq} could not be carried out${execution.lastError === undefined ? '' : `; last: ${execution.lastError}`}. Resume to try again.`,
  };
  try {
    await writeStatus(
      deps,
      { execution, from: 'RUNNING', to: 'ERROR_PAUSED', reason: stop.reason, message: stop.message, at: now },
      {
        update: key,
        changes: [...stopChanges(stop, 'ERROR_PAUSED', now), ...clockStopped(execution, now), set(A.attempts, 0)],
        if: and(eq(A.status, 'RUNNING'), eq(A.seq, message.seq), or(missing(A.leaseUntil), lt(A.leaseUntil, now))),
      },
    );
  } catch (error) {
    if (!isRefused(error)) throw error;
    throw new NotYet('The step moved while its reason was written.');
  }
};
