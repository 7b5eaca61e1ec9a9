import { conflict, notFound } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import { and, type Change, eq, set, TransactionRefused, type Write } from '../kernel/table.ts';
import { intoRunning, wake } from './control.ts';
import { A, type Execution } from './execution.ts';
import { getExecution } from './get.ts';
import { type AskRow, readAsk } from './rows.ts';
import type { Status } from './status.ts';
import type { ExecutionDeps } from './step/deps.ts';

export interface Decision {
  readonly orgId: string;
  readonly permissionId: string;
  readonly approve: boolean;
  readonly feedback?: string | undefined;
  readonly actor: string;
}

const MAX_TRIES = 5;

/** `ask_<26 characters of the execution>_<seq>_<n>`: the id says where the row is, so that no lookup row is needed. */
const ID = /^ask_([0-9a-z]{26})_(\d{1,9})_(\d{1,4})$/;

export const askKey = (orgId: string, permissionId: string) => {
  const match = ID.exec(permissionId);
  if (match === null) throw notFound('permission');
  return {
    executionId: `exe_${match[1]}`,
    key: keys.ask(orgId, `exe_${match[1]}`, Number(match[2]), Number(match[3])),
  };
};

/** @throws AppError 404 */
export const getPermission = async (deps: ExecutionDeps, orgId: string, permissionId: string): Promise<AskRow> => {
  const item = await deps.table.get(askKey(orgId, permissionId).key, { consistent: true });
  const ask = item && readAsk(item);
  if (ask?.kind !== 'permission') throw notFound('permission');
  return ask;
};

const wakeChanges = (execution: Execution, now: number): readonly Change[] =>
  execution.status === 'PAUSED'
    ? [set(A.pausedFrom, 'RUNNING' satisfies Status)]
    : [set(A.status, 'RUNNING' satisfies Status), set(A.since, now), ...intoRunning(execution.executionId, now)];

/**
 * Decides once: the row and the execution move in one transaction, so that an approval can never be lost between them.
 * @throws AppError 404; 409 `already_decided`, or when the execution no longer waits for it
 */
export const decidePermission = async (deps: ExecutionDeps, decision: Decision): Promise<AskRow> => {
  const { orgId, permissionId } = decision;
  for (let attempt = 1; ; attempt++) {
    const ask = await getPermission(deps, orgId, permissionId);
    if (ask.state !== 'pending') {
      throw conflict('already_decided', `The permission is ${ask.state} already.`, { state: ask.state });
    }
    const execution = await getExecution(deps.table, { orgId, executionId: ask.executionId });
    const waits =
      execution.status === 'WAITING_FOR_PERMISSION' ||
      (execution.status === 'PAUSED' && execution.pausedFrom === 'WAITING_FOR_PERMISSION');
    if (!waits || execution.seq !== ask.seq) {
      throw conflict(
        'illegal_transition',
        `The execution is ${execution.status} and does not wait for this permission.`,
        {
          from: execution.status,
          to: 'RUNNING',
        },
      );
    }
    const now = deps.clock.now();
    const change = { execution, from: execution.status, to: 'RUNNING' as const, reason: undefined, at: now };
    const runs = execution.status !== 'PAUSED';
    const writes: readonly Write[] = [
      {
        update: keys.execution(orgId, ask.executionId),
        changes: [set(A.updated, now), ...wakeChanges(execution, now)],
        if: and(
          eq(A.status, execution.status),
          eq(A.seq, ask.seq),
          ...(runs ? [] : [eq(A.pausedFrom, 'WAITING_FOR_PERMISSION')]),
        ),
      },
      {
        update: askKey(orgId, permissionId).key,
        changes: [
          set('state', decision.approve ? 'approved' : 'rejected'),
          set('decidedAt', now),
          set('decidedBy', decision.actor),
          ...(decision.feedback === undefined ? [] : [set('feedback', decision.feedback)]),
        ],
        if: eq('state', 'pending'),
      },
      ...(runs ? deps.upper.writes(change) : []),
    ];
    try {
      await deps.table.transact(writes);
    } catch (error) {
      // Somebody decided, paused or ended it meanwhile: judged anew, which names what stands.
      if (!(error instanceof TransactionRefused) || attempt === MAX_TRIES) throw error;
      continue;
    }
    if (runs) {
      await deps.upper.wake(change);
      await wake(deps, await getExecution(deps.table, { orgId, executionId: ask.executionId }));
    }
    return getPermission(deps, orgId, permissionId);
  }
};
