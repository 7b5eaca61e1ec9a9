/** What a schedule does now: pure. */
import type { Outcome, Schedule } from './schedule.ts';
import { latestUpTo, nextAfter } from './timing.ts';

/** So late is still in time: a busy queue, a lost message. */
export const GRACE_MS = 60_000;

export type Decision =
  | { readonly do: 'rest' }
  /** The occurrence is done with, without a run. */
  | {
      readonly do: 'pass';
      readonly dueAt: number;
      readonly outcome: Exclude<Outcome, 'started'>;
      readonly after: Schedule;
    }
  /**
   * `after` is the row as it stands once the run has begun; who starts it writes both. `passed`: as it stands where that
   * run had begun already.
   */
  | { readonly do: 'start'; readonly dueAt: number; readonly after: Schedule; readonly passed: Schedule };

/** Ends where nothing can follow any more. */
export const ended = (schedule: Schedule): Schedule => {
  const spent = schedule.maxRuns !== undefined && schedule.runs >= schedule.maxRuns;
  const over =
    schedule.nextAt !== undefined && schedule.expiresAt !== undefined && schedule.nextAt >= schedule.expiresAt;
  const nextAt = spent || over ? undefined : schedule.nextAt;
  const pending = spent ? undefined : schedule.pending;
  const state = nextAt === undefined && pending === undefined ? 'COMPLETED' : schedule.state;
  return { ...schedule, nextAt, pending, state };
};

/** Nothing begins after `expiresAt`, but for what was due before it and is late by no more than the grace. */
const tooLate = ({ expiresAt }: Schedule, dueAt: number, now: number): boolean =>
  expiresAt !== undefined && now >= expiresAt && (dueAt >= expiresAt || now - dueAt > GRACE_MS);

const noted = (schedule: Schedule, dueAt: number, outcome: Outcome, now: number): Schedule => ({
  ...schedule,
  lastFire: { dueAt, at: now, outcome },
});

const started = (schedule: Schedule, dueAt: number, now: number): Decision => {
  const one = noted(schedule, dueAt, 'started', now);
  return { do: 'start', dueAt, after: ended({ ...one, runs: one.runs + 1 }), passed: ended(one) };
};

const passed = (schedule: Schedule, dueAt: number, outcome: Exclude<Outcome, 'started'>, now: number): Decision => ({
  do: 'pass',
  dueAt,
  outcome,
  after: ended(noted(schedule, dueAt, outcome, now)),
});

/** The occurrence that stands for all that are due, and what follows it. */
const occurrenceOf = (schedule: Schedule, nextAt: number, now: number) => {
  const late = now - nextAt > GRACE_MS;
  const dueAt = late ? Math.max(nextAt, latestUpTo(schedule, now) ?? nextAt) : nextAt;
  return { late, dueAt, after: { ...schedule, nextAt: nextAfter(schedule, dueAt) } };
};

/**
 * @param goesOn whether the run that was started last counts as running; asked only where it matters
 */
export const judge = (schedule: Schedule, now: number, goesOn: boolean): Decision => {
  const { state, pending, nextAt, overlap, misfire } = schedule;
  if (state !== 'ACTIVE') return { do: 'rest' };
  const blocked = goesOn && overlap !== 'allow';
  if (pending !== undefined && !blocked) {
    const without = { ...schedule, pending: undefined };
    return tooLate(schedule, pending, now) ? passed(without, pending, 'expired', now) : started(without, pending, now);
  }
  if (nextAt === undefined || nextAt > now) return { do: 'rest' };
  const { late, dueAt, after } = occurrenceOf(schedule, nextAt, now);
  if (tooLate(schedule, dueAt, now)) return passed({ ...after, nextAt: undefined }, dueAt, 'expired', now);
  if (late && misfire === 'skip' && now - dueAt > GRACE_MS) return passed(after, dueAt, 'missed', now);
  if (!blocked) return started(after, dueAt, now);
  if (overlap === 'queue' && pending === undefined && mayQueue(schedule)) {
    return passed({ ...after, pending: dueAt }, dueAt, 'queued', now);
  }
  return passed(after, dueAt, 'skipped', now);
};

/** The queued one is a run to come and counts. */
const mayQueue = ({ runs, maxRuns }: Schedule): boolean => maxRuns === undefined || runs < maxRuns;

/** True when the decision depends on whether the last run goes on. */
export const asksForRun = ({ state, overlap, current, pending, nextAt }: Schedule, now: number): boolean =>
  state === 'ACTIVE' &&
  overlap !== 'allow' &&
  current !== undefined &&
  (pending !== undefined || (nextAt !== undefined && nextAt <= now));
