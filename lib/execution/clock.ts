/** The clock's half of the protocol: `sweep` looks where nothing moved, `tick` wakes what was to come later than SQS can delay. */
import { UnreadableRow } from '../kernel/errors.ts';
import { ifStill } from '../kernel/if-still.ts';
import { DUE_SHARDS, type DueKind, due, parseExecutionPk } from '../kernel/keys.ts';
import { and, type Change, eq, type Item, set } from '../kernel/table.ts';
import { A, type Execution, readExecution } from './execution.ts';
import { dropMark, type Mark, markAt, STALL_MS, setMark, stallMark } from './mark.ts';
import { type DueDeps, putOff } from './put-off.ts';
import { isTerminal } from './status.ts';
import { MAX_DELAY_SECONDS, send } from './step/claim.ts';
import type { ExecutionDeps } from './step/deps.ts';
import { isOverdue } from './step/wake-wait.ts';

/** `tick` comes every minute and looks this far ahead: what is due meanwhile is sent with the delay that hits its second. */
export const TICK_HORIZON_MS = 150_000;
const LONGEST_BACKOFF_MS = 3_600_000;
const PAGE = 100;

/**
 * Everything of a kind that is due up to a time, shard by shard. One bad row never blocks the others; one that fails again
 * and again is put off.
 */
export const eachDue = async (
  deps: DueDeps,
  kind: DueKind,
  upTo: number,
  visit: (item: Item) => Promise<void>,
): Promise<void> => {
  for (let shard = 0; shard < DUE_SHARDS; shard++) {
    let after: Awaited<ReturnType<typeof deps.table.query>>['next'];
    do {
      const page = await deps.table.query({
        index: 'due',
        pk: due.pk(kind, shard),
        to: due.upTo(upTo),
        limit: PAGE,
        ...(after !== undefined && { after }),
      });
      const results = await Promise.allSettled(page.items.map((item) => visit(item)));
      const failed = page.items.filter((_, at) => results[at]?.status === 'rejected');
      for (const result of results) {
        if (result.status === 'rejected') deps.log.error('A due row failed.', { error: String(result.reason) });
      }
      await Promise.all(failed.map((item) => putOff(deps, item, upTo)));
      after = page.next;
    } while (after !== undefined);
  }
};

/**
 * Where `tick` finds a wait. One whose message is on its way by itself has its mark behind its time: the tick comes to it only
 * when the message was lost, at most a minute late, and sends no second one into the second in which all are woken.
 */
export const waitMark = (executionId: string, until: number, now: number): Mark =>
  markAt('tick', executionId, until - now > MAX_DELAY_SECONDS * 1_000 ? until : until + TICK_HORIZON_MS);

const executionAt = async (deps: ExecutionDeps, found: Item): Promise<Execution | undefined> => {
  // Of a newer version: until one comes that knows it, it is put off.
  if (parseExecutionPk(found.pk) === undefined) throw new UnreadableRow(found, 'no such kind of row is due here.');
  const item = await deps.table.get({ pk: found.pk, sk: found.sk }, { consistent: true });
  return item && readExecution(item);
};

/** The mark has not moved since the index showed it. */
const seen = (execution: Execution) => and(eq(A.dueSk, execution.dueSk ?? ''), eq(A.duePk, execution.duePk ?? ''));

/**
 * Sends again what stood still. First the mark moves forward, conditionally and twice as far each time, so that a backlog
 * is not amplified; then the message goes out. Marks of anything that can still become RUNNING are kept.
 */
export const sweepExecution = async (deps: ExecutionDeps, found: Item): Promise<void> => {
  const execution = await executionAt(deps, found);
  if (execution === undefined || execution.dueSk === undefined) return;
  const now = deps.clock.now();
  if (due.at(execution.dueSk) > now) return;
  const key = { pk: found.pk, sk: found.sk };
  if (isTerminal(execution.status)) {
    await ifStill(() => deps.table.update(key, dropMark, seen(execution)));
    return;
  }
  const backoff = Math.min(LONGEST_BACKOFF_MS, (execution.dueBackoff ?? STALL_MS) * 2);
  const moved = await ifStill(() =>
    deps.table.update(
      key,
      [...setMark(markAt('sweep', execution.executionId, now + backoff)), set(A.dueBackoff, backoff)],
      seen(execution),
    ),
  );
  if (!moved || (execution.status !== 'RUNNING' && !isOverdue(execution, now))) return;
  deps.metrics.count('StalledChains');
  deps.log.warn('A chain stood still and was sent again.', { executionId: execution.executionId, seq: execution.seq });
  await send(deps, execution, delayUntil(execution, now));
};

const delayUntil = (execution: Execution, now: number): number =>
  Math.min(MAX_DELAY_SECONDS, Math.max(0, Math.ceil(((timeOf(execution) ?? now) - now) / 1000)));

/** When the next message of an execution is to be there. */
const timeOf = ({ status, waitUntil, notBefore }: Execution): number | undefined =>
  status === 'WAIT_STEP' ? waitUntil : notBefore;

/** Wakes a wait that was too long for `DelaySeconds`; the mark then guards the step like any other. */
export const tickExecution = async (deps: ExecutionDeps, found: Item): Promise<void> => {
  const execution = await executionAt(deps, found);
  if (execution === undefined || execution.dueSk === undefined) return;
  const now = deps.clock.now();
  // The index was behind: what it showed has come and gone.
  if (execution.duePk !== due.pkOf('tick', execution.executionId)) return;
  const key = { pk: found.pk, sk: found.sk };
  const moved = await ifStill(() => deps.table.update(key, afterTick(execution, now), seen(execution)));
  if (!moved || isFarOff(execution, now)) return;
  const waits = execution.status === 'WAIT_STEP' && execution.waitUntil !== undefined;
  if (execution.status === 'RUNNING' || waits) await send(deps, execution, delayUntil(execution, now));
};

/** The time of a wait may have changed since its mark was set. */
const isFarOff = (execution: Execution, now: number): boolean =>
  execution.status === 'WAIT_STEP' && (timeOf(execution) ?? now) > now + TICK_HORIZON_MS;

const afterTick = (execution: Execution, now: number): readonly Change[] => {
  if (isTerminal(execution.status)) return dropMark;
  const { executionId, waitUntil } = execution;
  if (isFarOff(execution, now) && waitUntil !== undefined) return setMark(markAt('tick', executionId, waitUntil));
  return setMark(stallMark(executionId, now + TICK_HORIZON_MS));
};
