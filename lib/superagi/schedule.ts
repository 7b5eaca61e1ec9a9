/** The one schedule that an agent has in SuperAGI's API. */
import * as z from 'zod';
import { AppError, badRequest } from '../kernel/errors.ts';
import type { Ids } from '../kernel/ids.ts';
import { keys } from '../kernel/keys.ts';
import { type Condition, eq, missing, type Table, TransactionRefused, type Write } from '../kernel/table.ts';
import { isTime, TIME_SPAN } from '../kernel/time.ts';
import type { ScheduleDeps } from '../schedule/announce.ts';
import { patchSchedule } from '../schedule/change-schedule.ts';
import { createSchedule, draftSchedule } from '../schedule/create-schedule.ts';
import { findSchedule, type Schedule } from '../schedule/schedule.ts';
import { wallTime } from '../schedule/wall-time.ts';
import { makeRow, readRow } from '../tenancy/row.ts';
import type { GivenSchedule } from './wire.ts';

const pointerSchema = z.object({ scheduleId: z.string() });

/** Two requests at once may both find none. */
const MAX_TRIES = 4;

/** Numbers beyond it are milliseconds, as its server reads them. */
const MOST_SECONDS = 2e10;

const momentOf = (given: string | number, field: string, timezone: string): number => {
  const number = typeof given === 'number' ? given : /^\d+(\.\d+)?$/.test(given.trim()) ? Number(given) : undefined;
  const at =
    number === undefined
      ? wallTime(String(given), timezone)
      : Math.round(number > MOST_SECONDS ? number : number * 1000);
  if (at !== undefined && isTime(at)) return at;
  const received = typeof given === 'number' ? `number ${given}` : `"${given.slice(0, 60)}"`;
  const form = 'a date and time such as 2026-03-01T09:00:00Z or "2026-03-01 09:00:00"';
  const expected = at === undefined ? form : TIME_SPAN;
  throw badRequest(`${field}: received ${received}, expected ${expected}.`, [{ field, received, expected }]);
};

/** Its words in Baton's. @param timezone one that there is @throws AppError 400 naming the field */
const timingOf = (given: GivenSchedule, timezone: string) => {
  const { start_time, recurrence_interval, expiry_date, expiry_runs } = given;
  return {
    startAt: momentOf(start_time, 'schedule.start_time', timezone),
    every: recurrence_interval?.trim() || undefined,
    expiresAt: expiry_date == null ? undefined : momentOf(expiry_date, 'schedule.expiry_date', timezone),
    maxRuns: expiry_runs == null || expiry_runs === -1 ? undefined : expiry_runs,
    timezone,
  };
};

const FIELDS: readonly (readonly [RegExp, string])[] = [
  [/\bstartAt:/g, 'schedule.start_time:'],
  [/\bevery:/g, 'schedule.recurrence_interval:'],
  [/\bexpiresAt:/g, 'schedule.expiry_date:'],
  [/\bneither every nor cron\b/g, 'no recurrence_interval'],
];

/** A refusal speaks of the fields that the caller sent. */
const inItsWords = async <T>(make: () => Promise<T> | T): Promise<T> => {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_schedule') throw error;
    const message = FIELDS.reduce((text, [ours, its]) => text.replace(ours, its), error.message);
    throw new AppError(error.status, error.code, message, error.details, error);
  }
};

interface Whose {
  readonly orgId: string;
  readonly agentId: string;
  /** Id of the key. */
  readonly actor: string;
}

/** As it would begin; for an agent that is made with it, and for a check before anything is written. @throws AppError 400 */
export const draftFor = (
  deps: { readonly ids: Ids },
  whose: Whose,
  given: GivenSchedule,
  timezone: string,
  now: number,
): Promise<Schedule> => inItsWords(() => draftSchedule(deps.ids, { ...whose, ...timingOf(given, timezone) }, now));

/** Which schedule is the agent's. */
export const pointerWrite = (
  { orgId, agentId }: Pick<Whose, 'orgId' | 'agentId'>,
  scheduleId: string,
  guard: Condition,
): Write => ({
  put: makeRow(keys.agentSchedule(orgId, agentId), { scheduleId }),
  if: guard,
});

const pointerOf = async (table: Table, orgId: string, agentId: string): Promise<string | undefined> => {
  const item = await table.get(keys.agentSchedule(orgId, agentId), { consistent: true });
  return item && readRow(pointerSchema, item).scheduleId;
};

/** The agent's schedule while it has something to come; one that ended or was deleted is none. */
export const liveSchedule = async (table: Table, orgId: string, agentId: string): Promise<Schedule | undefined> => {
  const scheduleId = await pointerOf(table, orgId, agentId);
  const found = scheduleId === undefined ? undefined : await findSchedule(table, { orgId, scheduleId });
  return found?.state === 'ACTIVE' || found?.state === 'PAUSED' ? found : undefined;
};

/** Somebody else gave it one, or deleted the one it had. */
const movedMeanwhile = (error: unknown, seen: Schedule | undefined): boolean =>
  seen === undefined ? error instanceof TransactionRefused : error instanceof AppError && error.status === 404;

/**
 * Gives the agent this schedule: the one it has is changed; where it has none, or one that has ended, a new one is made.
 * A repeat changes nothing more.
 * @throws AppError 404 for the agent; 400 naming the field
 */
export const setSchedule = (
  deps: ScheduleDeps & { readonly ids: Ids },
  whose: Whose,
  given: GivenSchedule,
  timezone: string,
): Promise<Schedule> =>
  inItsWords(async () => {
    const timing = timingOf(given, timezone);
    for (let attempt = 1; ; attempt++) {
      const pointer = await pointerOf(deps.table, whose.orgId, whose.agentId);
      const seen = await liveSchedule(deps.table, whose.orgId, whose.agentId);
      try {
        if (seen !== undefined) {
          const { every = null, expiresAt = null, maxRuns = null } = timing;
          const at = { orgId: whose.orgId, actor: whose.actor, scheduleId: seen.id };
          return await patchSchedule(deps, at, { ...timing, every, cron: null, expiresAt, maxRuns });
        }
        const still = pointer === undefined ? missing('pk') : eq('scheduleId', pointer);
        return await createSchedule(deps, {
          ...whose,
          ...timing,
          alongside: ({ id }) => [pointerWrite(whose, id, still)],
        });
      } catch (error) {
        if (!movedMeanwhile(error, seen) || attempt === MAX_TRIES) throw error;
      }
    }
  });
