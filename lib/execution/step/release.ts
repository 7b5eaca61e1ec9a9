import { keys } from '../../kernel/keys.ts';
import { and, type Change, oneOf, remove, set } from '../../kernel/table.ts';
import type { Lease } from '../../lease/lease.ts';
import type { ModelOutcome } from '../../model/model.ts';
import { A, type Execution, readExecution } from '../execution.ts';
import { markAt, setMark } from '../mark.ts';
import type { Delivery } from '../message.ts';
import { leaseGone, settled } from './changes.ts';
import { STAND_IN_MS } from './choose-model.ts';
import { MAX_DELAY_SECONDS, sendWhenDue } from './claim.ts';
import type { StepDeps } from './deps.ts';
import { fenced, stillHeld } from './lease.ts';
import { stopStep } from './stop.ts';

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 300_000;

/** Exponential with full jitter, unless the provider said when. */
const waitFor = (deps: StepDeps, execution: Execution, retryAfterMs: number | undefined): number => {
  if (retryAfterMs !== undefined) return Math.max(FIRST_WAIT_MS, retryAfterMs);
  // The waits so far tell how often we waited, without a counter of their own: each doubles their sum.
  const ceiling = Math.min(LONGEST_WAIT_MS, Math.max(2 * FIRST_WAIT_MS, execution.waitedMs * 2));
  return FIRST_WAIT_MS + Math.floor(deps.random() * (ceiling - FIRST_WAIT_MS));
};

/** Who answers the next claims. After the last of the list the first choice is tried again. */
const standInChanges = (
  { several, next }: { readonly several: boolean; readonly next: number | undefined },
  retryAfterMs: number,
  now: number,
): readonly Change[] => {
  if (!several) return [];
  if (next === undefined) return [remove(A.standIn), remove(A.standInUntil)];
  return [set(A.standIn, next), set(A.standInUntil, now + Math.max(STAND_IN_MS, retryAfterMs))];
};

/**
 * The model cannot answer now: the step is given back with a time before which nobody claims it, and a fresh message
 * comes then. A run with several models asks the next one first. Waiting wears neither attempts nor the message out; it has a fuse of its own.
 */
export const releaseStep = async (
  deps: StepDeps,
  lease: Lease,
  execution: Execution,
  delivery: Delivery,
  outcome: Extract<ModelOutcome, { kind: 'retry' }>,
  spent: number,
  models: { readonly several: boolean; readonly next: number | undefined },
): Promise<void> => {
  // Another model may answer at once; only when all are away it takes patience.
  const wait = models.next === undefined ? waitFor(deps, execution, outcome.retryAfterMs) : FIRST_WAIT_MS;
  const waited = execution.waitedMs + wait;
  if (waited > deps.settings.maxWaitMs) {
    const message = `The model did not answer for ${Math.round(execution.waitedMs / 1000)} s of waiting; last: ${outcome.message}`;
    await stopStep(deps, lease, execution, { event: 'error', reason: outcome.code, message }, spent);
    return;
  }
  await lease.stop();
  const now = deps.clock.now();
  const notBefore = now + wait;
  const mark = wait > MAX_DELAY_SECONDS * 1000 ? setMark(markAt('tick', execution.executionId, notBefore)) : [];
  const item = await fenced(() =>
    deps.table.update(
      keys.execution(execution.orgId, execution.executionId),
      [
        ...leaseGone,
        ...settled(execution, spent),
        ...mark,
        ...standInChanges(models, outcome.retryAfterMs ?? 0, now),
        set(A.notBefore, notBefore),
        set(A.waitedMs, waited),
        set(A.lastError, outcome.message.slice(0, 200)),
        set(A.messageId, delivery.messageId),
        set(A.attempts, execution.attempts - 1),
      ],
      and(stillHeld(lease.owner, execution, now), oneOf(A.status, ['RUNNING', 'PAUSED'])),
    ),
  );
  deps.log.info('The model asked to wait.', { code: outcome.code, waitMs: wait });
  await sendWhenDue(deps, readExecution(item), notBefore);
};

/**
 * Somebody holds the whole organisation, or this holder's message is gone: the step is given back, and others send it
 * again.
 * @param spent what this claim may have spent, micro-dollars; without it nothing was begun, and it counts as no attempt
 */
export const holdStep = async (deps: StepDeps, lease: Lease, execution: Execution, spent?: number): Promise<void> => {
  await lease.stop();
  await fenced(() =>
    deps.table.update(
      keys.execution(execution.orgId, execution.executionId),
      [
        ...leaseGone,
        ...settled(execution, spent ?? 0),
        ...(spent === undefined ? [set(A.attempts, execution.attempts - 1)] : []),
        remove(A.notBefore),
      ],
      stillHeld(lease.owner, execution, deps.clock.now()),
    ),
  );
};
