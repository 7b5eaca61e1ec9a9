import { keys } from '../../kernel/keys.ts';
import {
  add,
  and,
  type Change,
  ConditionFailed,
  eq,
  remove,
  set,
  TransactionRefused,
  type Write,
} from '../../kernel/table.ts';
import type { Lease } from '../../lease/lease.ts';
import { A, type Execution, readExecution } from '../execution.ts';
import { dropMark } from '../mark.ts';
import { counted, numberAsSeen } from '../numbered.ts';
import { isTerminal, type Status, transition } from '../status.ts';
import { clockStopped, leaseGone, settled } from './changes.ts';
import type { ExecutionDeps, StatusChange, StepDeps } from './deps.ts';
import { NotYet } from './deps.ts';
import type { Stop } from './fuses.ts';
import { stillHeld } from './lease.ts';

/** True when the guard of the write on the execution row (the first of a transaction) did not hold. */
export const isRefused = (error: unknown): error is ConditionFailed | TransactionRefused =>
  error instanceof ConditionFailed || error instanceof TransactionRefused;

/** The execution as it stood when the write was refused. */
export const refusedRow = (error: ConditionFailed | TransactionRefused): Execution | undefined => {
  const item = error instanceof ConditionFailed ? error.item : error.items[0];
  return item && readExecution(item);
};

/**
 * A write that changes an execution's status: alone where nobody above adds rows, in one transaction with them otherwise
 * (store, then act); then the floors above are woken. A lost wake-up is found by its row's own mark.
 */
export const writeStatus = async (
  deps: ExecutionDeps,
  change: StatusChange,
  write: Extract<Write, { update: unknown }>,
  more: readonly Write[] = [],
): Promise<void> => {
  const beside = (execution: Execution) => [...more, ...deps.upper.writes({ ...change, execution })];
  const execution = await writeNumbered(deps, change.execution, write, beside);
  await deps.upper.wake({ ...change, execution });
};

/**
 * A write on the row of an execution that others are told of: it counts itself. Where somebody else's was counted since the
 * row was read (a pause and a resume in the middle of a step), it takes the number after that one; what else it demands of the
 * row stays as it is.
 * @returns the execution with the number that the written one follows
 */
export const writeNumbered = async (
  deps: Pick<ExecutionDeps, 'table'>,
  seen: Execution,
  write: Extract<Write, { update: unknown }>,
  beside: (execution: Execution) => readonly Write[],
): Promise<Execution> => {
  for (let execution = seen; ; ) {
    const guard = numberAsSeen(execution);
    const mine = {
      update: write.update,
      changes: [...write.changes, counted(execution)],
      if: write.if === undefined ? guard : and(write.if, guard),
    };
    const others = beside(execution);
    try {
      if (others.length === 0) await deps.table.update(mine.update, mine.changes, mine.if);
      else await deps.table.transact([mine, ...others]);
      return execution;
    } catch (error) {
      const row = isRefused(error) ? refusedRow(error) : undefined;
      if (row === undefined || row.changes === execution.changes) throw error;
      execution = { ...execution, changes: row.changes };
    }
  }
};

/** The changes of an error or fuse that stops a run until a person mends or extends it. */
export const stopChanges = (stop: Stop, to: Status, now: number): readonly Change[] => [
  set(A.status, to),
  set(A.since, now),
  set(A.updated, now),
  set(A.reason, stop.reason),
  ...(stop.event === 'error' ? [set(A.errorCode, stop.reason)] : [remove(A.errorCode)]),
  set(A.errorMessage, stop.message.slice(0, 500)),
  ...(to === 'ERROR_PAUSED' || to === 'FAILED' ? [add(A.errors, 1)] : []),
];

/**
 * A fuse blows before or instead of a commit: the step keeps its number, so that it is tried again after a resume.
 * @throws NotYet when the execution moved meanwhile: everything is judged again from the claim.
 */
export const stopStep = async (
  deps: StepDeps,
  lease: Lease,
  execution: Execution,
  stop: Stop,
  cost: number,
): Promise<void> => {
  await lease.stop();
  const now = deps.clock.now();
  const to = transition('RUNNING', stop.event);
  if (to === undefined) throw new Error(`${stop.event} leads nowhere from RUNNING.`);
  const stands = stop.worst === undefined ? execution : { ...execution, worst: stop.worst };
  const change = {
    execution: stands,
    from: 'RUNNING' as const,
    to,
    reason: stop.reason,
    message: stop.message,
    at: now,
  };
  try {
    await writeStatus(deps, change, {
      update: keys.execution(execution.orgId, execution.executionId),
      changes: [
        ...stopChanges(stop, to, now),
        ...leaseGone,
        ...clockStopped(execution, now),
        ...settled(execution, cost),
        ...(stop.worst === undefined ? [] : [set(A.worst, stop.worst)]),
        set(A.attempts, 0),
        set(A.waitedMs, 0),
        ...(isTerminal(to) ? dropMark : []),
      ],
      if: and(stillHeld(lease.owner, execution, now), eq(A.status, 'RUNNING')),
    });
  } catch (error) {
    if (!isRefused(error)) throw error;
    throw new NotYet('The execution moved while a fuse was written.');
  }
  deps.log.warn('The execution stopped.', { reason: stop.reason, status: to });
};
