import { beforeEach, describe, expect, it } from 'vitest';
import { type Harness, makeHarness } from './support/harness.ts';

let h: Harness;
beforeEach(async () => {
  h = await makeHarness();
});

const own = {
  name: 'mine',
  start: 'ask',
  steps: {
    ask: { kind: 'ASK_PERMISSION', question: 'Go on?', next: { YES: 'done', NO: 'ask' } },
    done: { kind: 'END' },
  },
};
const config = { goals: ['Find it.'], tools: ['think'], extra: { deep: [1, { x: null }] } };

const newAgent = async (more: object = {}): Promise<string> => {
  const made = await h.call('POST', '/v1/agents', { name: 'Scout', description: 'Looks.', config, ...more });
  expect(made.status).toBe(201);
  return made.json.id as string;
};
const save = async (body: object): Promise<{ readonly [member: string]: unknown }> => {
  const made = await h.call('POST', '/v1/templates', body);
  expect(made.status).toBe(201);
  return made.json;
};
const exportOf = async (id: unknown) => (await h.call('GET', `/v1/templates/${id}/export`)).json;

describe('a template', () => {
  it('keeps what the agent was made of, whatever becomes of the agent', async () => {
    const agentId = await newAgent();
    const saved = await save({ agentId });
    expect(saved).toMatchObject({ name: 'Scout', description: 'Looks.', workflow: 'goal', config });
    await h.call('PUT', `/v1/agents/${agentId}/config/goals`, { value: ['Other.'] });
    await h.call('DELETE', `/v1/agents/${agentId}`);
    const made = await h.call('POST', `/v1/templates/${saved.id}/agents`, {
      name: 'Second',
      config: { tools: ['http_request'] },
    });
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({
      name: 'Second',
      workflow: 'goal',
      config: { ...config, tools: ['http_request'] },
    });
    expect((await h.call('GET', `/v1/agents/${made.json.id}`)).json.config).toEqual({
      ...config,
      tools: ['http_request'],
    });
  });

  it('is listed newest first without its configuration, and can be deleted', async () => {
    const agentId = await newAgent();
    const first = await save({ agentId, name: 'first' });
    const second = await save({ agentId, name: 'second' });
    const listed = (await h.call('GET', '/v1/templates')).json.items as readonly { readonly name: string }[];
    expect(new Set(listed.map(({ name }) => name))).toEqual(new Set(['first', 'second']));
    expect(listed[0]).not.toHaveProperty('config');
    expect((await h.call('DELETE', `/v1/templates/${first.id}`)).status).toBe(204);
    expect((await h.call('DELETE', `/v1/templates/${first.id}`)).status).toBe(404);
    expect((await h.call('GET', `/v1/templates/${first.id}`)).status).toBe(404);
    expect((await h.call('GET', `/v1/templates/${second.id}`)).status).toBe(200);
  });

  it('goes to another organisation as a document, its own workflow with it', async () => {
    await h.call('POST', '/v1/workflows', own);
    const saved = await save({ agentId: await newAgent({ workflow: 'mine' }) });
    const document = await exportOf(saved.id);
    expect(document).toMatchObject({ format: 'baton-agent-template/1', workflow: 'mine', config });
    expect(JSON.stringify(document)).not.toMatch(/agt_|org_|tpl_|key_/);
    const there = { key: h.b.apiKey };
    const imported = await h.call('POST', '/v1/templates/import', document, there);
    expect(imported.status).toBe(201);
    expect((await h.call('GET', '/v1/workflows/mine', undefined, there)).status).toBe(404);
    const path = `/v1/templates/${imported.json.id}/agents`;
    expect((await h.call('POST', path, {}, there)).json).toMatchObject({ workflow: 'mine', config });
    // The second agent uses the workflow that the first one brought.
    expect((await h.call('POST', path, {}, there)).status).toBe(201);
    expect((await h.call('GET', '/v1/workflows/mine', undefined, there)).json).toMatchObject({ version: 1 });
  });

  it('brings its workflow once, however many agents are made at the same moment', async () => {
    await h.call('POST', '/v1/workflows', own);
    const document = await exportOf((await save({ agentId: await newAgent({ workflow: 'mine' }) })).id);
    const there = { key: h.b.apiKey };
    const imported = await h.call('POST', '/v1/templates/import', document, there);
    const path = `/v1/templates/${imported.json.id}/agents`;
    const made = await Promise.all([1, 2, 3, 4].map(() => h.call('POST', path, {}, there)));
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect((await h.call('GET', '/v1/workflows/mine', undefined, there)).json).toMatchObject({ version: 1 });
    expect((await h.call('GET', '/v1/workflows/mine?version=2', undefined, there)).status).toBe(404);
  });

  it('does not replace another workflow of the same name', async () => {
    await h.call('POST', '/v1/workflows', own);
    const saved = await save({ agentId: await newAgent({ workflow: 'mine' }) });
    await h.call('POST', '/v1/workflows', { ...own, description: 'changed' });
    const refused = await h.call('POST', `/v1/templates/${saved.id}/agents`, {});
    expect(refused).toMatchObject({ status: 409, json: { code: 'workflow_differs' } });
    expect((await h.call('GET', '/v1/workflows/mine')).json).toMatchObject({ version: 2 });
  });

  it('answers a repeat of the same key with the first answer', async () => {
    const agentId = await newAgent();
    const options = { headers: { 'idempotency-key': 'k' } };
    const first = await h.call('POST', '/v1/templates', { agentId }, options);
    expect((await h.call('POST', '/v1/templates', { agentId }, options)).json).toEqual(first.json);
    expect((await h.call('GET', '/v1/templates')).json.items).toHaveLength(1);
  });
});

describe('what is refused', () => {
  it.each([
    [{ workflow: 'mine' }, 'workflow'],
    [{ workflow: 'goal', definition: own }, 'workflow'],
    [{ config: { tools: ['fly'] } }, 'config.tools[0]'],
    [{ config: { maxIterations: 0 } }, 'config.maxIterations'],
    [{ format: 'baton-agent-template/2' }, 'format'],
    [{ secret: 1 }, 'secret'],
  ])('%o is a 400 that names %s', async (change, field) => {
    const document = await exportOf((await save({ agentId: await newAgent() })).id);
    const answer = await h.call('POST', '/v1/templates/import', { ...document, ...change });
    expect(answer.status).toBe(400);
    expect((answer.json.errors as readonly { readonly field: string }[]).map((error) => error.field)).toContain(field);
  });

  it("is another organisation's template, a reader's key for what changes, an agent that is not there", async () => {
    const agentId = await newAgent();
    const { id } = await save({ agentId });
    const foreign = { key: h.b.apiKey };
    const reader = { key: await h.keyWith('read') };
    expect((await h.call('GET', `/v1/templates/${id}`, undefined, reader)).status).toBe(200);
    for (const [method, path, body] of [
      ['GET', `/v1/templates/${id}`, undefined],
      ['GET', `/v1/templates/${id}/export`, undefined],
      ['POST', `/v1/templates/${id}/agents`, {}],
      ['DELETE', `/v1/templates/${id}`, undefined],
      ['POST', '/v1/templates', { agentId }],
    ] as const) {
      expect((await h.call(method, path, body, foreign)).status, `${method} ${path}`).toBe(404);
      if (method !== 'GET') expect((await h.call(method, path, body, reader)).status, `${method} ${path}`).toBe(403);
    }
    expect((await h.call('GET', `/v1/templates/${id}`)).status).toBe(200);
  });
});
