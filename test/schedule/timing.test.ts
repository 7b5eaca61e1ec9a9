import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseEvery } from '../../lib/schedule/every.ts';
import { checkCron, latestUpTo, nextAfter, type Timing, upcoming } from '../../lib/schedule/timing.ts';

const at = (text: string): number => Date.parse(text);
const iso = (times: readonly number[]): string[] => times.map((time) => new Date(time).toISOString());
const series = (timing: Omit<Timing, 'startAt'> & { startAt: string }, after: string, count: number): string[] =>
  iso(upcoming({ ...timing, startAt: at(timing.startAt) }, at(after), count));

describe('every', () => {
  it.each([
    ['PT15M', { minutes: 15 }],
    ['P1M', { months: 1 }],
    ['P1Y2M3W4DT5H6M7S', { years: 1, months: 2, weeks: 3, days: 4, hours: 5, minutes: 6, seconds: 7 }],
    ['5 Minutes', { minutes: 5 }],
    ['1 Minute', { minutes: 1 }],
    ['2 Hours', { hours: 2 }],
    ['1 day', { days: 1 }],
    ['3 Weeks', { weeks: 3 }],
    ['1 Month', { days: 30 }],
    ['2 Months', { days: 60 }],
  ])('%s is read', (text, parts) => {
    expect(parseEvery(text)).toMatchObject({ ok: true, value: parts });
  });

  it.each([
    ['0 Days', 'longer than nothing'],
    ['PT0S', 'longer than nothing'],
    ['P0M', 'longer than nothing'],
    ['PT59S', 'at least one minute'],
    ['P11Y', 'at most ten years'],
    ['999999999 Months', 'at most ten years'],
    ['9999999999 Days', 'ISO 8601'],
    ['P', 'ISO 8601'],
    ['PT', 'ISO 8601'],
    ['P1DT', 'ISO 8601'],
    ['P-1D', 'ISO 8601'],
    ['-P1D', 'ISO 8601'],
    ['PT1.5H', 'ISO 8601'],
    ['1.5 Hours', 'ISO 8601'],
    ['1 Fortnight', 'ISO 8601'],
    ['Days', 'ISO 8601'],
    ['', 'ISO 8601'],
  ])('%j is refused with a sentence', (text, words) => {
    const parsed = parseEvery(text);
    expect(parsed.ok ? '' : parsed.problem).toContain(words);
  });

  it('a calendar month is reckoned from the anchor, so that February shortens nothing for good', () => {
    const monthly = { startAt: '2026-01-31T09:00:00Z', every: 'P1M', timezone: 'UTC' };
    expect(series(monthly, '2026-01-31T09:00:00Z', 4)).toEqual([
      '2026-02-28T09:00:00.000Z',
      '2026-03-31T09:00:00.000Z',
      '2026-04-30T09:00:00.000Z',
      '2026-05-31T09:00:00.000Z',
    ]);
  });

  it("SuperAGI's month has thirty days", () => {
    const monthly = { startAt: '2026-01-31T09:00:00Z', every: '1 Month', timezone: 'UTC' };
    expect(series(monthly, '2026-01-31T09:00:00Z', 2)).toEqual([
      '2026-03-02T09:00:00.000Z',
      '2026-04-01T09:00:00.000Z',
    ]);
  });
});

describe('a change of clocks', () => {
  it.each([
    // Berlin: 2026-03-29 02:00 to 03:00, 2026-10-25 03:00 back to 02:00.
    ['Europe/Berlin', '2026-03-28T08:00:00Z', ['2026-03-29T07:00:00.000Z', '2026-03-30T07:00:00.000Z']],
    ['Europe/Berlin', '2026-10-24T07:00:00Z', ['2026-10-25T08:00:00.000Z', '2026-10-26T08:00:00.000Z']],
    // New York: 2026-03-08 02:00 to 03:00, 2026-11-01 02:00 back to 01:00.
    ['America/New_York', '2026-03-07T14:00:00Z', ['2026-03-08T13:00:00.000Z', '2026-03-09T13:00:00.000Z']],
    ['America/New_York', '2026-10-31T13:00:00Z', ['2026-11-01T14:00:00.000Z', '2026-11-02T14:00:00.000Z']],
    // Lord Howe moves by half an hour: 2026-04-05 02:00 back to 01:30.
    ['Australia/Lord_Howe', '2026-04-03T22:00:00Z', ['2026-04-04T22:30:00.000Z', '2026-04-05T22:30:00.000Z']],
    ['Asia/Kolkata', '2026-03-28T03:30:00Z', ['2026-03-29T03:30:00.000Z', '2026-03-30T03:30:00.000Z']],
  ])('%s: a day keeps the time on the wall, %s', (timezone, startAt, expected) => {
    expect(series({ startAt, every: 'P1D', timezone }, startAt, 2)).toEqual(expected);
  });

  it('hours are exact', () => {
    const hourly = { startAt: '2026-03-28T23:30:00Z', every: 'PT24H', timezone: 'Europe/Berlin' };
    expect(series(hourly, '2026-03-28T23:30:00Z', 1)).toEqual(['2026-03-29T23:30:00.000Z']);
  });

  it('a time that is left out moves on by the gap, one that comes twice is the first of the two', () => {
    const gap = { startAt: '2026-03-28T01:30:00Z', every: 'P1D', timezone: 'Europe/Berlin' };
    expect(series(gap, gap.startAt, 2)).toEqual(['2026-03-29T01:30:00.000Z', '2026-03-30T00:30:00.000Z']);
    for (const startAt of ['2026-10-24T00:30:00Z', '2026-02-25T01:30:00Z']) {
      const twice = { startAt, every: 'P1D', timezone: 'Europe/Berlin' };
      expect(series(twice, '2026-10-24T12:00:00Z', 2)).toEqual([
        '2026-10-25T00:30:00.000Z',
        '2026-10-26T01:30:00.000Z',
      ]);
    }
  });

  it.each([
    ['Europe/Berlin', '30 2 * * *', '2026-03-28T12:00:00Z', ['2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z']],
    [
      'Europe/Berlin',
      '30 2,14 * * *',
      '2026-03-28T20:00:00Z',
      ['2026-03-29T01:00:00.000Z', '2026-03-29T12:30:00.000Z'],
    ],
    ['Europe/Berlin', '30 2 * * *', '2026-10-24T12:00:00Z', ['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z']],
    [
      'America/New_York',
      '30 2 * * *',
      '2026-03-07T12:00:00Z',
      ['2026-03-08T07:00:00.000Z', '2026-03-09T06:30:00.000Z'],
    ],
    [
      'America/New_York',
      '30 1 * * *',
      '2026-10-31T12:00:00Z',
      ['2026-11-01T05:30:00.000Z', '2026-11-02T06:30:00.000Z'],
    ],
    ['Asia/Kolkata', '0 9 * * *', '2026-03-28T12:00:00Z', ['2026-03-29T03:30:00.000Z', '2026-03-30T03:30:00.000Z']],
    [
      'Australia/Lord_Howe',
      '45 1 * * *',
      '2026-04-03T22:00:00Z',
      ['2026-04-04T14:45:00.000Z', '2026-04-05T15:15:00.000Z'],
    ],
  ])(
    'cron, %s: the fixed time %s runs once, at the end of a gap and at the first of two',
    (timezone, cron, after, expected) => {
      expect(series({ startAt: '2026-01-01T00:00:00Z', cron, timezone }, after, 2)).toEqual(expected);
    },
  );

  it('cron: an interval runs on through both hours', () => {
    const half = { startAt: '2026-01-01T00:00:00Z', cron: '*/30 * * * *', timezone: 'Europe/Berlin' };
    const times = upcoming({ ...half, startAt: at(half.startAt) }, at('2026-10-24T23:59:00Z'), 6);
    expect(new Set(times.slice(1).map((time, index) => time - (times[index] ?? 0)))).toEqual(new Set([1_800_000]));
  });
});

describe('cron', () => {
  it.each(['0 9 * * MON-FRI', '*/15 * * * *', '0 0 L * *', '0 9 * * 1#2'])('%s is taken', (pattern) => {
    expect(checkCron(pattern, 'UTC').ok).toBe(true);
  });
  it.each(['', '* * * *', '* * * * * *', '@daily', '61 * * * *', 'a b c d e', '0 0 30 2 *', '*/0 * * * *'])(
    '%j is refused',
    (pattern) => expect(checkCron(pattern, 'UTC').ok).toBe(false),
  );
  it('begins at startAt, that time included', () => {
    const timing = { startAt: '2026-01-01T00:00:00Z', cron: '0 * * * *', timezone: 'UTC' };
    expect(series(timing, '2025-01-01T00:00:00Z', 2)).toEqual(['2026-01-01T00:00:00.000Z', '2026-01-01T01:00:00.000Z']);
  });
});

const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe');
const moment = fc.integer({ min: at('2024-01-01T00:00:00Z'), max: at('2030-01-01T00:00:00Z') });
const every = fc.constantFrom(
  'PT1M',
  'PT45M',
  'P1D',
  'P1W',
  'P1M',
  'P1M1D',
  'P1DT12H',
  'P3M',
  'P1Y',
  '1 Month',
  '7 Hours',
);
const cron = fc.constantFrom(
  '* * * * *',
  '30 2 * * *',
  '0,30 2-3 * * *',
  '*/7 1 * * 0',
  '15 0 31 * *',
  '0 12 * * MON#1',
);
const timing: fc.Arbitrary<Timing> = fc.oneof(
  fc.record({ startAt: moment, timezone: zone, every }),
  fc.record({ startAt: moment, timezone: zone, cron }),
);

describe('any series', () => {
  it('goes strictly forward, by a minute at least, and begins where it is asked to', () => {
    fc.assert(
      fc.property(timing, moment, (given, after) => {
        const times = upcoming(given, after, 8);
        expect(times[0] ?? after + 1).toBeGreaterThan(after);
        for (const [index, time] of times.slice(1).entries()) {
          expect(time - (times[index] ?? 0)).toBeGreaterThanOrEqual(60_000);
        }
        for (const time of times) expect(time).toBeGreaterThanOrEqual(given.startAt);
      }),
    );
  });

  it('does not drift: whoever looks later sees the same times', () => {
    fc.assert(
      fc.property(timing, moment, fc.integer({ min: 1, max: 7 }), (given, after, skipped) => {
        const times = upcoming(given, after, 8);
        const from = times[skipped - 1];
        if (from === undefined) return;
        expect(upcoming(given, from, 8 - skipped)).toEqual(times.slice(skipped));
        const between = times[skipped] === undefined ? from : Math.floor((from + times[skipped]) / 2);
        expect(nextAfter(given, between)).toBe(times[skipped]);
      }),
    );
  });

  it('the latest is the one before the next', () => {
    fc.assert(
      fc.property(timing, moment, fc.nat(100_000), (given, after, ms) => {
        const [first, second] = upcoming(given, after, 2);
        if (first === undefined || second === undefined) return;
        expect(latestUpTo(given, first)).toBe(first);
        expect(latestUpTo(given, second - 1)).toBe(first);
        expect(latestUpTo(given, Math.min(second - 1, first + ms))).toBe(first);
      }),
    );
  });

  it('respects how many are asked for, and the end', () => {
    fc.assert(
      fc.property(timing, moment, fc.integer({ min: 0, max: 20 }), fc.nat(1e10), (given, after, count, span) => {
        const times = upcoming(given, after, count, after + span);
        expect(times.length).toBeLessThanOrEqual(count);
        for (const time of times) expect(time).toBeLessThan(after + span);
      }),
    );
  });
});
