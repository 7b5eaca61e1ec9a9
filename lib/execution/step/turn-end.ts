/** The end of a turn: a worker's run stands between two messages, with nothing under way and no question asked. */
import { keys } from '../../kernel/keys.ts';
import { and, type Change, type Condition, eq, remove, set } from '../../kernel/table.ts';
import type { Lease } from '../../lease/lease.ts';
import { A, type Execution } from '../execution.ts';
import { dropMark } from '../mark.ts';
import { clockStopped } from './changes.ts';
import type { StepDeps } from './deps.ts';
import { holds, stillHeld } from './lease.ts';
import { isRefused, refusedRow, writeStatus } from './stop.ts';

/** `over`: the next message begins another. `yield`: it would go on, but its place was lent to it for a few steps. */
export type TurnEnd = NonNullable<Execution['parked']>;

/** What an execution that stands between its turns gives as its `reason`. */
export const TURN_REASONS: { readonly [end in TurnEnd]: string } = { over: 'turn_over', yield: 'turn_yielded' };

/** Somebody may pause and resume while it is written. */
const MAX_TRIES = 5;

/**
 * The commit of a step that ends its turn. It conditions on the waking inputs of its prompt, as the end of a run does; a
 * run that somebody has paused meanwhile stays paused and remembers what it came to.
 * @param commit the changes of any commit
 * @throws ConditionFailed, TransactionRefused
 */
export const endTurn = async (
  deps: StepDeps,
  lease: Lease,
  execution: Execution,
  commit: readonly Change[],
  { turn, waking }: { readonly turn: TurnEnd; readonly waking: number },
  now: number,
): Promise<void> => {
  const key = keys.execution(execution.orgId, execution.executionId);
  const reason = TURN_REASONS[turn];
  const mine: Condition = and(stillHeld(lease.owner, execution, now), eq(A.wakingInputs, waking));
  // Nothing is to be found by the sweep: whatever makes it run again sets a mark of its own.
  const common = [...commit, set(A.updated, now), set(A.parked, turn), remove(A.turnUntil), ...dropMark];
  const stands = [set(A.status, 'WAITING_FOR_INPUT'), set(A.since, now), set(A.reason, reason)];
  const remembers = [...common, set(A.pausedFrom, 'WAITING_FOR_INPUT')];
  for (let seen = execution, attempt = 1; ; attempt++) {
    const guard = and(mine, eq(A.status, seen.status));
    try {
      if (seen.status === 'PAUSED') await deps.table.update(key, remembers, guard);
      else {
        const changes = [...common, ...stands, ...clockStopped(seen, now)];
        const change = { execution: seen, from: 'RUNNING', to: 'WAITING_FOR_INPUT', reason, at: now } as const;
        await writeStatus(deps, change, { update: key, changes, if: guard });
      }
      return;
    } catch (error) {
      const row = isRefused(error) ? refusedRow(error) : undefined;
      const moved = row !== undefined && row.status !== seen.status && holds(row, lease.owner, execution.seq, now);
      if (!moved || attempt === MAX_TRIES) throw error;
      // Paused, or resumed, between my look and my write.
      seen = row;
    }
  }
};
