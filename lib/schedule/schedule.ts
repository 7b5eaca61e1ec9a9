import * as z from 'zod';
import { time } from '../execution/row-fields.ts';
import { notFound } from '../kernel/errors.ts';
import { isId } from '../kernel/ids.ts';
import { due, keys, owner } from '../kernel/keys.ts';
import type { Item, Table, Value } from '../kernel/table.ts';
import { makeRow, readRow } from '../tenancy/row.ts';

export const STATES = ['ACTIVE', 'PAUSED', 'COMPLETED', 'DELETED'] as const;
/** What happens to an occurrence while an earlier run is still going. */
export const OVERLAPS = ['skip', 'allow', 'queue'] as const;
/** What happens to occurrences that are more than a minute late: one run for all of them, or none. */
export const MISFIRES = ['fire-once', 'skip'] as const;
/**
 * `started` a run; `queued` behind the run that goes on; `skipped` for that run, or for the one that is queued already;
 * `missed` by more than the grace; `expired` before it could start.
 */
export const OUTCOMES = ['started', 'queued', 'skipped', 'missed', 'expired'] as const;
export type Outcome = (typeof OUTCOMES)[number];

const count = z.int().min(0);

const rowSchema = z.object({
  id: z.string(),
  orgId: z.string(),
  agentId: z.string(),
  /** Rises with every change of the row but that of its mark: the guard of all that is decided by what was read. */
  version: count,
  state: z.enum(STATES),
  /** Why it was paused by itself, and when: a person mends it and resumes. Its attention item is known by `at`. */
  reason: z.object({ code: z.string(), message: z.string(), at: time.optional() }).optional(),
  startAt: time,
  every: z.string().optional(),
  cron: z.string().optional(),
  timezone: z.string(),
  expiresAt: time.optional(),
  maxRuns: count.optional(),
  overlap: z.enum(OVERLAPS),
  misfire: z.enum(MISFIRES),
  goals: z.array(z.string()).optional(),
  instructions: z.array(z.string()).optional(),
  /** Due time of the next occurrence; missing when none follows. */
  nextAt: time.optional(),
  /** Runs that were started. */
  runs: count,
  /** The run that was started last. */
  current: z.string().optional(),
  /** Due time of the occurrence that waits for the end of the current run. */
  pending: time.optional(),
  lastFire: z
    .object({ dueAt: time, at: time, outcome: z.enum(OUTCOMES), executionId: z.string().optional() })
    .optional(),
  createdAt: z.iso.datetime(),
  createdBy: z.string(),
  updatedAt: z.iso.datetime(),
  dueSk: z.string().optional(),
  /** How far the tick moved the mark of one that did not move, ms. */
  backoff: count.optional(),
});
export type Schedule = z.output<typeof rowSchema>;

/** @throws UnreadableRow */
export const readSchedule = (item: Item): Schedule => readRow(rowSchema, item);

/** Of a deleted schedule the row leaves the list; its mark is gone too. */
export const scheduleItem = (schedule: Schedule): Item => {
  const { dueSk, ...rest } = schedule;
  const marked = dueSk === undefined ? {} : { duePk: due.pkOf('tick', schedule.id), dueSk };
  const listed = schedule.state === 'DELETED' ? {} : { ownerPk: owner.schedules(schedule.orgId), ownerSk: schedule.id };
  const attributes: { readonly [name: string]: Value | undefined } = {
    ...rest,
    lastFire: fireValue(schedule),
    reason: reasonValue(schedule),
  };
  return makeRow(keys.schedule(schedule.orgId, schedule.id), { ...attributes, ...marked, ...listed });
};

/** Nested values hold no `undefined` either. */
const fireValue = ({ lastFire }: Schedule): Value | undefined => {
  if (lastFire === undefined) return undefined;
  const { executionId, ...rest } = lastFire;
  return executionId === undefined ? rest : { ...rest, executionId };
};

const reasonValue = ({ reason }: Schedule): Value | undefined => {
  if (reason === undefined) return undefined;
  const { at, ...rest } = reason;
  return at === undefined ? rest : { ...rest, at };
};

export interface ScheduleAt {
  readonly orgId: string;
  readonly scheduleId: string;
}

/** Deleted ones too. `undefined` when there never was one. @throws UnreadableRow */
export const findSchedule = async (table: Table, at: ScheduleAt): Promise<Schedule | undefined> => {
  if (!isId('sch', at.scheduleId)) return undefined;
  const item = await table.get(keys.schedule(at.orgId, at.scheduleId), { consistent: true });
  return item && readSchedule(item);
};

/** @throws AppError 404, also for a deleted one */
export const getSchedule = async (table: Table, at: ScheduleAt): Promise<Schedule> => {
  const found = await findSchedule(table, at);
  if (found === undefined || found.state === 'DELETED') throw notFound('schedule');
  return found;
};
