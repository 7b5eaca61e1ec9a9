import { beforeEach, describe, expect, it } from 'vitest';
import { AGENT, makeSuperAgi, type SuperAgi, viaKey } from './support/superagi.ts';

let h: SuperAgi['h'];
let post: SuperAgi['post'];
let put: SuperAgi['put'];
let created: SuperAgi['created'];
let agentRows: SuperAgi['agentRows'];
let newest: SuperAgi['newest'];
let schedules: SuperAgi['schedules'];
let run: SuperAgi['run'];
beforeEach(async () => {
  ({ h, post, put, created, agentRows, newest, schedules, run } = await makeSuperAgi());
});

describe('GET /api/api-keys/validate', () => {
  it('knows a good key by either header', async () => {
    for (const options of [{}, viaKey(h.a.apiKey)]) {
      const good = await h.call('GET', '/api/api-keys/validate', undefined, options);
      expect([good.status, good.json]).toEqual([200, { success: true }]);
    }
  });
  it.each([undefined, 'wrong', ''])('answers 401 with a detail to the key %j', async (key) => {
    const headers = key === undefined ? {} : { 'X-API-Key': key };
    const bad = await h.call('GET', '/api/api-keys/validate', undefined, { key: undefined, headers });
    expect(bad.status).toBe(401);
    expect(Object.keys(bad.json)).toEqual(['detail']);
    expect(bad.headers['content-type']).toBe('application/json');
  });
});

describe('POST /api/v1/agent', () => {
  it('makes an agent of ours', async () => {
    expect(await created({ user_timezone: 'Europe/Berlin', LTM_DB: null, exit: 'No exit criterion' })).toBe(1);
    expect(await newest()).toMatchObject({
      name: 'Reporter',
      description: 'Writes reports',
      workflow: 'goal',
      config: {
        goals: ['Report'],
        instructions: ['Be short'],
        constraints: ['No guesses'],
        tools: ['think'],
        model: 'gpt-4',
        maxIterations: 7,
        userTimezone: 'Europe/Berlin',
      },
    });
    expect((await newest()).config).not.toHaveProperty('permissionType'); // the usual one is God Mode
    expect(await created()).toBe(2);
    expect(await schedules()).toEqual([]);
  });

  it('ignores members that it does not know, and what its clients send as null', async () => {
    const nulls = { project_id: null, permission_type: null, schedule: null, user_timezone: null, knowledge: null };
    expect(await created({ ...nulls, memory_window: 10, iteration_interval: 'often', LTM_DB: 'Pinecone' })).toBe(1);
    expect(Object.keys((await newest()).config as object).toSorted()).toEqual(
      ['constraints', 'goals', 'instructions', 'maxIterations', 'model', 'tools'].toSorted(),
    );
  });

  it('takes RESTRICTED at its word', async () => {
    await created({ permission_type: 'RESTRICTED', knowledge: 5 });
    expect((await newest()).config).toMatchObject({ permissionType: 'RESTRICTED', 'superagi.knowledge': 5 });
  });

  it.each([
    [{ name: '' }, 'name'],
    [{ name: 5 }, 'name'],
    [{ goal: 'x' }, 'goal'],
    [{ goal: undefined }, 'goal'],
    [{ max_iterations: 0 }, 'max_iterations'],
    [{ max_iterations: 1.5 }, 'max_iterations'],
    [{ tools: ['Write File'] }, 'tools[0]'],
    [{ agent_workflow: 'Nobody knows' }, 'workflow'],
    [{ permission_type: 'God' }, 'permission_type'],
    [{ user_timezone: 'Mars/Base' }, 'user_timezone'],
    [{ schedule: {} }, 'schedule.start_time'],
    [{ schedule: { start_time: 'tomorrow' } }, 'schedule.start_time'],
    [{ schedule: { start_time: '2020-01-01T00:00:00Z' } }, 'schedule.start_time'],
    [{ schedule: { start_time: '1969-12-31 23:59', recurrence_interval: '1 Days' } }, 'a time from 1970 to 9999'],
    [{ schedule: { start_time: 8.64e15, recurrence_interval: '1 Days' } }, 'a time from 1970 to 9999'],
    [{ schedule: { start_time: 1e300, recurrence_interval: '1 Days' } }, 'a time from 1970 to 9999'],
    [{ schedule: { start_time: '2030-01-01 00:00', expiry_date: 8.64e15 } }, 'schedule.expiry_date'],
    [{ schedule: { start_time: '2030-01-01T00:00:00Z', recurrence_interval: '0 Days' } }, 'recurrence_interval'],
    [{ schedule: { start_time: '2030-01-01T00:00:00Z', recurrence_interval: 'often' } }, 'recurrence_interval'],
    [{ schedule: { start_time: '2030-01-01T00:00:00Z', expiry_runs: 0 } }, 'expiry_runs'],
    [{ schedule: { start_time: '2030-01-01 00:00', expiry_date: '2029-01-01 00:00' } }, 'expiry_date'],
  ])('refuses %j with a detail that names it', async (change, named) => {
    const refused = await post('', { ...AGENT, ...change });
    expect(refused.status).toBe(400);
    expect(Object.keys(refused.json)).toEqual(['detail']);
    expect(refused.json.detail).toContain(named);
    expect(await agentRows()).toEqual([]);
    expect(await schedules()).toEqual([]);
  });

  it.each([
    [{ tools: [{ name: 'Jira Toolkit' }] }, 'Jira Toolkit'],
    [{ tools: [{ name: 'Thinking Toolkit', tools: ['Think Hard'] }] }, 'Think Hard'],
    [{ project_id: 99 }, 'project'],
  ])('answers 404 to %j', async (change, named) => {
    const refused = await post('', { ...AGENT, ...change });
    expect([refused.status, Object.keys(refused.json)]).toEqual([404, ['detail']]);
    expect(refused.json.detail).toContain(named);
    expect(await agentRows()).toEqual([]);
  });

  it('puts it into a project by number: the default one is 1, others follow as they were made', async () => {
    await h.clock.advance(10);
    const project = await h.call('POST', '/v1/projects', { name: 'second' });
    await created({ project_id: 2 });
    expect((await newest()).projectId).toBe(project.json.id);
    await h.clock.advance(10);
    await created({ project_id: 1 });
    expect((await newest()).projectId).not.toBe(project.json.id);
  });

  it('answers a repeat under one Idempotency-Key with the first answer', async () => {
    const options = { key: h.a.apiKey, headers: { 'Idempotency-Key': 'k1' } };
    const schedule = { start_time: '2026-03-02T09:00:00Z', recurrence_interval: '1 Days' };
    const answers = await Promise.all(Array.from({ length: 4 }, () => post('', { ...AGENT, schedule }, options)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await agentRows()).toHaveLength(1);
    expect(await schedules()).toHaveLength(1);
    const other = await post('', { ...AGENT, name: 'other' }, options);
    expect([other.status, Object.keys(other.json)]).toEqual([422, ['detail']]);
  });

  it('gives each of those made at once a number of its own', async () => {
    const numbers = await Promise.all(Array.from({ length: 20 }, () => created()));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  });

  it('makes the schedule in the same transaction', async () => {
    const whole = h.table.transact;
    h.table.transact = async (writes) => {
      await whole(writes);
      if (writes.some((write) => 'put' in write && write.put.sk === 'AGENT')) throw new Error('died after the write');
    };
    const schedule = { start_time: '2026-03-02T09:00:00Z', recurrence_interval: '1 Days' };
    const failed = await post('', { ...AGENT, schedule });
    expect(failed.status).toBe(500);
    expect(failed.json.detail).toMatch(/[0-9a-f-]{36}$/); // the id under which the log has it
    h.table.transact = whole;
    expect(await schedules()).toHaveLength(1);
    // It has its number although nobody was told.
    expect((await put('/1', {})).json).toEqual({ agent_id: 1 });
  });
});

describe('a schedule', () => {
  it.each([
    ['2026-03-02T09:00:00.000Z', '2026-03-02T09:00:00.000Z'],
    ['2026-03-02 09:00:00', '2026-03-02T08:00:00.000Z'], // a clock in Berlin
    ['2026-03-02T09:00:00+05:30', '2026-03-02T03:30:00.000Z'],
    ['2026-03-02T09:00:00.123456', '2026-03-02T08:00:00.123Z'],
    [1_772_442_000, '2026-03-02T09:00:00.000Z'],
    [1_772_442_000_000, '2026-03-02T09:00:00.000Z'],
    ['1772442000', '2026-03-02T09:00:00.000Z'],
  ])('starts at %j', async (start_time, startAt) => {
    await created({ user_timezone: 'Europe/Berlin', schedule: { start_time, expiry_runs: -1 } });
    expect(await schedules()).toMatchObject([{ startAt, nextAt: startAt, state: 'ACTIVE', timezone: 'Europe/Berlin' }]);
    expect(Object.keys((await schedules())[0] ?? {})).not.toContain('maxRuns');
  });

  it('takes interval and both expiries', async () => {
    const schedule = {
      start_time: '2026-03-02T09:00:00Z',
      recurrence_interval: '15 Minutes',
      expiry_date: '2026-04-01T00:00:00Z',
      expiry_runs: 3,
      agent_id: 1,
    };
    await created({ schedule });
    expect(await schedules()).toMatchObject([
      { every: '15 Minutes', expiresAt: '2026-04-01T00:00:00.000Z', maxRuns: 3, timezone: 'UTC' },
    ]);
  });

  it('that is soon is woken', async () => {
    await created({ schedule: { start_time: new Date(h.clock.now() + 60_000).toISOString() } });
    const dueAt = h.clock.now() + 60_000;
    expect(h.fires.take()).toMatchObject([{ message: { scheduleId: (await schedules())[0]?.id, dueAt } }]);
  });

  it('refuses runs by hand while it lives, and no longer', async () => {
    const agent = await created({ schedule: { start_time: '2026-03-02T09:00:00Z' } });
    const refused = await post(`/${agent}/run`);
    expect([refused.status, Object.keys(refused.json)]).toEqual([409, ['detail']]);
    const id = (await schedules())[0]?.id;
    await h.call('DELETE', `/v1/schedules/${id}`);
    expect(await run(agent)).toBe(1);
  });

  it('does not when it was made by our own API', async () => {
    const agent = await created();
    const agentId = (await agentRows())[0]?.id;
    await h.call('POST', '/v1/schedules', { agentId, every: 'P1D' });
    expect(await run(agent)).toBe(1);
  });
});

describe('PUT /api/v1/agent/{id}', () => {
  it('replaces what is given and appends nothing', async () => {
    const agent = await created();
    const rows = () => h.table.dump().filter(({ sk }) => sk.startsWith('CONFIG#')).length;
    const before = rows();
    for (let i = 0; i < 2; i++) {
      const answer = await put(`/${agent}`, { goal: ['Another'], max_iterations: 9, description: null, tools: null });
      expect([answer.status, answer.json]).toEqual([200, { agent_id: agent }]);
    }
    expect(rows()).toBe(before);
    expect(await newest()).toMatchObject({
      description: 'Writes reports',
      config: { goals: ['Another'], maxIterations: 9, tools: ['think'], instructions: ['Be short'] },
    });
    expect(JSON.stringify(await newest())).not.toContain('None');
  });

  it('changes everything there is', async () => {
    const agent = await created();
    await put(`/${agent}`, {
      name: 'New',
      description: 'd',
      goal: [],
      permission_type: 'RESTRICTED',
      model: 'm',
      project_id: 1,
    });
    expect(await newest()).toMatchObject({ name: 'New', description: 'd', config: { goals: [], model: 'm' } });
  });

  it('works while a run goes on and while a schedule lives', async () => {
    const agent = await created();
    await run(agent);
    const schedule = { start_time: '2026-03-02T09:00:00Z', recurrence_interval: '1 Days', expiry_runs: 5 };
    expect((await put(`/${agent}`, { schedule })).status).toBe(200);
    expect(await schedules()).toMatchObject([{ every: '1 Days', maxRuns: 5 }]);
    expect(
      (await put(`/${agent}`, { schedule: { ...schedule, recurrence_interval: '2 Days', expiry_runs: -1 } })).status,
    ).toBe(200);
    expect(await schedules()).toMatchObject([{ every: '2 Days' }]);
    expect(Object.keys((await schedules())[0] ?? {})).not.toContain('maxRuns');
    await put(`/${agent}`, { schedule: { start_time: '2026-03-03T09:00:00Z' } });
    expect(await schedules()).toHaveLength(1);
    expect(Object.keys((await schedules())[0] ?? {})).not.toContain('every');
  });

  it('makes one schedule when two ask at once, and a new one after the old one is gone', async () => {
    const agent = await created();
    const schedule = { start_time: '2026-03-02T09:00:00Z', recurrence_interval: '1 Days' };
    const answers = await Promise.all([1, 2, 3].map(() => put(`/${agent}`, { schedule })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const [first, ...more] = await schedules();
    expect(more).toEqual([]);
    await h.call('DELETE', `/v1/schedules/${first?.id}`);
    await put(`/${agent}`, { schedule });
    const [second] = await schedules();
    expect(second?.id).not.toBe(first?.id);
    expect((await post(`/${agent}/run`)).status).toBe(409);
  });

  it('changes nothing when one field is wrong', async () => {
    const agent = await created();
    const before = await newest();
    for (const wrong of [
      { schedule: { start_time: 'x' } },
      { tools: [{ name: 'x' }] },
      { agent_workflow: 'x' },
      { project_id: 9 },
    ]) {
      expect([400, 404]).toContain((await put(`/${agent}`, { name: 'New', ...wrong })).status);
    }
    expect(await newest()).toEqual(before);
  });
});
