import { beforeEach, describe, expect, it } from 'vitest';
import { type Harness, makeHarness } from './support/harness.ts';

let h: Harness;
let agentId = '';
beforeEach(async () => {
  h = await makeHarness();
  agentId = await h.agent();
});

const at = (offsetMs: number): string => new Date(h.clock.now() + offsetMs).toISOString();
const make = (body: object, options = {}) => h.call('POST', '/v1/schedules', { agentId, ...body }, options);
const made = async (body: object) => (await make(body)).json as { readonly [member: string]: unknown };
const MINUTE = 60_000;

describe('POST /v1/schedules', () => {
  it('begins now where nothing is said, and is woken at once', async () => {
    const answer = await make({});
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({
      agentId,
      state: 'ACTIVE',
      startAt: at(0),
      nextAt: at(0),
      timezone: 'UTC',
      overlap: 'skip',
      misfire: 'fire-once',
      runs: 0,
    });
    expect(Object.keys(answer.json)).not.toContain('version');
    expect(h.fires.take()).toEqual([
      {
        message: { orgId: h.a.organisationId, scheduleId: answer.json.id, dueAt: h.clock.now() },
        delaySeconds: 0,
        tenant: h.a.organisationId,
      },
    ]);
  });

  it('sends the delay of what is soon, and leaves what is far to the tick', async () => {
    await make({ startAt: at(90_000) });
    expect(h.fires.take()).toMatchObject([{ delaySeconds: 88 }]);
    const far = await made({ startAt: at(10 * MINUTE), every: '1 Hour' });
    expect(h.fires.take()).toEqual([]);
    expect(h.table.dump().find((row) => row.id === far.id)?.dueSk).toBe(`${at(10 * MINUTE)}#${far.id}`);
  });

  it('takes a time with an offset, goals and instructions', async () => {
    const schedule = await made({
      startAt: '2027-01-01T09:00:00+01:00',
      cron: '0  9 * * MON-FRI',
      timezone: 'Europe/Berlin',
      maxRuns: 3,
      overlap: 'queue',
      misfire: 'skip',
      goals: ['g'],
      instructions: ['i'],
    });
    expect(schedule).toMatchObject({ cron: '0 9 * * MON-FRI', nextAt: '2027-01-01T08:00:00.000Z', goals: ['g'] });
  });

  it.each([
    [{ every: '0 Days' }, 'every', 'longer than nothing'],
    [{ every: 'often' }, 'every', 'ISO 8601'],
    [{ every: 'PT1S' }, 'every', 'one minute'],
    [{ every: 'P1D', cron: '0 9 * * *' }, 'cron', 'not both'],
    [{ cron: '0 9 * *' }, 'cron', 'five cron fields'],
    [{ cron: '0 0 30 2 *' }, 'cron', 'some day fits'],
    [{ timezone: 'Mars/Base' }, 'timezone', 'IANA'],
    [{ startAt: '2020-01-01T00:00:00Z' }, 'startAt', 'a time to come'],
    [{ startAt: '2030-01-01T00:00:00Z', expiresAt: '2029-01-01T00:00:00Z' }, 'expiresAt', 'after the first fire'],
    [{ startAt: 'tomorrow' }, 'startAt', 'with an offset, such as 2027-01-01T00:00:00Z'],
    [{ startAt: '2027-01-01T00:00:00' }, 'startAt', 'with an offset, such as 2027-01-01T00:00:00Z'],
    [{ startAt: '1969-12-31T23:59:59Z', every: 'P1D' }, 'startAt', 'a time from 1970 to 9999'],
    [{ startAt: '0000-01-01T00:00:00Z', every: 'P1D' }, 'startAt', 'a time from 1970 to 9999'],
    [{ startAt: '1970-01-01T00:00:00+00:01', every: 'P1D' }, 'startAt', 'a time from 1970 to 9999'],
    [{ startAt: '9999-12-31T23:59:59-00:01' }, 'startAt', 'a time from 1970 to 9999'],
    [{ expiresAt: '1969-12-31T23:59:59Z' }, 'expiresAt', 'a time from 1970 to 9999'],
    [{ startAt: '9998-01-01T00:00:00Z', cron: '0 9 * * *' }, 'startAt', 'cron is due; it is reckoned up to then'],
    [{ cron: '-1 * * * *' }, 'cron', 'its minute takes 0 to 59, and "-1" is not of them'],
    [{ cron: '0 9 * * 8' }, 'cron', 'its day of week takes 0 to 7, or SUN to SAT, and "8" is not of them'],
    [{ timezone: '+2' }, 'timezone', 'or an offset such as +02:00'],
    [{ maxRuns: 0 }, 'maxRuns', 'at least 1'],
    [{ overlap: 'replace' }, 'overlap', 'one of skip, allow, queue'],
    [{ misfire: 'all' }, 'misfire', 'one of fire-once, skip'],
    [{ goals: 'x' }, 'goals', 'array'],
    [{ bogus: 1 }, 'bogus', 'no field'],
  ])('refuses %j naming %s', async (body, field, expected) => {
    const refused = await make(body);
    expect(refused.status).toBe(400);
    expect(refused.headers['content-type']).toBe('application/problem+json');
    expect(refused.json.errors).toEqual([
      expect.objectContaining({ field, expected: expect.stringContaining(expected) }),
    ]);
    expect(h.fires.take()).toEqual([]);
    expect(h.table.dump().filter(({ sk }) => sk === 'SCHEDULE')).toEqual([]);
  });

  it("answers 404 for an agent that is not there, deleted, or another organisation's", async () => {
    expect((await make({ agentId: `agt_${'0'.repeat(26)}` })).status).toBe(404);
    expect((await make({ agentId: 'nonsense' })).status).toBe(404);
    expect((await make({}, { key: h.b.apiKey })).status).toBe(404);
    await h.call('DELETE', `/v1/agents/${agentId}`);
    expect((await make({})).json.code).toBe('not_found');
  });

  it('makes one for an idempotency key, and wakes it once', async () => {
    const options = { headers: { 'Idempotency-Key': 'k' } };
    const [first, second] = [await make({ every: 'P1D' }, options), await make({ every: 'P1D' }, options)];
    expect(second.json).toEqual(first.json);
    expect(h.fires.take()).toHaveLength(1);
    expect((await make({ every: 'P2D' }, options)).status).toBe(422);
  });

  it('stands although its wake-up fails: the tick finds it', async () => {
    h.fires.send = async () => {
      throw new Error('no queue');
    };
    const answer = await make({ startAt: at(5_000) });
    expect(answer.status).toBe(201);
    const row = h.table.dump().find(({ id }) => id === answer.json.id);
    expect(String(row?.dueSk).slice(0, 24)).toBe(at(5_000 + 145_000));
  });
});

describe('a schedule', () => {
  it('is shown and listed, by agent too', async () => {
    const one = await made({ every: 'P1D' });
    const other = await h.agent();
    await h.clock.advance(1);
    const two = await made({ agentId: other, every: 'P1D' });
    expect((await h.call('GET', `/v1/schedules/${one.id}`)).json).toEqual(one);
    expect((await h.call('GET', '/v1/schedules')).json.items).toEqual([two, one]);
    expect((await h.call('GET', `/v1/schedules?agentId=${other}`)).json.items).toEqual([two]);
    const page = await h.call('GET', '/v1/schedules?limit=1');
    expect(page.json.items).toEqual([two]);
    const rest = await h.call('GET', `/v1/schedules?limit=1&cursor=${page.json.nextCursor}`);
    expect(rest.json).toEqual({ items: [one] });
  });

  it('is previewed: as many as are asked for, as follow, and as it may still run', async () => {
    const startAt = at(MINUTE);
    const one = await made({ startAt, every: 'PT1H', expiresAt: at(4 * 3_600_000) });
    const next = async (id: unknown, count: string) => h.call('GET', `/v1/schedules/${id}/next${count}`);
    const hours = [0, 1, 2, 3].map((k) => at(MINUTE + k * 3_600_000));
    expect((await next(one.id, '')).json.items).toEqual(hours);
    expect((await next(one.id, '?count=2')).json.items).toEqual(hours.slice(0, 2));
    const few = await made({ startAt, every: 'PT1H', maxRuns: 3 });
    expect((await next(few.id, '?count=100')).json.items).toEqual(hours.slice(0, 3));
    for (const count of ['0', '101', '1.5', 'x']) expect((await next(one.id, `?count=${count}`)).status).toBe(400);
  });

  it('is changed: due anew, and woken where that is soon', async () => {
    const one = await made({ startAt: at(3_600_000), every: 'PT1H' });
    const patch = (body: object) => h.call('PATCH', `/v1/schedules/${one.id}`, body);
    expect((await patch({ startAt: at(30_000) })).json).toMatchObject({ nextAt: at(30_000), every: 'PT1H' });
    expect(h.fires.take()).toMatchObject([{ delaySeconds: 28 }]);
    const cron = await patch({ cron: '0 0 1 1 *' });
    expect(cron.json).toMatchObject({ cron: '0 0 1 1 *', nextAt: '2027-01-01T00:00:00.000Z' });
    expect(cron.json.every).toBeUndefined();
    expect((await patch({ timezone: 'Asia/Kolkata' })).json.nextAt).toBe('2026-12-31T18:30:00.000Z');
    expect((await patch({ goals: ['other'], maxRuns: 2 })).json).toMatchObject({ goals: ['other'], maxRuns: 2 });
    const bare = (await patch({ goals: null, maxRuns: null })).json;
    expect([bare.goals, bare.maxRuns]).toEqual([undefined, undefined]);
    expect((await patch({ every: 'PT1H', cron: '* * * * *' })).status).toBe(400);
    expect((await patch({})).status).toBe(400);
    expect((await patch({ agentId })).status).toBe(400);
  });

  it('keeps when it is due where only other fields change', async () => {
    const one = await made({ startAt: at(3_600_000), every: 'PT1H' });
    await h.clock.advance(MINUTE);
    expect((await h.call('PATCH', `/v1/schedules/${one.id}`, { overlap: 'allow' })).json.nextAt).toBe(one.nextAt);
  });

  it('ends when nothing can follow, and lives again when something does', async () => {
    const one = await made({ startAt: at(3_600_000), every: 'PT1H' });
    const patch = (body: object) => h.call('PATCH', `/v1/schedules/${one.id}`, body);
    expect((await patch({ expiresAt: at(MINUTE) })).json).toMatchObject({ state: 'COMPLETED' });
    expect((await h.call('GET', `/v1/schedules/${one.id}/next`)).json.items).toEqual([]);
    expect((await h.call('POST', `/v1/schedules/${one.id}/resume`)).status).toBe(409);
    await h.clock.advance(2 * MINUTE);
    // Said once more it is nothing new.
    expect((await patch({ expiresAt: at(-MINUTE), maxRuns: 5 })).json).toMatchObject({ state: 'COMPLETED' });
    expect((await patch({ expiresAt: null })).json).toMatchObject({ state: 'ACTIVE', nextAt: one.nextAt });
  });

  it('refuses an end that has passed, like a new one, and times that no row holds', async () => {
    const one = await made({ startAt: at(3_600_000), every: 'PT1H' });
    for (const body of [
      { expiresAt: at(0) },
      { expiresAt: at(-MINUTE) },
      { expiresAt: '1969-01-01T00:00:00Z' },
      { startAt: '1969-12-31T23:59:59Z' },
      { startAt: '9999-12-31T23:59:59-01:00' },
    ]) {
      const refused = await h.call('PATCH', `/v1/schedules/${one.id}`, body);
      expect(refused.json).toMatchObject({ status: 400, errors: [{ field: Object.keys(body)[0] }] });
    }
    expect((await h.call('GET', `/v1/schedules/${one.id}`)).json).toEqual(one);
  });

  it('takes an offset for a time zone, and keeps to it', async () => {
    const one = await made({ cron: '0 9 * * *', timezone: '+02:00' });
    expect(one).toMatchObject({ timezone: '+02:00', nextAt: '2026-03-02T07:00:00.000Z' });
  });

  it('is paused and resumed; other moves are a 409 that names both states', async () => {
    const one = await made({ startAt: at(30_000) });
    h.fires.take();
    const post = (verb: string) => h.call('POST', `/v1/schedules/${one.id}/${verb}`);
    expect((await post('pause')).json.state).toBe('PAUSED');
    const twice = await post('pause');
    expect([twice.status, twice.json.code, twice.json.from, twice.json.to]).toEqual([
      409,
      'illegal_transition',
      'PAUSED',
      'PAUSED',
    ]);
    expect(h.table.dump().find((row) => row.id === one.id)?.duePk).toBeUndefined();
    await h.clock.advance(10 * MINUTE);
    expect((await post('resume')).json).toMatchObject({ state: 'ACTIVE', nextAt: one.nextAt });
    // Late: the fire decides what becomes of it.
    expect(h.fires.take()).toMatchObject([{ delaySeconds: 0 }]);
    expect((await post('resume')).status).toBe(409);
    await post('pause');
    await h.call('DELETE', `/v1/agents/${agentId}`);
    expect((await post('resume')).json.code).toBe('agent_deleted');
  });

  it('is deleted softly; a repeat does no harm, and it is gone for everybody', async () => {
    const one = await made({ every: 'PT1H' });
    expect((await h.call('DELETE', `/v1/schedules/${one.id}`)).status).toBe(204);
    expect((await h.call('DELETE', `/v1/schedules/${one.id}`)).status).toBe(204);
    expect((await h.call('DELETE', `/v1/schedules/sch_${'0'.repeat(26)}`)).status).toBe(404);
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['GET', '/next', undefined],
      ['PATCH', '', { maxRuns: 1 }],
      ['POST', '/pause', undefined],
    ] as const) {
      expect((await h.call(method, `/v1/schedules/${one.id}${path}`, body)).status).toBe(404);
    }
    expect((await h.call('GET', '/v1/schedules')).json.items).toEqual([]);
    const row = h.table.dump().find(({ id }) => id === one.id);
    expect([row?.state, row?.ownerPk, row?.duePk, row?.nextAt]).toEqual(['DELETED', undefined, undefined, undefined]);
  });

  it('needs the scope', async () => {
    const one = await made({ every: 'PT1H' });
    const [read, run] = [await h.keyWith('read'), await h.keyWith('run')];
    expect((await make({}, { key: run })).status).toBe(403);
    expect((await h.call('PATCH', `/v1/schedules/${one.id}`, { maxRuns: 1 }, { key: run })).status).toBe(403);
    expect((await h.call('DELETE', `/v1/schedules/${one.id}`, undefined, { key: run })).status).toBe(403);
    expect((await h.call('POST', `/v1/schedules/${one.id}/pause`, undefined, { key: read })).status).toBe(403);
    expect((await h.call('POST', `/v1/schedules/${one.id}/pause`, undefined, { key: run })).status).toBe(200);
  });
});
