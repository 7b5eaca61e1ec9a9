import { beforeEach, describe, expect, it } from 'vitest';
import { attentionIdOf, type NewAttention, openAttention } from '../../lib/attention/attention.ts';
import { type Harness, makeHarness } from './support/harness.ts';

let h: Harness;
beforeEach(async () => {
  h = await makeHarness();
});

const item = (ms: number, more: Partial<NewAttention> = {}): NewAttention => ({
  orgId: h.a.organisationId,
  kind: 'budget',
  subject: { type: 'execution', id: 'exe_1' },
  at: h.clock.now() + ms,
  question: `Item ${ms}.`,
  url: '/v1/executions/exe_1',
  actions: [{ label: 'Raise', method: 'PATCH', path: '/v1/executions/exe_1', body: { maxCostUsd: 1.5 } }],
  ...more,
});
const open = (...items: readonly NewAttention[]) => h.table.transact(items.map(openAttention));
const questions = (json: { readonly items?: unknown }) =>
  (json.items as { readonly question: string }[]).map(({ question }) => question);

describe('GET /v1/attention', () => {
  it('shows what waits as the contract has it', async () => {
    await open(item(0));
    const { status, json } = await h.call('GET', '/v1/attention');
    expect(status).toBe(200);
    const shown = {
      id: attentionIdOf(item(0)),
      kind: 'budget',
      subject: { type: 'execution', id: 'exe_1' },
      question: 'Item 0.',
      url: '/v1/executions/exe_1',
      since: new Date(h.clock.now()).toISOString(),
      actions: [{ label: 'Raise', method: 'PATCH', path: '/v1/executions/exe_1', body: { maxCostUsd: 1.5 } }],
    };
    expect(json).toEqual({ items: [shown] });
    expect((await h.call('GET', `/v1/attention/${shown.id}`)).json).toEqual(shown);
    expect((await h.call('GET', `/v1/attention/att_${'0'.repeat(26)}`)).status).toBe(404);
    expect((await h.call('GET', '/v1/attention/1')).status).toBe(404);
  });

  it('is oldest first, in pages', async () => {
    await open(item(2), item(1), item(3));
    const first = await h.call('GET', '/v1/attention?limit=2');
    expect(questions(first.json)).toEqual(['Item 1.', 'Item 2.']);
    const second = await h.call('GET', `/v1/attention?limit=2&cursor=${String(first.json.nextCursor)}`);
    expect(questions(second.json)).toEqual(['Item 3.']);
    expect(second.json.nextCursor).toBeUndefined();
    const foreign = await h.call('GET', `/v1/attention?kind=budget&cursor=${String(first.json.nextCursor)}`);
    expect(foreign.json).toMatchObject({ status: 400, code: 'invalid_cursor' });
  });

  it('takes a kind and a subject', async () => {
    await open(item(1), item(2, { kind: 'error', subject: { type: 'schedule', id: 'sch_1' } }));
    expect(questions((await h.call('GET', '/v1/attention?kind=error')).json)).toEqual(['Item 2.']);
    expect(questions((await h.call('GET', '/v1/attention?subjectType=execution')).json)).toEqual(['Item 1.']);
    expect(questions((await h.call('GET', '/v1/attention?subjectId=sch_1')).json)).toEqual(['Item 2.']);
    const odd = await h.call('GET', '/v1/attention?kind=everything');
    expect(odd.json).toMatchObject({ status: 400, errors: [{ field: 'kind' }] });
  });

  it("shows nothing of another organisation's", async () => {
    await open(item(0));
    expect((await h.call('GET', '/v1/attention', undefined, { key: h.b.apiKey })).json).toEqual({ items: [] });
  });
});

it.each([
  [{ permissionTtlSeconds: 59 }, 'config.permissionTtlSeconds'],
  [{ permissionTtlSeconds: 2_592_001 }, 'config.permissionTtlSeconds'],
  [{ permissionExpiry: 'approve' }, 'config.permissionExpiry'],
])('an agent with %j is refused', async (config, field) => {
  const refused = await h.call('POST', '/v1/agents', { name: 'x', config });
  expect(refused.json).toMatchObject({ status: 400, errors: [{ field }] });
});

it('a time limit of permissions is from a minute to 30 days', async () => {
  for (const permissionTtlSeconds of [60, 2_592_000]) {
    const config = { permissionTtlSeconds, permissionExpiry: 'pause' };
    expect((await h.call('POST', '/v1/agents', { name: 'x', config })).status).toBe(201);
  }
});
