/** What the clock does about a permission that nobody has decided in time. It rejects or pauses; it never approves. */
import { ifStill } from '../kernel/if-still.ts';
import { keys } from '../kernel/keys.ts';
import { and, eq, type Key, remove, set, TransactionRefused } from '../kernel/table.ts';
import { A, type Execution } from './execution.ts';
import { getExecution } from './get.ts';
import { counted } from './numbered.ts';
import { type AskRow, readAsk } from './rows.ts';
import { asSeen, PERMISSION_EXPIRED, settlePermission, waitsFor } from './settle.ts';
import type { Status } from './status.ts';
import type { ExecutionDeps } from './step/deps.ts';

const MAX_TRIES = 5;

/** Recorded as whoever decided. */
const CLOCK = 'system';

const withoutMark = [remove('duePk'), remove('dueSk')];

/**
 * Visits a row of the `due` index of `tick`, which looks ahead: what is not due yet waits for a later visit. Races with a
 * person's decision like one person's with another's: one of them settles it.
 */
export const expireAsk = async (deps: ExecutionDeps, found: Key): Promise<void> => {
  if (!(await settleOverdue(deps, found)))
    throw new Error(`The permission ${found.sk} moved each time it was to expire.`);
};

/**
 * Settles a permission whose time is over, and leaves any other as it is. A person who comes too late does the same as the
 * clock, so that their run need not wait for it.
 * @returns false when the run moved at each try
 */
export const settleOverdue = async (deps: ExecutionDeps, found: Key): Promise<boolean> => {
  const key = { pk: found.pk, sk: found.sk };
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const item = await deps.table.get(key, { consistent: true });
    const ask = item && readAsk(item);
    if (ask?.state !== 'pending' || ask.dueSk === undefined) return true;
    if (ask.expiresAt !== undefined && ask.expiresAt > deps.clock.now()) return true;
    const { orgId, executionId } = ask;
    const execution = await getExecution(deps.table, { orgId, executionId });
    // Nobody waits for it: it only must not be found again each minute.
    if (!waitsFor(execution, ask)) {
      await dropMark(deps, ask);
      return true;
    }
    const settled =
      ask.onExpiry === 'pause'
        ? await pauseInstead(deps, ask, execution)
        : await settlePermission(deps, ask, execution, { state: 'expired', actor: CLOCK });
    if (settled) return true;
  }
  return false;
};

const askKey = ({ orgId, executionId, seq, n }: AskRow) => keys.ask(orgId, executionId, seq, n);

const unchanged = (ask: AskRow) => and(eq('state', 'pending'), eq('dueSk', ask.dueSk ?? ''));

const dropMark = (deps: ExecutionDeps, ask: AskRow): Promise<boolean> =>
  ifStill(() => deps.table.update(askKey(ask), withoutMark, unchanged(ask)));

/** The permission stays to be decided, from now on without a time limit; that the run stands still is told as such. */
const pauseInstead = async (deps: ExecutionDeps, ask: AskRow, execution: Execution): Promise<boolean> => {
  if (execution.status === 'PAUSED') return dropMark(deps, ask);
  const now = deps.clock.now();
  const change = {
    execution,
    from: execution.status,
    to: 'PAUSED' as const,
    reason: PERMISSION_EXPIRED,
    at: now,
  };
  try {
    await deps.table.transact([
      {
        update: keys.execution(ask.orgId, ask.executionId),
        changes: [
          set(A.status, 'PAUSED' satisfies Status),
          set(A.pausedFrom, execution.status),
          set(A.reason, PERMISSION_EXPIRED),
          set(A.since, now),
          set(A.updated, now),
          counted(execution),
        ],
        if: asSeen(execution),
      },
      { update: askKey(ask), changes: withoutMark, if: unchanged(ask) },
      ...deps.upper.writes(change),
    ]);
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error;
    return false;
  }
  await deps.upper.wake(change);
  return true;
};
