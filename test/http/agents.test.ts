import { beforeEach, describe, expect, it } from 'vitest';
import { type Harness, makeHarness } from './support/harness.ts';

let h: Harness;
beforeEach(async () => {
  h = await makeHarness();
});

describe('agents', () => {
  it('are made with one row per configuration key, unknown keys as they were given', async () => {
    const odd = { deep: [1, { a: null }], text: 'ü', big: 1e300 };
    const made = await h.call('POST', '/v1/agents', { name: 'one', config: { goals: ['g'], maxIterations: 3, odd } });
    expect(made.status).toBe(201);
    expect(made.json.config).toEqual({ goals: ['g'], maxIterations: 3, odd });
    expect(made.json.workflow).toBe('goal');
    expect(made.json).not.toHaveProperty('orgId');
    const rows = h.table.dump().filter(({ sk }) => sk.startsWith('CONFIG#'));
    expect(rows.map(({ sk }) => sk).sort()).toEqual(['CONFIG#goals', 'CONFIG#maxIterations', 'CONFIG#odd']);
    const got = await h.call('GET', `/v1/agents/${made.json.id}`);
    expect(got.json).toEqual(made.json);
    const organisation = await h.call('GET', '/v1/organisation');
    expect(got.json.projectId).toBe(organisation.json.defaultProjectId);
  });

  it('refuse wrong types naming field, shape and expectation', async () => {
    const refused = await h.call('POST', '/v1/agents', {
      name: 'x',
      config: { maxIterations: 'many', goals: ['', 4] },
    });
    expect(refused.status).toBe(400);
    expect(refused.headers['content-type']).toMatch(/problem\+json/);
    expect(refused.json.errors).toEqual([
      { field: 'config.maxIterations', received: 'string of 4 characters', expected: 'number' },
      { field: 'config.goals[0]', received: 'string of 0 characters', expected: 'at least 1 character' },
      { field: 'config.goals[1]', received: 'number 4', expected: 'string' },
    ]);
  });

  it.each([
    [{ name: 'x', bogus: 1 }, 'bogus'],
    [{ name: 'x', config: { permissionType: 'NONE' } }, 'config.permissionType'],
    [{ name: 'x', config: { userTimezone: 'Mars/Olympus' } }, 'config.userTimezone'],
    [{ name: 'x', config: { 'a#b': 1 } }, 'config.a#b'],
    [{ name: 'x', config: { tools: ['think', 'fly'] } }, 'config.tools[1]'],
    [{ name: 'x', config: { model: 'x'.repeat(201) } }, 'config.model'],
    [{ name: 'x', workflow: 'nope' }, 'workflow'],
    [{ name: 'x', projectId: 'prj_nope' }, 'projectId'],
    [{ name: 'x', projectId: 'prj_00000000000000000000000000' }, 'projectId'],
    [{ name: '  ' }, 'name'],
    [{}, 'name'],
    [[], 'body'],
  ])('refuse %j', async (body, field) => {
    const refused = await h.call('POST', '/v1/agents', body);
    expect(refused.status).toBe(400);
    expect((refused.json.errors as unknown as { field: string }[]).map((error) => error.field)).toEqual([field]);
  });

  it('name the tools there are when one is unknown', async () => {
    const refused = await h.call('POST', '/v1/agents', { name: 'x', config: { tools: ['fly'] } });
    expect(refused.json.code).toBe('unknown_tool');
    expect(refused.json.detail).toContain('"fly"');
    expect(refused.json.detail).toContain('think, http_request');
  });

  it('refuse a configuration that no row could hold', async () => {
    const long = await h.call('POST', '/v1/agents', { name: 'x', config: { blob: 'x'.repeat(103_000) } });
    expect(long.json.errors).toMatchObject([{ field: 'config.blob', expected: 'at most 102400 bytes' }]);
    const many = Object.fromEntries(Array.from({ length: 91 }, (_, i) => [`k${i}`, i]));
    expect((await h.call('POST', '/v1/agents', { name: 'x', config: many })).json.code).toBe('config_too_large');
    const large = Object.fromEntries(Array.from({ length: 4 }, (_, i) => [`k${i}`, 'x'.repeat(90_000)]));
    expect((await h.call('POST', '/v1/agents', { name: 'x', config: large })).json.code).toBe('config_too_large');
    const id = await h.agent();
    for (const key of ['a', 'b', 'c']) {
      const put = await h.call('PUT', `/v1/agents/${id}/config/${key}`, { value: 'x'.repeat(90_000) });
      expect(put.status).toBe(200);
    }
    const last = await h.call('PUT', `/v1/agents/${id}/config/d`, { value: 'x'.repeat(90_000) });
    expect(last.json.code).toBe('config_too_large');
  });

  it('are patched key by key', async () => {
    const id = await h.agent({ goals: ['a'], maxSteps: 4 });
    const changes = { name: 'new', description: 'd', config: { goals: ['b'], extra: true } };
    const patched = await h.call('PATCH', `/v1/agents/${id}`, changes);
    expect(patched.status).toBe(200);
    expect(patched.json).toMatchObject({
      name: 'new',
      description: 'd',
      config: { goals: ['b'], maxSteps: 4, extra: true },
    });
    const cleared = await h.call('PATCH', `/v1/agents/${id}`, { description: null });
    expect(cleared.json).not.toHaveProperty('description');
    const noProject = await h.call('PATCH', `/v1/agents/${id}`, { projectId: 'prj_00000000000000000000000000' });
    expect(noProject.json.errors).toMatchObject([{ field: 'projectId' }]);
  });

  it('have their configuration read, set and taken away by key', async () => {
    const id = await h.agent({ goals: ['a'] });
    expect((await h.call('PUT', `/v1/agents/${id}/config/maxIterations`, { value: 7 })).json).toEqual({
      key: 'maxIterations',
      value: 7,
    });
    expect((await h.call('GET', `/v1/agents/${id}/config`)).json).toEqual({ goals: ['a'], maxIterations: 7 });
    const wrong = await h.call('PUT', `/v1/agents/${id}/config/maxIterations`, { value: [] });
    expect(wrong.json.errors).toEqual([{ field: 'value', received: 'array of 0', expected: 'number' }]);
    expect((await h.call('PUT', `/v1/agents/${id}/config/x`, {})).status).toBe(400);
    expect((await h.call('PUT', `/v1/agents/${id}/config/__proto__`, { value: 1 })).status).toBe(400);
    expect((await h.call('DELETE', `/v1/agents/${id}/config/maxIterations`)).status).toBe(204);
    expect((await h.call('DELETE', `/v1/agents/${id}/config/maxIterations`)).status).toBe(404);
    expect((await h.call('GET', `/v1/agents/${id}/config`)).json).toEqual({ goals: ['a'] });
  });

  it('are deleted softly, end what they run, and a repeat goes on', async () => {
    const id = await h.agent();
    const run = await h.call('POST', `/v1/agents/${id}/executions`);
    expect((await h.call('DELETE', `/v1/agents/${id}`)).status).toBe(204);
    expect((await h.call('GET', `/v1/agents/${id}`)).status).toBe(404);
    expect((await h.call('GET', `/v1/executions/${run.json.id}`)).json.status).toBe('TERMINATED');
    expect((await h.call('PATCH', `/v1/agents/${id}`, { name: 'n' })).status).toBe(404);
    expect((await h.call('PUT', `/v1/agents/${id}/config/goals`, { value: [] })).status).toBe(404);
    expect((await h.call('POST', `/v1/agents/${id}/executions`)).status).toBe(404);
    expect((await h.call('GET', '/v1/agents')).json.items).toEqual([]);
    expect((await h.call('DELETE', `/v1/agents/${id}`)).status).toBe(204);
    expect(h.executions.calls.filter((call) => call === `terminateAll ${id}`)).toHaveLength(2);
    expect((await h.call('DELETE', '/v1/agents/agt_00000000000000000000000000')).status).toBe(404);
  });

  it('are listed newest first, page by page, by project', async () => {
    const project = await h.call('POST', '/v1/projects', { name: 'p' });
    const made: string[] = [];
    for (let i = 0; i < 7; i++) {
      await h.clock.advance(5);
      const body = { name: `a${i}`, ...(i % 2 === 0 ? { projectId: project.json.id } : {}) };
      made.unshift((await h.call('POST', '/v1/agents', body)).json.id as string);
    }
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await h.call('GET', `/v1/agents?limit=3${cursor === undefined ? '' : `&cursor=${cursor}`}`);
      seen.push(...(page.json.items as unknown as { id: string }[]).map(({ id }) => id));
      cursor = page.json.nextCursor as string | undefined;
    } while (cursor !== undefined);
    expect(seen).toEqual(made);
    const some = await h.call('GET', `/v1/agents?projectId=${project.json.id}&limit=4`);
    expect((some.json.items as unknown as { id: string }[]).map(({ id }) => id)).toEqual(
      made.filter((_, i) => i % 2 === 0),
    );
    expect(some.json).not.toHaveProperty('nextCursor');
  });
});
