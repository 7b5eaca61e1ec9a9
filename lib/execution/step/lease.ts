/** The lease of one step: what it stands on in the row of its execution. */
import { keys } from '../../kernel/keys.ts';
import { and, type Condition, ConditionFailed, eq, gt, set } from '../../kernel/table.ts';
import { Lease, LeaseLost } from '../../lease/lease.ts';
import { A, type Execution } from '../execution.ts';
import type { Delivery } from '../message.ts';
import type { StepDeps } from './deps.ts';

/** The step is mine and my lease has not ended. */
export const stillHeld = (owner: string, execution: Pick<Execution, 'seq'>, now: number): Condition =>
  and(eq(A.leaseOwner, owner), eq(A.seq, execution.seq), gt(A.leaseUntil, now));

/** The same of a row that was read: a refusal then had another reason. */
export const holds = (row: Execution, owner: string, seq: number, now: number): boolean =>
  row.leaseOwner === owner && row.seq === seq && (row.leaseUntil ?? 0) > now;

/**
 * A write that only the holder may make. Refused, whether by a lost lease or a lost answer, it is an error: the message
 * comes back and is judged as a redelivery.
 * @throws LeaseLost
 */
export const fenced = async <T>(write: () => Promise<T>): Promise<T> => {
  try {
    return await write();
  } catch (error) {
    if (error instanceof ConditionFailed) throw new LeaseLost('The step was taken over.');
    throw error;
  }
};

/** @param execution as `owner` has claimed it; from here on the lease is kept alive until it is stopped */
export const holdLease = (
  deps: Pick<StepDeps, 'table' | 'steps' | 'clock' | 'log' | 'settings'>,
  execution: Execution,
  owner: string,
  { receiptHandle }: Delivery,
): Lease =>
  new Lease(deps, {
    owner,
    until: execution.leaseUntil ?? 0,
    extend: (until, now) =>
      deps.table.update(
        keys.execution(execution.orgId, execution.executionId),
        [set(A.leaseUntil, until)],
        stillHeld(owner, execution, now),
      ),
    hide: (seconds) => deps.steps.changeVisibility(receiptHandle, seconds),
  });
