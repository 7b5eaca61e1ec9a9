import { beforeEach, describe, expect, it } from 'vitest';
import { AGENT, API, makeSuperAgi, type SuperAgi, viaKey } from './support/superagi.ts';

let h: SuperAgi['h'];
let post: SuperAgi['post'];
let put: SuperAgi['put'];
let created: SuperAgi['created'];
let agentRows: SuperAgi['agentRows'];
let newest: SuperAgi['newest'];
let run: SuperAgi['run'];
let statuses: SuperAgi['statuses'];
beforeEach(async () => {
  ({ h, post, put, created, agentRows, newest, run, statuses } = await makeSuperAgi());
});

describe('POST /api/v1/agent/{id}/run', () => {
  it('starts runs again and again, with goals of their own', async () => {
    const agent = await created();
    expect(await run(agent, { name: 'first' })).toBe(1);
    expect(await run(agent, { name: 'second', goal: ['Other'], instruction: ['Faster'] })).toBe(2);
    expect(await run(agent, { name: null, goal: null, instruction: [''] })).toBe(3);
    expect(h.executions.calls).toEqual(['start {}', 'start {"goals":["Other"],"instructions":["Faster"]}', 'start {}']);
    expect(await statuses(agent)).toEqual([1, 2, 3].map((run_id) => ({ run_id, status: 'RUNNING' })));
  });

  it('starts one for one Idempotency-Key', async () => {
    const agent = await created();
    const options = { key: h.a.apiKey, headers: { 'Idempotency-Key': 'k1' } };
    const answers = await Promise.all(Array.from({ length: 4 }, () => post(`/${agent}/run`, {}, options)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await statuses(agent)).toHaveLength(1);
  });

  it('of an agent that is gone is a 404', async () => {
    const agent = await created();
    await h.call('DELETE', `/v1/agents/${(await agentRows())[0]?.id}`);
    for (const path of ['run', 'run-status', 'pause', 'resume']) {
      expect((await post(`/${agent}/${path}`)).status).toBe(404);
    }
    expect((await put(`/${agent}`, {})).status).toBe(404);
  });

  it.each(['0', '99', '-1', '1.5', 'x', '00000000000000001', '9'.repeat(40), 'agt_x'])(
    'of agent %s is a 404',
    async (agent) => {
      await created();
      const refused = await post(`/${agent}/run`);
      expect([refused.status, refused.json]).toEqual([404, { detail: 'There is no such agent.' }]);
    },
  );
});

describe('POST /api/v1/agent/{id}/run-status', () => {
  it('gives numbers to runs that others started, and to agents by their own ids', async () => {
    const agentId = await h.agent();
    for (let i = 0; i < 3; i++) await h.call('POST', `/v1/agents/${agentId}/executions`, {});
    const all = await Promise.all([statuses(agentId), statuses(agentId)]);
    expect(all[0]).toEqual(all[1]);
    expect((await put(`/${agentId}`, {})).json).toEqual({ agent_id: 1 });
    expect(await statuses(1)).toEqual(all[0]);
    expect(await run(1)).toBeGreaterThan(3);
  });

  it('filters by runs and by state', async () => {
    const agent = await created();
    for (let i = 0; i < 3; i++) await run(agent);
    await post(`/${agent}/pause`, { run_ids: [2] });
    expect(await statuses(agent, { run_status_filter: 'paused' })).toEqual([{ run_id: 2, status: 'PAUSED' }]);
    expect(await statuses(agent, { run_ids: [3, 1], run_status_filter: null })).toEqual([
      { run_id: 1, status: 'RUNNING' },
      { run_id: 3, status: 'RUNNING' },
    ]);
    expect(await statuses(agent, { run_ids: [1], run_status_filter: 'PAUSED' })).toEqual([]);
    expect(await statuses(agent, { run_ids: [] })).toEqual([]);
    const refused = await post(`/${agent}/run-status`, { run_status_filter: 'SLEEPING' });
    expect(refused.status).toBe(400);
    expect(refused.json.detail).toContain('run_status_filter');
  });

  it('knows no run of another agent, and none that is not there', async () => {
    const [one, two] = [await created(), await created()];
    await run(one);
    for (const ids of [[1], [7]]) {
      expect((await post(`/${two}/run-status`, { run_ids: ids })).status).toBe(404);
      expect((await post(`/${two}/pause`, { run_ids: ids })).status).toBe(404);
    }
    expect(await statuses(one)).toEqual([{ run_id: 1, status: 'RUNNING' }]);
  });

  it.each([{ run_ids: ['1'] }, { run_ids: [0] }, { run_ids: 1 }, { run_status_filter: 1 }])(
    'refuses %j',
    async (filter) => {
      const agent = await created();
      expect((await post(`/${agent}/run-status`, filter)).status).toBe(400);
    },
  );
});

describe('pause and resume', () => {
  it('take all runs of the agent, or some, as often as wanted', async () => {
    const [agent, other] = [await created(), await created()];
    for (const of of [agent, agent, other]) await run(of);
    for (let i = 0; i < 2; i++) {
      const done = await post(`/${agent}/pause`);
      expect([done.status, done.json]).toEqual([200, { result: 'success' }]);
    }
    expect(await statuses(agent)).toEqual([1, 2].map((run_id) => ({ run_id, status: 'PAUSED' })));
    expect(await statuses(other)).toEqual([{ run_id: 3, status: 'RUNNING' }]);
    for (let i = 0; i < 2; i++) {
      expect((await post(`/${agent}/resume`, { run_ids: [2] })).json).toEqual({ result: 'success' });
    }
    expect(await statuses(agent)).toEqual([
      { run_id: 1, status: 'PAUSED' },
      { run_id: 2, status: 'RUNNING' },
    ]);
    await post(`/${agent}/resume`, { run_ids: null });
    expect(await statuses(agent, { run_status_filter: 'RUNNING' })).toHaveLength(2);
  });

  it('leave what has ended alone', async () => {
    const agent = await created();
    await run(agent);
    await h.executions.terminateAll(h.a.organisationId, (await agentRows())[0]?.id ?? '');
    for (const path of ['pause', 'resume']) {
      expect((await post(`/${agent}/${path}`, { run_ids: [1] })).json).toEqual({ result: 'success' });
    }
    expect(await statuses(agent)).toEqual([{ run_id: 1, status: 'TERMINATED' }]);
  });
});

describe('POST /api/v1/agent/resources/output', () => {
  it('answers addresses that take the same key', async () => {
    const agent = await created();
    await run(agent);
    await run(agent);
    const list = (await h.call('GET', '/v1/executions')).json.items as { readonly id: string }[];
    const first = list[0]?.id ?? '';
    h.executions.at(first).files.set('a b/ü#.txt', Buffer.from('text'));
    const headers = { 'X-API-Key': h.a.apiKey, host: 'api.example.org', 'x-forwarded-proto': 'https' };
    const answer = await post('/resources/output', { run_ids: [1, 2] }, { key: undefined, headers });
    const url = `https://api.example.org/v1/executions/${first}/files/a%20b/%C3%BC%23.txt`;
    expect([answer.status, answer.json]).toEqual([200, { 1: [url], 2: [] }]);
    const file = await h.call('GET', new URL(url).pathname, undefined, viaKey(h.a.apiKey));
    expect(file.text).toBe('text');
    expect((await h.call('GET', new URL(url).pathname, undefined, viaKey(h.b.apiKey))).status).toBe(404);
  });

  it.each([[[]], [[5]], [[1, 5]]])('is a 404 for the runs %j', async (run_ids) => {
    await run(await created());
    expect((await post('/resources/output', { run_ids })).status).toBe(404);
  });
});

describe('organisations', () => {
  it('count for themselves and see nothing of one another', async () => {
    const theirs = viaKey(h.b.apiKey);
    const agent = await created();
    await run(agent);
    const ours = () => JSON.stringify(h.table.dump().filter(({ pk }) => pk.startsWith(`ORG#${h.a.organisationId}`)));
    const agentId = (await agentRows())[0]?.id;
    const before = ours();
    for (const [path, body] of [
      ['/1/run', {}],
      ['/1/run-status', {}],
      ['/1/pause', {}],
      ['/1/resume', {}],
      ['/resources/output', { run_ids: [1] }],
    ] as const) {
      expect((await post(path, body, theirs)).status).toBe(404);
    }
    expect((await post(`/${agentId}/run`, {}, theirs)).status).toBe(404);
    expect((await h.call('PUT', `${API}/1`, { name: 'stolen' }, theirs)).status).toBe(404);
    expect(ours()).toBe(before);
    expect((await newest()).name).toBe('Reporter');
    expect((await post('', AGENT, theirs)).json).toEqual({ agent_id: 1 });
  });
});

describe('/v1/agent', () => {
  it('is the same', async () => {
    const made = await h.call('POST', '/v1/agent', AGENT);
    expect([made.status, made.json]).toEqual([200, { agent_id: 1 }]);
    const started = await h.call('POST', '/v1/agent/1/run', {});
    expect(started.json).toEqual({ run_id: 1 });
    expect((await h.call('PUT', '/v1/agent/1', {})).json).toEqual({ agent_id: 1 });
    expect((await h.call('POST', '/v1/agent/1/run-status', {})).json).toEqual([{ run_id: 1, status: 'RUNNING' }]);
    for (const path of ['pause', 'resume']) {
      expect((await h.call('POST', `/v1/agent/1/${path}`, {})).json).toEqual({ result: 'success' });
    }
    expect((await h.call('POST', '/v1/agent/resources/output', { run_ids: [1] })).json).toEqual({ 1: [] });
    const refused = await h.call('POST', '/v1/agent/2/run', {});
    expect([refused.status, refused.json]).toEqual([404, { detail: 'There is no such agent.' }]);
  });
});

describe('scopes', () => {
  it('let a key do what it may and no more', async () => {
    await created();
    const [reader, runner] = [await h.keyWith('read'), await h.keyWith('run')];
    for (const [path, key, status] of [
      ['', runner, 403],
      ['/1/run', reader, 403],
      ['/1/pause', reader, 403],
      ['/1/run', runner, 200],
      ['/1/run-status', reader, 200],
    ] as const) {
      const answer = await post(path, path === '' ? AGENT : {}, viaKey(key));
      expect(answer.status).toBe(status);
      if (status === 403) expect(Object.keys(answer.json)).toEqual(['detail']);
    }
  });
});
