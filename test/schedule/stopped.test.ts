import { beforeEach, describe, expect, it } from 'vitest';
import { listAttention } from '../../lib/attention/list.ts';
import { organisationStatus } from '../../lib/http/executions/status.ts';
import { keys, owner } from '../../lib/kernel/keys.ts';
import { set } from '../../lib/kernel/table.ts';
import { buryFire } from '../../lib/schedule/dead-letter.ts';
import { type FireDeps, fireSchedule } from '../../lib/schedule/fire.ts';
import { getSchedule } from '../../lib/schedule/schedule.ts';
import { stopSchedule } from '../../lib/schedule/stop.ts';
import { type Harness, makeHarness } from '../http/support/harness.ts';

let h: Harness;
let agentId = '';
let scheduleId = '';
beforeEach(async () => {
  h = await makeHarness();
  agentId = await h.agent();
  scheduleId = (await h.call('POST', '/v1/schedules', { agentId, every: 'PT1H' })).json.id as string;
});

const at = () => ({ orgId: h.a.organisationId, scheduleId });
const path = () => `/v1/schedules/${scheduleId}`;
const shown = async () => (await h.call('GET', path())).json;
const items = async () => (await h.call('GET', '/v1/attention')).json.items as { readonly [member: string]: unknown }[];
const fireDeps = (): FireDeps => ({
  ...h.deps,
  steps: { send: async () => undefined, changeVisibility: async () => undefined },
  metrics: { count() {} },
  upper: { writes: () => [], wake: async () => undefined },
  resolveModel: async () => undefined,
});
const fire = () => fireSchedule(fireDeps(), { ...at(), dueAt: h.clock.now() });
const stop = async () =>
  stopSchedule(h.deps, await getSchedule(h.table, at()), { code: 'broken', message: 'It broke.' }, h.clock.now());

describe('a schedule that stops by itself', () => {
  it('asks for a person in the transaction that stops it', async () => {
    expect(await stop()).toBe(true);
    expect(await shown()).toMatchObject({ state: 'PAUSED', reason: { code: 'broken', message: 'It broke.' } });
    expect(await items()).toMatchObject([
      {
        kind: 'schedule_stopped',
        subject: { type: 'schedule', id: scheduleId },
        question: `The schedule ${scheduleId} stopped by itself. It broke.`,
        url: path(),
        since: new Date(h.clock.now()).toISOString(),
        actions: [
          { label: 'Resume', method: 'POST', path: `${path()}/resume` },
          { label: 'Delete', method: 'DELETE', path: path() },
        ],
      },
    ]);
  });

  it('asks nobody where somebody else was faster', async () => {
    const seen = await getSchedule(h.table, at());
    await h.call('PATCH', path(), { maxRuns: 3 });
    expect(await stopSchedule(h.deps, seen, { code: 'broken', message: 'It broke.' }, h.clock.now())).toBe(false);
    expect(await items()).toEqual([]);
    expect((await shown()).state).toBe('ACTIVE');
  });

  it('because its agent is gone can only be deleted', async () => {
    await h.call('DELETE', `/v1/agents/${agentId}`);
    await fire();
    expect(await shown()).toMatchObject({ state: 'PAUSED', reason: { code: 'agent_deleted' } });
    expect(await items()).toMatchObject([
      { kind: 'schedule_stopped', actions: [{ label: 'Delete', method: 'DELETE', path: path() }] },
    ]);
    expect((await h.call('DELETE', path())).status).toBe(204);
    expect(await items()).toEqual([]);
  });

  it('because the queue gave up on it asks once, however often it is told', async () => {
    const message = { ...at(), dueAt: h.clock.now() };
    await buryFire(h.deps, message);
    await buryFire(h.deps, message);
    expect(await items()).toMatchObject([{ question: expect.stringContaining('Resume to try again.') }]);
  });

  it.each([
    ['resume', 'POST', '/resume', undefined, 'ACTIVE'],
    ['change', 'PATCH', '', { maxRuns: 7 }, 'PAUSED'],
    ['end by a change', 'PATCH', '', { every: 'P10Y', expiresAt: '2026-03-01T12:00:01.000Z' }, 'COMPLETED'],
  ] as const)('%s: nobody is asked any more, and it has no reason', async (_, method, more, body, state) => {
    await stop();
    const answer = await h.call(method, `${path()}${more}`, body);
    expect(answer.json.state).toBe(state);
    expect(answer.json).not.toHaveProperty('reason');
    expect(await items()).toEqual([]);
    expect(h.table.dump().filter(({ pk }) => pk.endsWith('#ATTENTION'))).toEqual([]);
  });

  it('stops again under another item', async () => {
    await stop();
    const [first] = await items();
    await h.call('POST', `${path()}/resume`);
    await h.clock.advance(1_000);
    await stop();
    const [second] = await items();
    expect(second?.id).not.toBe(first?.id);
    expect(second?.actions).toMatchObject([{ path: `${path()}/resume` }, {}]);
    expect((await h.call('POST', `${path()}/resume`)).status).toBe(200);
    expect(await items()).toEqual([]);
  });

  it('makes the status of its organisation 2, and of no other', async () => {
    const report = (orgId: string) =>
      organisationStatus({ ...h.deps, modelConfigured: async () => true } as never, orgId);
    const check = async (orgId = h.a.organisationId) =>
      (await report(orgId)).checks.find(({ name }) => name === 'schedules');
    expect(await check()).toMatchObject({ code: 0 });
    await stop();
    expect(await check()).toMatchObject({ code: 2, detail: expect.stringContaining(scheduleId) });
    expect((await report(h.a.organisationId)).code).toBe(2);
    expect(await check(h.b.organisationId)).toMatchObject({ code: 0 });
  });
});

describe('a schedule whose agent was deleted', () => {
  beforeEach(async () => {
    await h.call('PATCH', path(), { startAt: '2026-09-01T00:00:00Z' });
    await h.call('DELETE', `/v1/agents/${agentId}`);
  });

  it('is shown and listed as what it is, before it is due', async () => {
    const listed = ((await h.call('GET', '/v1/schedules')).json.items as (typeof h.errors)[])[0];
    for (const one of [await shown(), listed]) {
      expect(one).toMatchObject({ state: 'ACTIVE', reason: { code: 'agent_deleted' } });
      expect(one).not.toHaveProperty('nextAt');
    }
  });

  it.each([
    ['GET', '/next', undefined],
    ['PATCH', '', { maxRuns: 3 }],
    ['PATCH', '', { goals: ['other'] }],
  ] as const)('answers %s %s with a 409 that names the agent', async (method, more, body) => {
    const refused = await h.call(method, `${path()}${more}`, body);
    expect([refused.status, refused.json.code, refused.json.agentId]).toEqual([409, 'agent_deleted', agentId]);
    expect(refused.json.detail).toContain(agentId);
  });

  it('can be paused and deleted, and not resumed', async () => {
    expect((await h.call('POST', `${path()}/pause`)).status).toBe(200);
    expect((await h.call('POST', `${path()}/resume`)).json.code).toBe('agent_deleted');
    expect((await h.call('DELETE', path())).status).toBe(204);
  });
});

describe('a schedule that cannot be read', () => {
  it.each([
    ['damaged', [set('startAt', -1)]],
    ['of a newer version', [set('v', 2)]],
    ['without a version of its own', [set('version', 'x')]],
  ])('%s, is deleted: no mark, no place in the list, no item', async (_, damage) => {
    await stop();
    await h.table.update(keys.schedule(h.a.organisationId, scheduleId), [
      ...damage,
      set('duePk', 'DUE#tick#0'),
      set('dueSk', `2026-01-01T00:00:00.000Z#${scheduleId}`),
    ]);
    expect((await h.call('GET', path())).status).toBe(500);
    // Nobody else's.
    expect((await h.call('DELETE', path(), undefined, { key: h.b.apiKey })).status).toBe(404);
    expect((await h.call('DELETE', path())).status).toBe(204);
    expect((await h.call('GET', path())).status).toBe(404);
    expect((await h.call('DELETE', path())).status).toBe(204);
    const row = h.table.dump().find(({ sk }) => sk === 'SCHEDULE');
    expect(row).toMatchObject({ state: 'DELETED', agentId, v: 1 });
    expect([row?.duePk, row?.dueSk, row?.ownerPk, row?.ownerSk]).toEqual(Array(4).fill(undefined));
    expect(await items()).toEqual([]);
    const due = await h.table.query({ pk: owner.schedules(h.a.organisationId), index: 'byOwner' });
    expect(due.items).toEqual([]);
  });
});

it("items of one organisation are no other one's", async () => {
  await stop();
  const others = await listAttention(h.deps, h.b.organisationId, {}, { limit: 10 });
  expect(others.items).toEqual([]);
});
