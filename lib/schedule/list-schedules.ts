import { owner } from '../kernel/keys.ts';
import type { Log } from '../kernel/ports.ts';
import type { Table } from '../kernel/table.ts';
import { type Listed, listRows, type PageRequest } from '../tenancy/list-rows.ts';
import { readSchedule, type Schedule } from './schedule.ts';
import { upcoming } from './timing.ts';

/** Newest first, without deleted ones. The index follows the table within moments. */
export const listSchedules = (
  deps: { readonly table: Table; readonly log: Log },
  orgId: string,
  filter: { readonly agentId?: string | undefined },
  page: PageRequest,
): Promise<Listed<Schedule>> =>
  listRows(
    {
      table: deps.table,
      log: deps.log,
      pk: owner.schedules(orgId),
      index: 'byOwner',
      read: (item) => {
        const schedule = readSchedule(item);
        const wanted = filter.agentId === undefined || schedule.agentId === filter.agentId;
        return schedule.state !== 'DELETED' && wanted ? schedule : undefined;
      },
    },
    page,
  );

/** The next due times to come, as they stand now; of a paused one those that a resume would find. */
export const nextFires = (schedule: Schedule, now: number, count: number): readonly number[] => {
  const { nextAt, maxRuns, runs, pending, expiresAt } = schedule;
  if (nextAt === undefined) return [];
  const left = maxRuns === undefined ? count : Math.max(0, maxRuns - runs - (pending === undefined ? 0 : 1));
  return upcoming(schedule, nextAt > now ? nextAt - 1 : now, Math.min(count, left), expiresAt);
};
