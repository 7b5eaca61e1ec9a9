import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from './support/api.ts';
import { ROOT } from './support/cloud.ts';
import { finish, use } from './support/scripted-model.ts';
import { decides, report } from './support/team-scripts.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
/** The owner key of a second organisation. */
let other = '';
/** Ids of the first organisation, by the name of the path's parameter. */
let ids: { readonly [parameter: string]: string };

const bootstrap = async (...options: string[]): Promise<string> => {
  const args = ['run', '--silent', 'bootstrap', '--', ...options];
  const env = { ...process.env, BATON_HOME: world.cloud.home };
  return (await promisify(execFile)('npm', args, { cwd: ROOT, env })).stdout;
};

const SECRET = 'a-secret-of-the-feed';

/** Somebody asks something, the Router answers it; and a ticket. */
const discuss = async (sourceId: string) => {
  const { cloud, model } = world;
  model.script(
    'router',
    decides(() => ({ decision: 'answer', reply: 'Ours.' })),
  );
  model.script('worker', () => report('ready', 'ours'));
  await cloud.must('PUT', '/v1/policy', {
    allow: [{ sourceId, actorId: 'ann' }],
    admission: [{ sourceId, scope: '*', ceiling: 'explicit' }],
    assessment: { model: 'router' },
    worker: { model: 'worker' },
  });
  const body = JSON.stringify({ id: '1', thread: 'ours', actor: { id: 'ann', type: 'user' }, text: 'How is it?' });
  const headers = { 'x-baton-signature': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}` };
  await cloud.must('POST', `/ingest/${sourceId}`, body, { key: null, headers });
  const ticket = await cloud.must('POST', '/v1/tickets', { title: 'ours', text: 'Look.' });
  await eventually('the answer is out', () => world.sink.got.some(({ path }) => path === '/replies'));
  const [threads, effects] = await Promise.all([cloud.must('GET', '/v1/threads'), cloud.must('GET', '/v1/effects')]);
  const phase = async () => (await cloud.must('GET', `/v1/tickets/${ticket.id}`)).phase;
  await eventually('the ticket waits for a review', async () => (await phase()) === 'person/review');
  return {
    threadId: threads.items[0]?.id ?? 'none',
    effectId: effects.items[0]?.id ?? 'none',
    ticketId: ticket.id,
  };
};

beforeAll(async () => {
  world = await startWorld();
  const { cloud, model } = world;
  const lines = (await bootstrap('--organisation', 'Other', '--local', '--json')).trim().split('\n');
  expect(lines).toHaveLength(1);
  const made = JSON.parse(lines[0] ?? '');
  expect(made).toEqual({ organisationId: expect.stringMatching(/^org_/), apiKey: expect.stringMatching(/^baton_/) });
  other = made.apiKey;

  model.script('asks', ({ n }) =>
    n === 1 ? use('write_file', { path: 'secret.txt', content: 'ours' }) : finish('done'),
  );
  const asking = await cloud.run({ model: 'asks', permissionType: 'RESTRICTED' });
  await cloud.until(asking.id, 'WAITING_FOR_PERMISSION', 20);
  const { items } = await cloud.must('GET', '/v1/permissions?status=pending');
  const project = await cloud.must('POST', '/v1/projects', { name: 'ours' });
  const key = await cloud.must('POST', '/v1/keys', { name: 'ours', scopes: ['read'] });
  const { agentId } = asking;
  const ends = { name: 'ends', start: 'end', steps: { end: { kind: 'END' } } };
  const hook = { url: 'https://hooks.example.org/a', events: ['question.asked'] };
  const feed = { kind: 'http', name: 'feed', secrets: [SECRET], replyUrl: `${world.sink.url}/replies` };
  const [workflow, schedule, webhook, template, attention, source] = await Promise.all([
    cloud.must('POST', '/v1/workflows', ends),
    cloud.must('POST', '/v1/schedules', { agentId, every: 'P1D', startAt: '2099-01-01T00:00:00Z' }),
    cloud.must('POST', '/v1/webhooks', hook),
    cloud.must('POST', '/v1/templates', { agentId }),
    cloud.must('GET', '/v1/attention'),
    cloud.must('POST', '/v1/sources', feed),
  ]);
  const discussed = await discuss(source.id);
  ids = {
    ...discussed,
    agentId: asking.agentId,
    executionId: asking.id,
    permissionId: items[0]?.id ?? 'none',
    projectId: project.id,
    keyId: key.id,
    workflowId: workflow.id,
    scheduleId: schedule.id,
    webhookId: webhook.id,
    sourceId: source.id,
    templateId: template.id,
    attentionId: attention.items[0]?.id ?? 'none',
    // Nothing was delivered: the webhook before it decides.
    deliveryId: `dlv_${'0'.repeat(26)}`,
  };
});
afterAll(() => world?.close());

interface OpenApi {
  readonly paths: {
    readonly [path: string]: {
      readonly [method: string]: { readonly 'x-scope'?: string; readonly tags?: readonly string[] };
    };
  };
}
const openApi = JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8')) as OpenApi;

/** Bodies that the routes accept, so that the id is what decides. */
const BODIES: { readonly [route: string]: unknown } = {
  'patch /v1/agents/{agentId}': { name: 'stolen' },
  'put /v1/agents/{agentId}/config/{key}': { value: ['stolen'] },
  'patch /v1/executions/{executionId}': { maxIterations: 99 },
  'post /v1/executions/{executionId}/input': { content: 'stolen' },
  'post /v1/permissions/{permissionId}/decision': { decision: 'approve' },
  'patch /v1/projects/{projectId}': { name: 'stolen' },
  'post /v1/agents/{agentId}/executions': {},
  'patch /v1/schedules/{scheduleId}': { maxRuns: 9 },
  'patch /v1/webhooks/{webhookId}': { description: 'stolen' },
  'patch /v1/sources/{sourceId}': { name: 'stolen' },
  'post /v1/tickets/{ticketId}/answer': { content: 'stolen' },
};
/** Parameters that are no ids; one organisation's names mean nothing to another. */
const NAMES: { readonly [parameter: string]: string } = { key: 'goals', path: 'secret.txt' };

const routesWithIds = Object.entries(openApi.paths).flatMap(([path, operations]) =>
  Object.keys(operations)
    .filter(() => /\{\w+Id\}/.test(path) && !path.startsWith('/ingest'))
    .map((method) => ({ method, path })),
);

describe('another organisation', () => {
  test('the walk covers every kind of id that there is', () => {
    const parameters = new Set(
      routesWithIds.flatMap(({ path }) => [...path.matchAll(/\{(\w+Id)\}/g)].map(([, name]) => name)),
    );
    expect([...parameters].sort()).toEqual(Object.keys(ids).sort());
    expect(routesWithIds.length).toBeGreaterThan(15);
  });

  test.each(routesWithIds)('$method $path is a 404', async ({ method, path }) => {
    const real = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? NAMES[name] ?? `no value for ${name}`);
    const body = method === 'get' || method === 'delete' ? undefined : (BODIES[`${method} ${path}`] ?? {});
    const answer = await world.cloud.call(method.toUpperCase(), real, body, { key: other });
    expect({ status: answer.status, code: answer.json?.code }).toEqual({ status: 404, code: 'not_found' });
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
  });

  test('its lists are empty, also with a foreign id as a filter', async () => {
    const list = async (path: string) => (await world.cloud.must('GET', path, undefined, { key: other })).items;
    for (const path of [
      '/v1/agents',
      '/v1/executions',
      '/v1/permissions?status=pending',
      '/v1/providers',
      `/v1/executions?agentId=${ids.agentId}`,
      `/v1/agents?projectId=${ids.projectId}`,
      '/v1/sources',
      '/v1/threads',
      '/v1/triggers',
      '/v1/decisions',
      '/v1/tickets',
      '/v1/effects',
      '/v1/policy/versions',
      `/v1/threads?sourceId=${ids.sourceId}`,
      `/v1/triggers?threadId=${ids.threadId}`,
      `/v1/decisions?threadId=${ids.threadId}`,
      `/v1/tickets?threadId=${ids.threadId}`,
      `/v1/effects?ticketId=${ids.ticketId}`,
    ]) {
      expect(await list(path), path).toEqual([]);
    }
    expect(await list('/v1/projects')).toHaveLength(1);
    expect(await list('/v1/keys')).toHaveLength(1);
    // And nothing was changed by the walk before.
    expect(await world.cloud.must('GET', `/v1/executions/${ids.executionId}`)).toMatchObject({
      status: 'WAITING_FOR_PERMISSION',
      limits: { maxIterations: 25 },
    });
    expect((await world.cloud.must('GET', `/v1/agents/${ids.agentId}`)).name).toBe('tester');
    expect((await world.cloud.must('GET', `/v1/sources/${ids.sourceId}`)).name).toBe('feed');
    expect((await world.cloud.must('GET', `/v1/tickets/${ids.ticketId}`)).phase).toBe('person/review');
  });

  test('its tickets cannot speak in a foreign discussion, and its policy and status are its own', async () => {
    const options = { key: other };
    const ticket = { title: 'x', text: 'x', threadId: ids.threadId };
    expect((await world.cloud.call('POST', '/v1/tickets', ticket, options)).status).toBe(404);
    expect(await world.cloud.must('GET', '/v1/policy', undefined, options)).toMatchObject({ version: 0, allow: [] });
    const { text } = await world.cloud.call('GET', '/v1/status', undefined, options);
    for (const id of Object.values(ids)) expect(text).not.toContain(id);
    const preview = await world.cloud.must('POST', '/v1/policy/preview', {}, options);
    expect(preview.items).toEqual([]);
  });

  test('its agent cannot live in a foreign project, and is not told that there is one', async () => {
    const refusal = async (projectId: string | undefined) => {
      const { status, text } = await world.cloud.call('POST', '/v1/agents', { name: 'x', projectId }, { key: other });
      return `${status} ${text.replaceAll(String(projectId), 'ID')}`;
    };
    const absent = ids.projectId?.replace(/.{4}$/, '0000');
    expect(await refusal(ids.projectId)).toMatch(/^40[04] /);
    expect(await refusal(ids.projectId)).toBe(await refusal(absent));
  });

  test('a cursor of one organisation opens nothing in another', async () => {
    await world.cloud.agent({});
    const { nextCursor } = await world.cloud.must('GET', '/v1/agents?limit=1');
    expect(nextCursor).toBeTypeOf('string');
    const answer = await world.cloud.call('GET', `/v1/agents?cursor=${encodeURIComponent(nextCursor)}`, undefined, {
      key: other,
    });
    expect(answer.status === 400 || answer.json.items.length === 0).toBe(true);
  });
});

describe('keys', () => {
  const refusal = async (key: string | null) => {
    const { status, json } = await world.cloud.call('GET', '/v1/agents', undefined, { key });
    return `${status} ${json.code}`;
  };

  test('a typo is told from a wrong key, and both from none', async () => {
    const last = other.at(-1) === 'A' ? 'B' : 'A';
    expect(await refusal(other.slice(0, -1) + last)).toBe('401 malformed_key');
    expect(await refusal(other.slice(0, -3))).toBe('401 malformed_key');
    expect(await refusal('some-other-key-of-more-than-32-characters')).toBe('401 unknown_key');
    expect(await refusal(null)).toBe('401 missing_key');
  });

  test('X-API-Key does as well as a bearer', async () => {
    const answer = await world.cloud.call('GET', '/v1/agents', undefined, {
      key: null,
      headers: { 'x-api-key': other },
    });
    expect(answer.status).toBe(200);
  });

  test('a revoked key is refused within 30 seconds, by every process that knew it', async () => {
    const { id, apiKey } = await world.cloud.must('POST', '/v1/keys', { name: 'short-lived', scopes: ['read'] });
    const feed = `/v1/executions/${ids.executionId}/feed`;
    const { nextCursor } = await world.cloud.must('GET', feed);
    /** Long polls, so that several processes of the function are busy, and remember the key, at one time. */
    const askAtOnce = async (wait: number): Promise<string[]> => {
      const path = `${feed}?wait=${wait}&after=${encodeURIComponent(nextCursor)}`;
      const answers = Array.from({ length: 5 }, () => world.cloud.call('GET', path, undefined, { key: apiKey }));
      return (await Promise.all(answers)).map(({ status, json }) => `${status} ${json.code}`);
    };
    expect(new Set(await askAtOnce(2))).toEqual(new Set(['200 undefined']));
    await world.cloud.must('DELETE', `/v1/keys/${id}`);
    const began = performance.now();
    await eventually(
      'all refuse it',
      async () => (await askAtOnce(0.5)).every((answer) => answer === '401 revoked_key'),
      30,
    );
    console.log(`a revoked key was refused everywhere after ${Math.round(performance.now() - began)} ms`);
  }, 40_000);

  test('an expired key is refused', async () => {
    const expiresAt = new Date(Date.now() + 1_500).toISOString();
    const { apiKey } = await world.cloud.must('POST', '/v1/keys', { name: 'brief', scopes: ['read'], expiresAt });
    expect((await world.cloud.call('GET', '/v1/agents', undefined, { key: apiKey })).status).toBe(200);
    await eventually('it has expired', async () => (await refusal(apiKey)) === '401 expired_key', 10);
  });

  /** The least scope of a route, and one route for each. */
  const LADDER = ['read', 'run', 'write', 'admin'] as const;
  test.each(LADDER)('a key with the scope %s reaches what needs it and less, and nothing above', async (scope) => {
    const { apiKey } = await world.cloud.must('POST', '/v1/keys', { name: scope, scopes: [scope] });
    const absent = (name: string) => ids[name]?.replace(/.{4}$/, '0000') ?? NAMES[name] ?? 'none';
    const held = LADDER.indexOf(scope);
    for (const [path, operations] of Object.entries(openApi.paths)) {
      for (const [method, { 'x-scope': needed, tags }] of Object.entries(operations)) {
        if (needed === undefined || path.startsWith('/v1/organisation/')) continue;
        const real = path.replace(/\{(\w+)\}/g, (_, name: string) => absent(name));
        const body = method === 'get' || method === 'delete' ? undefined : '{"noSuchField":1}';
        const { status, json } = await world.cloud.call(method.toUpperCase(), real, body, { key: apiKey });
        const allowed = LADDER.indexOf(needed as (typeof LADDER)[number]) <= held;
        // What is let through fails for another reason (no such id, unknown field) or lists.
        expect(status === 403, `${method} ${path} needs ${needed}: ${status} ${json?.code}`).toBe(!allowed);
        if (allowed) continue;
        // SuperAGI's routes tell their errors in its own form.
        const said = tags?.includes('SuperAGI')
          ? { detail: expect.stringContaining(needed) }
          : { code: 'missing_scope', neededScope: needed };
        expect(json, `${method} ${path}`).toMatchObject(said);
      }
    }
  });

  test('the last admin key stays', async () => {
    const { items } = await world.cloud.must('GET', '/v1/keys', undefined, { key: other });
    const answer = await world.cloud.call('DELETE', `/v1/keys/${items[0]?.id}`, undefined, { key: other });
    expect(answer.status).toBe(409);
  });

  test('bootstrap without a running cloud says so', async () => {
    const run = promisify(execFile)('npm', ['run', '--silent', 'bootstrap', '--', '--organisation', 'X', '--local'], {
      cwd: ROOT,
      env: { ...process.env, BATON_HOME: join(world.cloud.home, 'nothing-here') },
    });
    await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/^No local cloud runs in /) });
  });
});
