import { ifAllStill, ifStill } from '../kernel/if-still.ts';
import type { Clock, Log, Queue } from '../kernel/ports.ts';
import { eq, type Table } from '../kernel/table.ts';
import { attentionWrites } from './attention.ts';
import { isSoon } from './mark.ts';
import type { FireMessage } from './message.ts';
import { type Schedule, scheduleItem } from './schedule.ts';

export interface ScheduleDeps {
  readonly table: Table;
  readonly clock: Clock;
  readonly log: Log;
  readonly fires: Queue<FireMessage>;
}

/** SQS `DelaySeconds`. */
const MOST_DELAY_SECONDS = 900;

/**
 * So early a message comes at least: a second in which the poller gathers a batch, a cold start and the reading lie before the
 * due second and not behind it.
 */
const EARLY_MS = 2_000;

/** Rounded down: who comes early waits for the rest of the second, who comes late is late. */
const delayUntil = (atMs: number, now: number): number =>
  Math.min(MOST_DELAY_SECONDS, Math.max(0, Math.floor((atMs - EARLY_MS - now) / 1000)));

export const sendFire = (deps: Pick<ScheduleDeps, 'fires'>, schedule: Schedule, now: number): Promise<void> => {
  const { orgId, id, nextAt } = schedule;
  const dueAt = nextAt === undefined ? {} : { dueAt: nextAt };
  return deps.fires.send(
    { orgId, scheduleId: id, ...dueAt },
    { delaySeconds: delayUntil(nextAt ?? now, now), tenant: orgId },
  );
};

/** Asks whether the queued occurrence may start. */
export const sendAsk = (deps: Pick<ScheduleDeps, 'fires'>, { orgId, id }: Schedule): Promise<void> =>
  deps.fires.send({ orgId, scheduleId: id }, { delaySeconds: 0, tenant: orgId });

/**
 * Sends what belongs to a row that was just written. It stands already, so that a failure here fails nothing: the mark
 * finds the occurrence.
 */
export const announce = async (
  deps: Pick<ScheduleDeps, 'fires' | 'log'>,
  schedule: Schedule,
  now: number,
  asked = false,
): Promise<void> => {
  if (schedule.state !== 'ACTIVE') return;
  try {
    if (asked && schedule.pending !== undefined) await sendAsk(deps, schedule);
    if (isSoon(schedule, now)) await sendFire(deps, schedule, now);
  } catch (error) {
    deps.log.warn('A schedule could not be woken; the tick will.', { scheduleId: schedule.id, error: String(error) });
  }
};

/** Nobody has changed the row since it was read. */
export const asRead = (seen: Schedule) => eq('version', seen.version);

/** The row after a change: the next version. */
export const changed = (schedule: Schedule, seen: Schedule, now: number): Schedule => ({
  ...schedule,
  version: seen.version + 1,
  updatedAt: new Date(now).toISOString(),
});

/** False when somebody else changed it meanwhile. With its reason its attention item comes and goes. */
export const replace = async (deps: Pick<ScheduleDeps, 'table'>, seen: Schedule, after: Schedule): Promise<boolean> => {
  const beside = attentionWrites(seen, after);
  if (beside.length === 0) return ifStill(() => deps.table.put(scheduleItem(after), asRead(seen)));
  return ifAllStill(deps.table, [{ put: scheduleItem(after), if: asRead(seen) }, ...beside]);
};
