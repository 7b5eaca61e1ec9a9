/** What people may say about when a schedule is due, checked with a sentence for each mistake. */
import { badRequest, type FieldError } from '../kernel/errors.ts';
import { parseEvery } from './every.ts';
import { GRACE_MS } from './judge.ts';
import { checkCron, isTimezone, nextAfter, type Timing } from './timing.ts';

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
  const { startAt, every, cron, timezone } = given;
  if (every !== undefined && cron !== undefined) {
    throw refuse([wrong('cron', shown(cron), 'either every or cron, not both')]);
  }
  if (!isTimezone(timezone)) {
    throw refuse([wrong('timezone', shown(timezone), 'an IANA time zone such as Europe/Berlin')]);
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

/**
 * The first due time of a series that begins now: its `startAt`, where that has not been missed.
 * @throws AppError 400 when there is none
 */
export const firstFire = (timing: Timing, expiresAt: number | undefined, now: number): number => {
  const first = nextAfter(timing, timing.startAt >= now - GRACE_MS ? timing.startAt - 1 : now);
  if (first === undefined) {
    const received = new Date(timing.startAt).toISOString();
    throw refuse([wrong('startAt', received, 'a time to come, for there is neither every nor cron')]);
  }
  if (expiresAt !== undefined && first >= expiresAt) {
    const expected = `a time after the first fire at ${new Date(first).toISOString()}`;
    throw refuse([wrong('expiresAt', new Date(expiresAt).toISOString(), expected)]);
  }
  return first;
};
