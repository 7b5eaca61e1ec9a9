/** What people may say about when a schedule is due, checked with a sentence for each mistake. */
import { badRequest, type FieldError } from '../kernel/errors.ts';
import { isTime, TIME_SPAN } from '../kernel/time.ts';
import { parseEvery } from './every.ts';
import { GRACE_MS } from './judge.ts';
import { checkCron, isTimezone, nextAfter, TIMEZONE_FORM, type Timing } from './timing.ts';

export interface TimingFields {
  /** Ms. */
  readonly startAt: number;
  readonly every?: string | undefined;
  readonly cron?: string | undefined;
  readonly timezone: string;
  /** Ms. */
  readonly expiresAt?: number | undefined;
}

const shown = (text: string): string => `"${text.slice(0, 60)}"`;

const wrong = (field: string, received: string, expected: string): FieldError => ({ field, received, expected });

const refuse = (errors: readonly FieldError[]): Error =>
  badRequest(
    `The schedule does not fit: ${errors.map(({ field, expected }) => `${field}: expected ${expected}`).join('; ')}.`,
    errors,
    'invalid_schedule',
  );

/**
 * The timing as it is stored.
 * @throws AppError 400 `invalid_schedule` naming each field
 */
export const checkTiming = (given: TimingFields): Timing => {
  const { startAt, every, cron, timezone, expiresAt } = given;
  for (const [field, at] of [['startAt', startAt] as const, ['expiresAt', expiresAt] as const]) {
    if (at !== undefined && !isTime(at)) throw refuse([wrong(field, `${at} ms since 1970`, TIME_SPAN)]);
  }
  if (every !== undefined && cron !== undefined) {
    throw refuse([wrong('cron', shown(cron), 'either every or cron, not both')]);
  }
  if (!isTimezone(timezone)) {
    throw refuse([wrong('timezone', shown(timezone), TIMEZONE_FORM)]);
  }
  if (every !== undefined) {
    const parsed = parseEvery(every);
    if (!parsed.ok) throw refuse([wrong('every', shown(every), parsed.problem)]);
    return { startAt, every: every.trim(), timezone };
  }
  if (cron === undefined) return { startAt, timezone };
  const parsed = checkCron(cron, timezone);
  if (!parsed.ok) throw refuse([wrong('cron', shown(cron), parsed.problem)]);
  return { startAt, cron: parsed.value, timezone };
};

/** Croner reckons up to the year 3000, and a series by interval ends with the year 9999. */
const whyNever = ({ every, cron }: Timing): string => {
  if (cron !== undefined) return 'a time before 3000 after which cron is due; it is reckoned up to then';
  if (every !== undefined) return 'a time from which something is due before the year 10000';
  return 'a time to come, for there is neither every nor cron';
};

/**
 * The last of a schedule that is there already.
 * @throws AppError 400
 */
export const checkExpiry = (expiresAt: number | null | undefined, seen: number | undefined, now: number): void => {
  if (expiresAt === undefined || expiresAt === null || expiresAt === seen || expiresAt > now) return;
  throw refuse([wrong('expiresAt', new Date(expiresAt).toISOString(), 'a time to come; to end it now, delete it')]);
};

/**
 * The first due time of a series that begins now: its `startAt`, where that has not been missed.
 * @throws AppError 400 when there is none
 */
export const firstFire = (timing: Timing, expiresAt: number | undefined, now: number): number => {
  const first = nextAfter(timing, timing.startAt >= now - GRACE_MS ? timing.startAt - 1 : now);
  if (first === undefined) {
    const received = new Date(timing.startAt).toISOString();
    throw refuse([wrong('startAt', received, whyNever(timing))]);
  }
  if (expiresAt !== undefined && first >= expiresAt) {
    const expected = `a time after the first fire at ${new Date(first).toISOString()}`;
    throw refuse([wrong('expiresAt', new Date(expiresAt).toISOString(), expected)]);
  }
  return first;
};
