import { closeAttention } from '../attention/attention.ts';
import { AppError } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import { and, type Condition, eq, exists, type Item, TransactionRefused } from '../kernel/table.ts';
import { isTime } from '../kernel/time.ts';
import type { ScheduleDeps } from './announce.ts';
import { stopCause } from './attention.ts';
import type { Command } from './change-schedule.ts';
import { type Schedule, scheduleItem } from './schedule.ts';

const textOr = (value: unknown, other: string): string => (typeof value === 'string' ? value : other);

/** A readable gravestone: what else the row held goes with it. The end of a run may still raise its version. */
const gravestone = (item: Item, { orgId, scheduleId, actor }: Command, now: number): Schedule => {
  const at = new Date(now).toISOString();
  const version = Number.isSafeInteger(item.version) ? Number(item.version) : 0;
  return {
    id: scheduleId,
    orgId,
    agentId: textOr(item.agentId, ''),
    version: Math.max(0, version) + 1,
    state: 'DELETED',
    startAt: 0,
    timezone: 'UTC',
    overlap: 'skip',
    misfire: 'fire-once',
    runs: 0,
    createdAt: at,
    createdBy: textOr(item.createdBy, actor),
    updatedAt: at,
  };
};

/** When it stopped by itself, where its row says so. */
const stoppedAt = ({ reason }: Item): number | undefined => {
  const at = typeof reason === 'object' && reason !== null && !Array.isArray(reason) ? reason.at : undefined;
  return typeof at === 'number' && isTime(at) ? at : undefined;
};

/** Nobody has decided anything about it since it was read. */
const asFound = ({ version }: Item): Condition =>
  typeof version === 'number' ? and(exists('pk'), eq('version', version)) : exists('pk');

/** The end of a run raises the version, and may come in between. */
const MAX_TRIES = 8;

/**
 * A person must be able to get rid of a row that nobody can read, of a newer version or damaged: a gravestone takes its
 * place, so that its mark, its place in lists and its attention item are gone.
 * @throws AppError 503 when the row moved at each try
 */
export const deleteUnreadable = async (
  deps: Pick<ScheduleDeps, 'table' | 'clock' | 'log'>,
  at: Command,
): Promise<void> => {
  const { orgId, scheduleId } = at;
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const item = await deps.table.get(keys.schedule(orgId, scheduleId), { consistent: true });
    if (item === undefined) return;
    const stopped = stoppedAt(item);
    const put = scheduleItem(gravestone(item, at, deps.clock.now()));
    try {
      await deps.table.transact([
        { put, if: asFound(item) },
        ...(stopped === undefined ? [] : [closeAttention(stopCause({ orgId, id: scheduleId }, stopped))]),
      ]);
      deps.log.warn('A schedule that could not be read was deleted.', { scheduleId });
      return;
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
    }
  }
  throw new AppError(503, 'busy', 'The schedule changed each time it was read: try again in a moment.', {
    retryAfter: 1,
  });
};
