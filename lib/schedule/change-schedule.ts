/** What people do to a schedule. Each command is one write of the version that it has read. */
import { getAgent, pinnedConfig } from '../agent/agent.ts';
import { NotYet } from '../execution/step/deps.ts';
import { AppError, conflict, notFound, UnreadableRow } from '../kernel/errors.ts';
import { demandAgent } from './agent-gone.ts';
import { announce, changed, replace, type ScheduleDeps } from './announce.ts';
import { overridesOf } from './create-schedule.ts';
import { deleteUnreadable } from './delete-unreadable.ts';
import { checkExpiry, checkTiming, firstFire } from './fields.ts';
import { ended } from './judge.ts';
import { markTimeWhenAsked, withMark } from './mark.ts';
import { findSchedule, getSchedule, type Schedule, type ScheduleAt } from './schedule.ts';
import { nextAfter, type Timing } from './timing.ts';

/** `actor` is the id of the key that does it. */
export interface Command extends ScheduleAt {
  readonly actor: string;
}

/** Races with fires and ends of runs: each loser reads again and judges anew. */
const MAX_TRIES = 8;

const BUSY = 'The schedule changed each time it was read: try again in a moment.';

/** Reads, judges, writes; then what is soon, or queued, is woken. */
const command = async (
  deps: ScheduleDeps,
  at: Command,
  judge: (seen: Schedule, now: number) => Promise<Schedule> | Schedule,
): Promise<Schedule> => {
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const seen = await getSchedule(deps.table, at);
    const now = deps.clock.now();
    const judged = changed(await judge(seen, now), seen, now);
    const after = withMark(judged, markTimeWhenAsked(judged, now));
    if (!(await replace(deps, seen, after))) continue;
    await announce(deps, after, now, true);
    return after;
  }
  throw new AppError(503, 'busy', BUSY, { retryAfter: 1 }, new NotYet(BUSY));
};

export interface ScheduleChanges {
  readonly startAt?: number | undefined;
  /** `null` takes it away; `every` takes the place of `cron`, and the other way round. */
  readonly every?: string | null | undefined;
  readonly cron?: string | null | undefined;
  readonly timezone?: string | undefined;
  readonly expiresAt?: number | null | undefined;
  readonly maxRuns?: number | null | undefined;
  readonly overlap?: Schedule['overlap'] | undefined;
  readonly misfire?: Schedule['misfire'] | undefined;
  readonly goals?: readonly string[] | null | undefined;
  readonly instructions?: readonly string[] | null | undefined;
}

const either = <T>(given: T | null | undefined, kept: T | undefined): T | undefined =>
  given === undefined ? kept : (given ?? undefined);

const timingOf = (seen: Schedule, changes: ScheduleChanges): Timing => {
  const every = either(changes.every, changes.cron ? undefined : seen.every);
  const cron = either(changes.cron, changes.every ? undefined : seen.cron);
  const { startAt = seen.startAt, timezone = seen.timezone } = changes;
  return checkTiming({ startAt, every, cron, timezone, expiresAt: changes.expiresAt ?? undefined });
};

/** Of one that ended the series goes on; of others only a new series has another next time. */
const nextOf = (seen: Schedule, timing: Timing, expiresAt: number | undefined, now: number): number | undefined => {
  if (timing.startAt !== seen.startAt) return firstFire(timing, expiresAt, now);
  const same = timing.every === seen.every && timing.cron === seen.cron && timing.timezone === seen.timezone;
  return same && seen.state !== 'COMPLETED' ? seen.nextAt : nextAfter(timing, now);
};

/**
 * Changes what is given and reckons anew when it is due. One that has ended lives again if something follows.
 * One that stopped by itself stays paused, as if a person had paused it.
 * @throws AppError 404; 400 naming the field; 409 when the agent is gone
 */
export const patchSchedule = (deps: ScheduleDeps, at: Command, changes: ScheduleChanges): Promise<Schedule> =>
  command(deps, at, async (seen, now) => {
    await demandAgent(deps.table, seen);
    const expiresAt = either(changes.expiresAt, seen.expiresAt);
    const timing = timingOf(seen, changes);
    checkExpiry(changes.expiresAt, seen.expiresAt, now);
    const goals = either(changes.goals, seen.goals);
    const instructions = either(changes.instructions, seen.instructions);
    if (changes.goals || changes.instructions) {
      pinnedConfig(await getAgent(deps.table, at.orgId, seen.agentId), overridesOf({ goals, instructions }));
    }
    return ended({
      ...seen,
      every: undefined,
      cron: undefined,
      ...timing,
      expiresAt,
      maxRuns: either(changes.maxRuns, seen.maxRuns),
      overlap: changes.overlap ?? seen.overlap,
      misfire: changes.misfire ?? seen.misfire,
      goals: goals && [...goals],
      instructions: instructions && [...instructions],
      nextAt: nextOf(seen, timing, expiresAt, now),
      state: seen.state === 'PAUSED' ? 'PAUSED' : 'ACTIVE',
      // Whoever changes one that stopped by itself has taken it over.
      reason: undefined,
    });
  });

const illegal = (from: Schedule['state'], verb: string, to: string, only: string): Error =>
  conflict(
    'illegal_transition',
    `The schedule is ${from}: ${verb} would make it ${to}, which is only possible from ${only}.`,
    { from, to },
  );

/** @throws AppError 404; 409 naming both states */
export const pauseSchedule = (deps: ScheduleDeps, at: Command): Promise<Schedule> =>
  command(deps, at, (seen) => {
    if (seen.state !== 'ACTIVE') throw illegal(seen.state, 'pause', 'PAUSED', 'ACTIVE');
    return { ...seen, state: 'PAUSED' };
  });

/**
 * What was due meanwhile is late: `misfire` says what becomes of it.
 * @throws AppError 404; 409 naming both states, or when the agent is gone
 */
export const resumeSchedule = (deps: ScheduleDeps, at: Command): Promise<Schedule> =>
  command(deps, at, async (seen) => {
    if (seen.state !== 'PAUSED') throw illegal(seen.state, 'resume', 'ACTIVE', 'PAUSED');
    await demandAgent(deps.table, seen);
    return { ...seen, state: 'ACTIVE', reason: undefined };
  });

/**
 * Softly: a run that goes on is not touched. A repeat does no harm. One that cannot be read goes too.
 * @throws AppError 404 when there never was one
 */
export const deleteSchedule = async (deps: ScheduleDeps, at: Command): Promise<void> => {
  try {
    const gone = { state: 'DELETED', nextAt: undefined, pending: undefined, reason: undefined } as const;
    await command(deps, at, (seen) => ({ ...seen, ...gone }));
  } catch (error) {
    if (error instanceof UnreadableRow) return deleteUnreadable(deps, at);
    if (!(error instanceof AppError) || error.status !== 404) throw error;
    if ((await findSchedule(deps.table, at)) === undefined) throw notFound('schedule');
  }
};
