/** When a schedule is due: pure, reckoned from its anchor. */
import { Cron } from 'croner';
import { LAST_TIME } from '../kernel/time.ts';
import { firstAfter, type Interval, occurrence, type Parsed, parseEvery } from './every.ts';

export interface Timing {
  /** Ms. Anchor of `every`, earliest time of `cron`, the one time of neither. */
  readonly startAt: number;
  readonly every?: string | undefined;
  /** Five fields. */
  readonly cron?: string | undefined;
  /** IANA name, or an offset. */
  readonly timezone: string;
}

/** What `isTimezone` takes, for who gave something else. */
export const TIMEZONE_FORM = 'an IANA time zone such as Europe/Berlin, or an offset such as +02:00';

/** True for a name that the runtime's time zone data knows, and for an offset. */
export const isTimezone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
};

/**
 * Times in lists and ranges count as fixed like single ones, as in Vixie cron: in a gap of the clock they run at its end,
 * and once where an hour comes twice. A field with `*` or a step is an interval: it runs on, through both hours.
 */
const cronOf = (pattern: string, timezone: string): Cron =>
  new Cron(pattern, { timezone, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true });

const CRON_FORM = 'five cron fields: minute, hour, day of month, month, day of week, such as "30 9 * * MON-FRI"';

/** Five fields cannot be due more often than once a minute. */
export const checkCron = (pattern: string, timezone: string): Parsed<string> => {
  const text = pattern.trim().replace(/\s+/g, ' ');
  if (text.length > 200 || text.split(' ').length !== 5) return { ok: false, problem: CRON_FORM };
  try {
    if (cronOf(text, timezone).nextRun(new Date()) === null)
      return { ok: false, problem: 'a pattern that some day fits' };
    return { ok: true, value: text };
  } catch {
    return { ok: false, problem: wrongField(text, timezone) ?? CRON_FORM };
  }
};

const CRON_FIELDS = [
  ['minute', '0 to 59'],
  ['hour', '0 to 23'],
  ['day of month', '1 to 31, or L for the last'],
  ['month', '1 to 12, or JAN to DEC'],
  ['day of week', '0 to 7, or SUN to SAT'],
] as const;

/** The first field that no pattern could have. */
const wrongField = (text: string, timezone: string): string | undefined => {
  for (const [at, [name, range]] of CRON_FIELDS.entries()) {
    const field = text.split(' ')[at] ?? '';
    const alone = CRON_FIELDS.map((_, other) => (other === at ? field : '*')).join(' ');
    try {
      cronOf(alone, timezone);
    } catch {
      return `${CRON_FORM}; its ${name} takes ${range}, and "${field.slice(0, 30)}" is not of them`;
    }
  }
  return undefined;
};

const intervalOf = (every: string): Interval => {
  const parsed = parseEvery(every);
  if (!parsed.ok) throw new Error(`A stored interval cannot be read: expected ${parsed.problem}.`);
  return parsed.value;
};

/** The first time that is due after `atMs`, `undefined` when there is none any more. */
export const nextAfter = (timing: Timing, atMs: number): number | undefined => {
  const { startAt, every, cron, timezone } = timing;
  if (cron !== undefined) {
    const next = cronOf(cron, timezone).nextRun(new Date(Math.max(atMs, startAt - 1)));
    return next?.getTime();
  }
  if (atMs < startAt) return startAt;
  if (every === undefined) return undefined;
  const interval = intervalOf(every);
  const next = occurrence(startAt, interval, timezone, firstAfter(startAt, interval, timezone, atMs));
  return next <= LAST_TIME ? next : undefined;
};

/** The last time that was due at `atMs` or before, `undefined` when nothing was yet. */
export const latestUpTo = (timing: Timing, atMs: number): number | undefined => {
  const { startAt, every, cron, timezone } = timing;
  if (atMs < startAt) return undefined;
  if (cron !== undefined) {
    // Croner looks at whole seconds, and before the time it is given.
    const [last] = cronOf(cron, timezone).previousRuns(1, new Date(atMs + 1));
    return last !== undefined && last.getTime() >= startAt ? last.getTime() : undefined;
  }
  if (every === undefined) return startAt;
  const interval = intervalOf(every);
  return occurrence(startAt, interval, timezone, firstAfter(startAt, interval, timezone, atMs) - 1);
};

/** Up to `count` times after `atMs` that lie before `endsAt`, in order. */
export const upcoming = (
  timing: Timing,
  atMs: number,
  count: number,
  endsAt: number = LAST_TIME + 1,
): readonly number[] => {
  const times: number[] = [];
  let at = atMs;
  while (times.length < count) {
    const next = nextAfter(timing, at);
    if (next === undefined || next >= endsAt) break;
    times.push(next);
    at = next;
  }
  return times;
};
