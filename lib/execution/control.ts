/** What people do to a running execution: pause, resume, terminate, change limits. */
import { conflict } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import {
  addFrom,
  and,
  type Change,
  ConditionFailed,
  eq,
  exists,
  missing,
  not,
  or,
  remove,
  set,
  TransactionRefused,
  type Write,
} from '../kernel/table.ts';
import { waitMark } from './clock.ts';
import { A, type Execution, readExecution } from './execution.ts';
import { type At, getExecution } from './get.ts';
import { dropMark, setMark } from './mark.ts';
import { messageFor } from './message.ts';
import { readAsk } from './rows.ts';
import { illegalMove, isTerminal, STOPPED, type Status, type StatusEvent, transition } from './status.ts';
import { clockStopped, intoRunning, leaseGone, turnBegins } from './step/changes.ts';
import { MAX_DELAY_SECONDS, sendWhenDue } from './step/claim.ts';
import { refuseSpentDay } from './step/daily-budget.ts';
import type { ExecutionDeps } from './step/deps.ts';
import { limitReached } from './step/fuses.ts';
import { allPages } from './step/load.ts';
import { writeStatus } from './step/stop.ts';

/** Races with the step that is under way: each loser reads again and judges anew. */
const MAX_TRIES = 8;

interface Move {
  readonly to: Status;
  readonly changes: readonly Change[];
}

/** Written in the transaction of a move, made from the execution as it is found; made anew where somebody was faster. */
export type Beside = (execution: Execution, now: number) => Promise<readonly Write[]>;

const move = async (
  deps: ExecutionDeps,
  at: At,
  event: StatusEvent,
  judge: (execution: Execution, now: number) => Move,
  beside: Beside = async () => [],
): Promise<Execution> => {
  for (let attempt = 1; ; attempt++) {
    const execution = await getExecution(deps.table, at);
    const now = deps.clock.now();
    if (transition(execution.status, event) === undefined) throw illegalMove(execution.status, event);
    const { to, changes } = judge(execution, now);
    const change = { execution, from: execution.status, to, reason: undefined, at: now };
    try {
      const write = {
        update: keys.execution(at.orgId, at.executionId),
        changes: [set(A.status, to), set(A.since, now), set(A.updated, now), ...changes],
        // `since` is the version of the status: of three resumes at once one finds the state it read.
        if: and(
          eq(A.status, execution.status),
          eq(A.since, execution.since),
          ...pausedFromAsSeen(execution),
          childrenAsSeen(execution),
        ),
      };
      await writeStatus(deps, change, write, await beside(execution, now));
      return await getExecution(deps.table, at);
    } catch (error) {
      if (!isRefusedWrite(error) || attempt === MAX_TRIES) throw error;
    }
  }
};

const isRefusedWrite = (error: unknown): boolean =>
  error instanceof ConditionFailed || error instanceof TransactionRefused;

/** A park or a decision may change what a paused execution waits for, without touching its status. */
const pausedFromAsSeen = (execution: Execution) => [
  execution.pausedFrom === undefined ? not(exists(A.pausedFrom)) : eq(A.pausedFrom, execution.pausedFrom),
];

/** A step under way may start runs without touching the status: whoever ends this one must know of them. */
const childrenAsSeen = ({ openChildren }: Execution) =>
  openChildren === 0 ? or(missing(A.openChildren), eq(A.openChildren, 0)) : eq(A.openChildren, openChildren);

/** @throws AppError 409 naming both states */
export const pauseExecution = (deps: ExecutionDeps, at: At): Promise<Execution> =>
  move(deps, at, 'pause', (execution, now) => ({
    to: 'PAUSED',
    changes: [set(A.pausedFrom, execution.status), ...clockStopped(execution, now)],
  }));

/**
 * Goes on where it stood: PAUSED returns to what it was waiting for, a stop by a fuse needs its limit raised first.
 * @throws AppError 409
 */
export const resumeExecution = async (deps: ExecutionDeps, at: At, beside?: Beside): Promise<Execution> => {
  await refuseSpentDay(deps, await getExecution(deps.table, at));
  const resumed = await move(
    deps,
    at,
    'resume',
    (execution, now) => {
      const waiting =
        execution.status === 'PAUSED' && execution.pausedFrom !== undefined ? execution.pausedFrom : 'RUNNING';
      const cleared = [remove(A.pausedFrom), remove(A.reason), remove(A.errorCode), remove(A.errorMessage)];
      // A wait whose time came meanwhile is over.
      const until = waiting === 'WAIT_STEP' ? execution.waitUntil : undefined;
      const mark = until === undefined ? [] : setMark(waitMark(at.executionId, until, now));
      if (waiting !== 'RUNNING' && (until === undefined || until > now))
        return { to: waiting, changes: [...cleared, ...mark] };
      if (STOPPED.includes(execution.status)) refuseUnraised(execution, now);
      const afresh = [set(A.attempts, 0), set(A.waitedMs, 0), remove(A.notBefore), remove(A.lastError)];
      const counters = STOPPED.includes(execution.status) ? [set(A.repeatCount, 0), ...afresh] : [];
      return { to: 'RUNNING', changes: [...cleared, ...counters, ...intoRunning(at.executionId, now)] };
    },
    beside,
  );
  if (resumed.status === 'RUNNING') await wake(deps, resumed);
  if (resumed.status === 'WAIT_STEP' && resumed.waitUntil !== undefined) {
    await sendWhenDue(deps, resumed, resumed.waitUntil);
  }
  return resumed;
};

/**
 * Gives a run that stands between its turns another one without a message: it had to wait for a place, or yielded it.
 * @param turn further changes of the execution
 * @throws AppError 409 when it does not stand between its turns
 */
export const beginTurn = async (
  deps: ExecutionDeps,
  at: At,
  turn: (execution: Execution) => readonly Change[],
  beside?: Beside,
): Promise<Execution> => {
  const begun = await move(
    deps,
    at,
    'answer',
    (execution, now) => {
      if (execution.parked === undefined) throw illegalMove(execution.status, 'answer');
      return { to: 'RUNNING', changes: [...turnBegins, ...intoRunning(at.executionId, now), ...turn(execution)] };
    },
    beside,
  );
  await wake(deps, begun);
  return begun;
};

const refuseUnraised = (execution: Execution, now: number): void => {
  const stop = limitReached(execution, { next: execution.worst, lost: execution.reserved }, now);
  if (stop !== undefined && execution.status !== 'ERROR_PAUSED') {
    throw conflict('limit_not_raised', stop.message, { from: execution.status, to: 'RUNNING', limit: stop.reason });
  }
};

/**
 * Sends the message that moves an execution on, after the wait that its model asked for. Where somebody still holds the
 * step it dies as a copy: the holder's own message stays in the queue until the holder is done.
 */
export const wake = (deps: Pick<ExecutionDeps, 'steps' | 'clock'>, execution: Execution): Promise<void> => {
  const now = deps.clock.now();
  const seconds = Math.ceil(Math.max(0, (execution.notBefore ?? now) - now) / 1000);
  const delaySeconds = Math.min(MAX_DELAY_SECONDS, seconds);
  return deps.steps.send(messageFor(execution), { delaySeconds, tenant: execution.orgId });
};

/** What a person was asked and has not answered: nobody waits for it any more. */
const cancelAsks = async (deps: ExecutionDeps, execution: Execution, now: number): Promise<readonly Write[]> => {
  const { orgId, executionId, seq, status, pausedFrom = status } = execution;
  if (!pausedFrom.startsWith('WAITING_')) return [];
  const items = await allPages(deps.table, { ...keys.asksOf(orgId, executionId, seq), consistent: true });
  return items.flatMap((item): readonly Write[] => {
    const ask = readAsk(item);
    if (ask.state !== 'pending') return [];
    return [
      {
        update: { pk: item.pk, sk: item.sk },
        changes: [set('state', 'cancelled'), set('decidedAt', now), remove('duePk'), remove('dueSk')],
        if: eq('state', 'pending'),
      },
      ...(deps.upper.asks?.({ ask: { ...ask, state: 'cancelled' }, at: now }) ?? []),
    ];
  });
};

/**
 * Stands whatever a step under way still wants to write: it takes the lease. What that step may have spent is booked at
 * its worst case.
 * @throws AppError 409 when it has ended already
 */
export const terminateExecution = (deps: ExecutionDeps, at: At, beside: Beside = async () => []): Promise<Execution> =>
  move(
    deps,
    at,
    'terminate',
    (execution, now) => ({
      to: 'TERMINATED',
      changes: [
        set(A.finished, now),
        remove(A.pausedFrom),
        ...leaseGone,
        ...clockStopped(execution, now),
        addFrom(A.cost, A.reserved),
        set(A.reserved, 0),
        ...dropMark,
      ],
    }),
    async (execution, now) => [...(await cancelAsks(deps, execution, now)), ...(await beside(execution, now))],
  );

/** Ends every execution of an agent that has not ended. A repeat goes on where an earlier one died. */
export const terminateAll = async (deps: ExecutionDeps, orgId: string, agentId: string): Promise<void> => {
  let after: Awaited<ReturnType<typeof deps.table.query>>['next'];
  do {
    const page = await deps.table.query({
      ...keys.agentExecutions(orgId, agentId),
      newestFirst: true,
      limit: 100,
      consistent: true,
      ...(after !== undefined && { after }),
    });
    const ids = page.items.map((item) => item.sk.slice('EXECUTION#'.length));
    const rows = await deps.table.getMany(
      ids.map((id) => keys.execution(orgId, id)),
      { consistent: true },
    );
    const live = rows
      .flatMap((row) => (row === undefined ? [] : [readExecution(row)]))
      .filter((one) => !isTerminal(one.status));
    await Promise.all(live.map((one) => terminateQuietly(deps, { orgId, executionId: one.executionId })));
    after = page.next;
  } while (after !== undefined);
};

const terminateQuietly = async (deps: ExecutionDeps, at: At): Promise<void> => {
  try {
    await terminateExecution(deps, at);
  } catch (error) {
    const { status } = await getExecution(deps.table, at);
    if (!isTerminal(status)) throw error;
  }
};
