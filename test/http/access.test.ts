import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { attentionIdOf, type NewAttention, openAttention } from '../../lib/attention/attention.ts';
import type { Route } from '../../lib/http/define-route.ts';
import { ROUTES } from '../../lib/http/routes/all.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { postingWrites } from '../../lib/router/outbox/write.ts';
import { threadWrites } from '../../lib/router/thread/thread-writes.ts';
import { SCOPES, type Scope } from '../../lib/tenancy/scope.ts';
import { newDeliveryItem } from '../../lib/webhook/delivery.ts';
import { type Harness, makeHarness } from './support/harness.ts';

const guarded = ROUTES.filter((route) => route.scope !== 'public');
const lower = (scope: Route['scope']): Scope | undefined => SCOPES[SCOPES.indexOf(scope as Scope) - 1];

const EXAMPLES: { readonly [param: string]: string } = {
  key: 'goals',
  name: 'mine',
  path: 'a.txt',
};

/** The path with ids that are well formed. */
const pathOf = (route: Route, ids: { readonly [param: string]: string } = {}): string =>
  route.path.replace(/\{(\w+)\+?\}/g, (_, name: string) => ids[name] ?? EXAMPLES[name] ?? idLike(name));

const idLike = (param: string): string => {
  const prefix = {
    projectId: 'prj',
    agentId: 'agt',
    executionId: 'exe',
    permissionId: 'ask',
    attentionId: 'att',
    keyId: 'key',
    scheduleId: 'sch',
    templateId: 'tpl',
    webhookId: 'whk',
    deliveryId: 'dlv',
    sourceId: 'src',
    threadId: 'thr',
    ticketId: 'tkt',
    effectId: 'eff',
  }[param];
  return `${prefix}_${'0'.repeat(26)}${param === 'permissionId' ? '_1_101' : ''}`;
};

const titled = (routes: readonly Route[]): [string, Route][] =>
  routes.map((route) => [`${route.method} ${route.path}`, route]);

describe('a route that needs a key', () => {
  let h: Harness;
  const keysByScope = new Map<Scope, string>();
  beforeAll(async () => {
    h = await makeHarness();
    for (const scope of SCOPES) keysByScope.set(scope, await h.keyWith(scope));
  });

  it.each(titled(guarded))('%s refuses a request without one', async (_, route) => {
    const refused = await h.call(route.method, pathOf(route), undefined, { key: undefined });
    expect(refused.status).toBe(401);
    expect(refused.headers['www-authenticate']).toBe('Bearer realm="baton"');
    if (route.errors === 'detail') {
      expect(refused.headers['content-type']).toBe('application/json');
      expect(refused.json).toEqual({ detail: expect.stringContaining('An API key is needed') });
      return;
    }
    expect(refused.json.code).toBe('missing_key');
    expect(refused.headers['content-type']).toBe('application/problem+json');
  });

  it.each(titled(guarded.filter((route) => route.scope !== 'read')))('%s refuses a lower scope', async (_, route) => {
    const key = keysByScope.get(lower(route.scope) as Scope);
    const refused = await h.call(route.method, pathOf(route), {}, { key });
    expect(refused.status).toBe(403);
    if (route.errors === 'detail') expect(refused.json.detail).toContain(`needs the scope "${route.scope}"`);
    else expect(refused.json).toMatchObject({ code: 'missing_scope', neededScope: route.scope });
    expect(refused.headers['www-authenticate']).toContain(`scope="${route.scope}"`);
  });

  it.each(titled(guarded))('%s lets its own scope through', async (_, route) => {
    const key = keysByScope.get(route.scope as Scope);
    const answer = await h.call(route.method, pathOf(route), {}, { key });
    expect([401, 403]).not.toContain(answer.status);
    expect(answer.status).toBeLessThan(500);
  });
});

describe("another organisation's ids", () => {
  let h: Harness;
  let ids: { readonly [param: string]: string };
  beforeEach(async () => {
    h = await makeHarness();
    const agentId = await h.agent();
    const run = await h.call('POST', `/v1/agents/${agentId}/executions`, {});
    const executionId = run.json.id as string;
    h.executions.at(executionId).files.set('a.txt', Buffer.from('secret'));
    const project = await h.call('POST', '/v1/projects', { name: 'p' });
    const key = await h.call('POST', '/v1/keys', { name: 'k', scopes: ['read'] });
    await h.call('PUT', '/v1/providers/mine', {
      baseUrl: 'https://m.example/v1',
      apiKey: 'k',
      models: [{ name: 'm' }],
    });
    const permissionId = h.executions.ask(executionId).id;
    const ends = { name: 'ends', start: 'end', steps: { end: { kind: 'END' } } };
    const workflow = await h.call('POST', '/v1/workflows', ends);
    const schedule = await h.call('POST', '/v1/schedules', { agentId, every: 'P1D' });
    const template = await h.call('POST', '/v1/templates', { agentId });
    const scheduleId = schedule.json.id as string;
    const webhook = await h.call('POST', '/v1/webhooks', {
      url: 'https://hooks.example.org/a',
      events: ['question.asked'],
    });
    const webhookId = webhook.json.id as string;
    const event = { id: 'eff_1', type: 'question.asked' as const, at: h.clock.now(), sequence: 1, data: {} };
    const delivery = newDeliveryItem(h.a.organisationId, webhookId, event, h.clock.now());
    await h.table.put(delivery);
    const source = { kind: 'http', name: 's', secrets: ['eight-characters'] };
    const sourceId = (await h.call('POST', '/v1/sources', source)).json.id as string;
    const ticket = await h.call('POST', '/v1/tickets', { title: 't', text: 'x' });
    const threadId = `thr_${'1'.repeat(26)}`;
    const place = { threadId, sourceId, replyTo: { thread: '1/issues/1' } };
    const named = { key: 'gh:1:issue:1', title: 't', replyTo: place.replyTo };
    const at = { orgId: h.a.organisationId, sourceId, threadId, named, now: h.clock.now() };
    const { postingId, writes } = postingWrites({ ...at, place, cause: 'x', at: at.now, body: 'secret' });
    await h.table.transact([...threadWrites({ unknownKeys: [] }, at, []), ...writes]);
    const item: NewAttention = {
      orgId: h.a.organisationId,
      kind: 'error',
      subject: { type: 'execution', id: executionId },
      at: h.clock.now(),
      question: 'q',
      url: 'u',
      actions: [],
    };
    await h.table.transact([openAttention(item)]);
    ids = {
      agentId,
      // The routes that know numbers take an id as well.
      agentNumber: agentId,
      attentionId: attentionIdOf(item),
      executionId,
      scheduleId,
      permissionId,
      webhookId,
      sourceId,
      threadId,
      ticketId: ticket.json.id as string,
      effectId: postingId,
      deliveryId: String(delivery.deliveryId),
      projectId: project.json.id as string,
      keyId: key.json.id as string,
      workflowId: workflow.json.id as string,
      templateId: template.json.id as string,
    };
  });

  const BODIES: { readonly [operation: string]: object } = {
    putAgentConfig: { value: ['stolen'] },
    changeLimits: { maxIterations: 1 },
    giveInput: { content: 'x' },
    decidePermission: { decision: 'approve' },
    changeAgent: { name: 'stolen' },
    changeSchedule: { maxRuns: 9 },
    answerTicket: { content: 'stolen' },
    patchWebhook: { description: 'stolen' },
  };

  const addressed = guarded.filter((route) => /\{/.test(route.path) && route.operationId !== 'putProvider');

  it.each(titled(addressed))('%s answers 404, and 200 or so to their owner', async (_, route) => {
    const body = BODIES[route.operationId];
    const before = JSON.stringify(h.table.dump());
    const foreign = await h.call(route.method, pathOf(route, ids), body, { key: h.b.apiKey });
    expect(foreign.status).toBe(404);
    // The use of a key and the audit of who tries are noted, of the one who tried alone.
    const isKept = ({ pk, sk }: { pk: string; sk: string }): boolean =>
      !sk.startsWith('APIKEY#') && pk !== keys.audits(h.b.organisationId).pk;
    expect(JSON.stringify(h.table.dump().filter(isKept))).toBe(JSON.stringify(JSON.parse(before).filter(isKept)));
    const own = await h.call(route.method, pathOf(route, ids), body);
    expect([200, 201, 202, 204, 409]).toContain(own.status);
  });

  it('are in no list', async () => {
    for (const route of guarded.filter(({ operationId }) => /^list/.test(operationId))) {
      if (route.operationId === 'listTools' || /\{/.test(route.path)) continue;
      const list = await h.call('GET', route.path, undefined, { key: h.b.apiKey });
      const text = list.text;
      for (const id of Object.values(ids)) expect(text).not.toContain(id);
      expect(text).not.toContain('m.example');
    }
    const foreignAgent = await h.call('GET', `/v1/executions?agentId=${ids.agentId}`, undefined, { key: h.b.apiKey });
    expect(foreignAgent.json.items).toEqual([]);
  });
});

describe('keys in requests', () => {
  it('come as Bearer or X-API-Key', async () => {
    const h = await makeHarness();
    const viaHeader = await h.call('GET', '/v1/agents', undefined, {
      key: undefined,
      headers: { 'X-API-Key': h.a.apiKey },
    });
    expect(viaHeader.status).toBe(200);
    const lowerCase = await h.call('GET', '/v1/agents', undefined, {
      key: undefined,
      headers: { authorization: `bearer ${h.a.apiKey}` },
    });
    expect(lowerCase.status).toBe(200);
    const basic = await h.call('GET', '/v1/agents', undefined, {
      key: undefined,
      headers: { authorization: 'Basic eDp5' },
    });
    expect(basic.json.code).toBe('missing_key');
  });

  it('tell a typo from a wrong key, an expired and a revoked one', async () => {
    const h = await makeHarness();
    const last = h.a.apiKey.at(-1) === 'A' ? 'B' : 'A';
    const typo = await h.call('GET', '/v1/agents', undefined, { key: h.a.apiKey.slice(0, -1) + last });
    expect([typo.status, typo.json.code]).toEqual([401, 'malformed_key']);
    expect(typo.headers['www-authenticate']).toContain('error="invalid_token"');
    const cut = await h.call('GET', '/v1/agents', undefined, { key: h.a.apiKey.slice(0, 20) });
    expect(cut.json.code).toBe('malformed_key');
    const wrong = await h.call('GET', '/v1/agents', undefined, { key: 'wrong' });
    expect(wrong.json.code).toBe('unknown_key');

    const expiresAt = new Date(h.clock.now() + 60_000).toISOString();
    const made = await h.call('POST', '/v1/keys', { name: 'k', scopes: ['read'], expiresAt });
    const key = made.json.apiKey as string;
    expect((await h.call('GET', '/v1/agents', undefined, { key })).status).toBe(200);
    await h.clock.advance(60_001);
    expect((await h.call('GET', '/v1/agents', undefined, { key })).json.code).toBe('expired_key');

    const other = await h.call('POST', '/v1/keys', { name: 'k2', scopes: ['read'] });
    const otherKey = other.json.apiKey as string;
    expect((await h.call('GET', '/v1/agents', undefined, { key: otherKey })).status).toBe(200);
    expect((await h.call('DELETE', `/v1/keys/${other.json.id}`)).status).toBe(204);
    expect((await h.call('GET', '/v1/agents', undefined, { key: otherKey })).json.code).toBe('revoked_key');
    expect((await h.call('DELETE', `/v1/keys/${other.json.id}`)).status).toBe(204);
  });
});
