import { AppError, conflict, notFound } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import { settleOverdue } from './expire.ts';
import { getExecution } from './get.ts';
import { type AskRow, readAsk } from './rows.ts';
import { isOverdue, settlePermission, waitsFor } from './settle.ts';
import type { ExecutionDeps } from './step/deps.ts';

export interface Decision {
  readonly orgId: string;
  readonly permissionId: string;
  readonly approve: boolean;
  readonly feedback?: string | undefined;
  /** Of the call that the person saw; the decision is refused where the row shows another one. */
  readonly argumentsHash?: string | undefined;
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
export const getPermission = async (
  deps: Pick<ExecutionDeps, 'table'>,
  orgId: string,
  permissionId: string,
): Promise<AskRow> => {
  const item = await deps.table.get(askKey(orgId, permissionId).key, { consistent: true });
  const ask = item && readAsk(item);
  // Zeros before a number would lead to the same row under another id.
  if (ask?.kind !== 'permission' || ask.askId !== permissionId) throw notFound('permission');
  return ask;
};

/** An expiry is never an approval, not even while the clock that is to settle it has not come by. */
const tooLate = async (deps: ExecutionDeps, ask: AskRow): Promise<AppError> => {
  const { key } = askKey(ask.orgId, ask.askId);
  if (ask.state === 'pending' && !(await settleOverdue(deps, key))) return busy();
  const until = ask.expiresAt === undefined ? {} : { expiresAt: new Date(ask.expiresAt).toISOString() };
  const then =
    ask.onExpiry === 'pause' && ask.state === 'pending'
      ? 'The run is paused for it, and the permission waits without a time limit from now on: decide once more.'
      : 'It counts as rejected.';
  return conflict(
    'expired',
    `The time to decide was over at ${until.expiresAt ?? 'an earlier moment'}. ${then}`,
    until,
  );
};

const busy = (): AppError =>
  new AppError(503, 'busy', 'The execution kept moving meanwhile: try again in a moment.', { retryAfter: 1 });

/**
 * A person decides, once, and before `expiresAt`. Whoever comes later settles the expiry on the spot.
 * @throws AppError 404; 409 `expired`, `already_decided`, `arguments_differ`, or when the execution no longer waits for it
 */
export const decidePermission = async (deps: ExecutionDeps, decision: Decision): Promise<AskRow> => {
  const { orgId, permissionId, argumentsHash, feedback, actor } = decision;
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const ask = await getPermission(deps, orgId, permissionId);
    if (ask.state === 'expired' || isOverdue(ask, deps.clock.now())) throw await tooLate(deps, ask);
    if (ask.state !== 'pending') {
      throw conflict('already_decided', `The permission is ${ask.state} already.`, { state: ask.state });
    }
    if (argumentsHash !== undefined && argumentsHash !== ask.argumentsHash) {
      throw conflict('arguments_differ', 'The permission is for another call than the one that was decided about.', {
        argumentsHash: ask.argumentsHash,
      });
    }
    const execution = await getExecution(deps.table, { orgId, executionId: ask.executionId });
    if (!waitsFor(execution, ask)) {
      const from = execution.status;
      const message = `The execution is ${from} and does not wait for this permission.`;
      throw conflict('illegal_transition', message, { from, to: 'RUNNING' });
    }
    const settlement = { state: decision.approve ? ('approved' as const) : ('rejected' as const), feedback, actor };
    if (await settlePermission(deps, ask, execution, settlement)) return getPermission(deps, orgId, permissionId);
  }
  throw busy();
};
