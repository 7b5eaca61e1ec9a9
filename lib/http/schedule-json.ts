import * as z from 'zod';
import { MISFIRES, OUTCOMES, OVERLAPS, type Schedule, STATES } from '../schedule/schedule.ts';

const time = z.iso.datetime();
const count = z.int().min(0);

export const scheduleView = z
  .object({
    id: z.string(),
    agentId: z.string(),
    state: z.enum(STATES),
    reason: z
      .object({ code: z.string(), message: z.string() })
      .optional()
      .describe('Why it stopped by itself: mend it, then resume. agent_deleted: nothing starts any more.'),
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
    nextAt: time.optional().describe('Absent when nothing follows.'),
    runs: count.describe('Runs that were started.'),
    currentExecutionId: z.string().optional().describe('The run that was started last.'),
    pendingSince: time.optional().describe('Due time of the occurrence that waits for the end of the current run.'),
    lastFire: z
      .object({ dueAt: time, at: time, outcome: z.enum(OUTCOMES), executionId: z.string().optional() })
      .optional(),
    createdAt: time,
    createdBy: z.string(),
    updatedAt: time,
  })
  .meta({ id: 'Schedule' });

const iso = (ms: number): string => new Date(ms).toISOString();
const isoOr = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : iso(ms));

/** As `scheduleView` lets it out. */
export const scheduleJson = (schedule: Schedule): z.input<typeof scheduleView> => {
  const { startAt, expiresAt, nextAt, current, pending, lastFire, ...rest } = schedule;
  return {
    ...rest,
    startAt: iso(startAt),
    expiresAt: isoOr(expiresAt),
    nextAt: isoOr(nextAt),
    currentExecutionId: current,
    pendingSince: isoOr(pending),
    lastFire: lastFire && { ...lastFire, dueAt: iso(lastFire.dueAt), at: iso(lastFire.at) },
  };
};
