/** Intervals: an ISO 8601 duration, or the words of SuperAGI. */
import { DateTime, Duration } from 'luxon';

/** A distance between two occurrences; whole and positive. Weeks to years are of the calendar, hours to seconds are exact. */
export interface Interval {
  readonly years: number;
  readonly months: number;
  readonly weeks: number;
  readonly days: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
}

/** `problem` is what was expected, as a sentence for the caller. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

const UNITS = ['years', 'months', 'weeks', 'days', 'hours', 'minutes', 'seconds'] as const;
const ISO = /^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;
const WORDS = /^(\d+) (minute|hour|day|week|month)s?$/i;
const NONE: Interval = { years: 0, months: 0, weeks: 0, days: 0, hours: 0, minutes: 0, seconds: 0 };

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** The tick comes once a minute. */
const SHORTEST_MS = MINUTE_MS;
const LONGEST_MS = 10 * 366 * DAY_MS;
/** More digits are no number of anything, and would not be safe integers in milliseconds. */
const MOST_DIGITS = 9;

const FORMS =
  'an ISO 8601 duration such as PT15M, P1D or P1M, or "N Minutes", "N Hours", "N Days", "N Weeks" or "N Months"';

/** Average length, good enough to find an occurrence's number within a few. */
export const aboutMs = (interval: Interval): number =>
  interval.years * 365.2425 * DAY_MS +
  interval.months * 30.436875 * DAY_MS +
  (interval.weeks * 7 + interval.days) * DAY_MS +
  interval.hours * 3_600_000 +
  interval.minutes * MINUTE_MS +
  interval.seconds * 1_000;

/** True when no part of it depends on a calendar. */
export const isExact = ({ years, months, weeks, days }: Interval): boolean => years + months + weeks + days === 0;

const read = (text: string): Interval | undefined => {
  const words = WORDS.exec(text);
  if (words !== null) {
    const count = Number(words[1]);
    const unit = `${words[2]?.toLowerCase()}s`;
    // SuperAGI's month has thirty days.
    return unit === 'months' ? { ...NONE, days: 30 * count } : { ...NONE, [unit]: count };
  }
  const iso = ISO.exec(text);
  if (iso === null) return undefined;
  const parts = UNITS.map((unit, index) => [unit, Number(iso[index + 1] ?? 0)] as const);
  return { ...NONE, ...Object.fromEntries(parts) };
};

export const parseEvery = (given: string): Parsed<Interval> => {
  const text = given.trim();
  const digits = Math.max(0, ...(text.match(/\d+/g) ?? []).map((number) => number.length));
  const interval = text.length <= 100 && digits <= MOST_DIGITS ? read(text) : undefined;
  if (interval === undefined) return { ok: false, problem: `${FORMS}, in whole numbers` };
  const length = aboutMs(interval);
  if (length === 0) return { ok: false, problem: 'a duration longer than nothing' };
  if (length < SHORTEST_MS) return { ok: false, problem: 'at least one minute' };
  if (length > LONGEST_MS) return { ok: false, problem: 'at most ten years' };
  return { ok: true, value: interval };
};

/**
 * Occurrence `k` of a series, always reckoned from its anchor so that nothing drifts: the 31st of January and every month
 * is the 28th of February and then the 31st of March. A wall time that a change of clocks leaves out moves on by the gap;
 * one that comes twice means the first.
 */
export const occurrence = (anchorMs: number, interval: Interval, timezone: string, k: number): number => {
  const duration = Duration.fromObject(Object.fromEntries(UNITS.map((unit) => [unit, interval[unit] * k] as const)));
  const at = DateTime.fromMillis(anchorMs, { zone: timezone }).plus(duration);
  if (isExact(interval) || k === 0) return at.toMillis();
  return at.getPossibleOffsets()[0]?.toMillis() ?? at.toMillis();
};

/** Number of the first occurrence after `atMs`; 0 is the anchor itself. */
export const firstAfter = (anchorMs: number, interval: Interval, timezone: string, atMs: number): number => {
  if (atMs < anchorMs) return 0;
  let k = Math.max(0, Math.floor((atMs - anchorMs) / aboutMs(interval)));
  while (k > 0 && occurrence(anchorMs, interval, timezone, k - 1) > atMs) k--;
  while (occurrence(anchorMs, interval, timezone, k) <= atMs) k++;
  return k;
};
