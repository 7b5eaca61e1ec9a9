import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Harness, makeHarness } from './support/harness.ts';

let h: Harness;
let agentId = '';

describe('a time that a caller gives', () => {
  beforeAll(async () => {
    h = await makeHarness();
    agentId = await h.agent();
  });

  const FORM = 'a date and time with an offset, such as 2027-01-01T00:00:00Z';
  const SPAN = 'a time from 1970 to 9999 (UTC)';
  const DAYS = 'a day from 1970-01-01 to 9998-12-31';
  it.each([
    ['GET', '/v1/usage?from=9999-01-01', undefined, 'from', DAYS],
    ['GET', '/v1/usage?to=1969-12-31', undefined, 'to', DAYS],
    ['GET', '/v1/usage?to=tomorrow', undefined, 'to', 'a day such as 2027-01-31'],
    ['GET', '/v1/audit?from=1969-12-31T23:59:59Z', undefined, 'from', SPAN],
    ['GET', '/v1/audit?to=9999-12-31', undefined, 'to', DAYS],
    ['GET', '/v1/audit?to=soon', undefined, 'to', `a day such as 2027-01-31 or ${FORM}`],
    ['POST', '/v1/keys', { name: 'k', scopes: ['read'], expiresAt: '2027-01-01T00:00:00' }, 'expiresAt', FORM],
    ['POST', '/v1/keys', { name: 'k', scopes: ['read'], expiresAt: '9999-12-31T23:59:59-02:00' }, 'expiresAt', SPAN],
    ['POST', '/v1/keys', { name: 'k', scopes: ['read'], expiresAt: '1969-01-01T00:00:00Z' }, 'expiresAt', SPAN],
  ])('%s %s %j is refused naming %s', async (method, path, body, field, expected) => {
    const refused = await h.call(method, path, body);
    expect(refused.status).toBe(400);
    expect(refused.json.errors).toEqual([{ field, received: expect.any(String), expected }]);
  });

  it('may have any offset', async () => {
    const key = { name: 'k', scopes: ['read'], expiresAt: '2027-01-01T02:00:00+02:00' };
    expect((await h.call('POST', '/v1/keys', key)).json.expiresAt).toBe('2027-01-01T00:00:00.000Z');
    expect((await h.call('GET', '/v1/audit?from=2026-01-01T00:00:00%2B02:00&to=9998-12-31')).status).toBe(200);
    expect((await h.call('GET', '/v1/usage?from=1970-01-01&to=1970-01-02')).status).toBe(200);
    expect((await h.call('GET', '/v1/usage?to=9998-12-31')).status).toBe(200);
  });
});

/** Mostly the ends of calendars, and what lies around now. */
const year = fc.oneof(
  fc.constantFrom(0, 1, 1582, 1900, 1969, 1970, 1971, 2025, 2026, 2027, 2999, 3000, 3001, 9989, 9998, 9999),
  fc.integer({ min: 0, max: 9999 }),
);
const two = (most: number, least = 0) => fc.integer({ min: least, max: most }).map((n) => String(n).padStart(2, '0'));
const offset = fc.oneof(
  fc.constant('Z'),
  fc.tuple(fc.constantFrom('+', '-'), two(23), two(59)).map(([sign, hours, minutes]) => `${sign}${hours}:${minutes}`),
);
const time = fc
  .tuple(year, fc.constantFrom('01-01T00:00:00', '12-31T23:59:59', '12-31T23:59:59.999', '06-15T12:30:00'), offset)
  .map(([y, rest, zone]) => `${String(y).padStart(4, '0')}-${rest}${zone}`);
const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'Pacific/Kiritimati', 'Etc/GMT+12', '+14:00', '-12:00');
const timing = fc.oneof(
  fc.constant({}),
  fc.record({ every: fc.constantFrom('PT1M', 'PT1H', 'P1D', 'P1M', 'P10Y', '1 Month') }),
  fc.record({ cron: fc.constantFrom('* * * * *', '0 9 1 1 *', '0 0 29 2 *', '59 23 31 12 *') }),
);
const body = fc
  .tuple(
    timing,
    fc.record({ startAt: time, expiresAt: time, timezone: zone, maxRuns: fc.constant(3) }, { requiredKeys: [] }),
  )
  .map(([repeats, rest]) => ({ ...repeats, ...rest }));
const change = fc
  .tuple(body, fc.constantFrom({}, { every: null }, { cron: null }, { expiresAt: null }, { every: null, cron: null }))
  .map(([given, away]) => ({ ...given, ...away }));

const named = expect.arrayContaining([expect.objectContaining({ field: expect.stringMatching(/./) })]);

describe('whatever a schedule is given', () => {
  beforeEach(async () => {
    h = await makeHarness();
    agentId = await h.agent();
  });

  it('is refused naming a field, or can be read back, previewed, marked, paused, resumed and deleted', async () => {
    await fc.assert(
      fc.asyncProperty(body, fc.array(change, { maxLength: 4 }), async (given, changes) => {
        const made = await h.call('POST', '/v1/schedules', { agentId, ...given });
        if (made.status !== 201) {
          expect([made.status, made.json.errors]).toEqual([400, named]);
          return;
        }
        const path = `/v1/schedules/${made.json.id}`;
        let last = made.json;
        for (const one of changes.filter((each) => Object.keys(each).length > 0)) {
          const changed = await h.call('PATCH', path, one);
          expect([200, 400]).toContain(changed.status);
          if (changed.status === 200) last = changed.json;
          else expect(changed.json.errors).toEqual(named);
          expect((await h.call('GET', path)).json).toEqual(last);
        }
        const next = await h.call('GET', `${path}/next?count=3`);
        expect([next.status, (await h.call('GET', path)).json]).toEqual([200, last]);
        const { nextAt } = last;
        const row = h.table.dump().find(({ id }) => id === last.id);
        // A mark sorts like the time it stands for: none comes before its time, and for ever.
        expect(row?.dueSk === undefined || /^\d{4}-/.test(String(row.dueSk))).toBe(true);
        if (last.state === 'ACTIVE' && nextAt !== undefined) {
          const [first] = next.json.items as string[];
          if (first !== undefined && Date.parse(String(nextAt)) > h.clock.now()) expect(first).toBe(nextAt);
          expect((await h.call('POST', `${path}/pause`)).status).toBe(200);
          expect((await h.call('POST', `${path}/resume`)).status).toBe(200);
        }
        expect((await h.call('DELETE', path)).status).toBe(204);
      }),
      { numRuns: 150 },
    );
    expect(h.errors).toEqual([]);
  }, 60_000);
});
