import { beforeEach, describe, expect, it } from 'vitest';
import { openAttention } from '../../lib/attention/attention.ts';
import { daySpentItem } from '../../lib/attention/day-spent.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { add, set } from '../../lib/kernel/table.ts';
import { type Harness, makeHarness } from './support/harness.ts';

interface Item {
  readonly key: string;
  readonly [figure: string]: unknown;
}

let h: Harness;
beforeEach(async () => {
  h = await makeHarness();
});

type Figures = { readonly [attribute: string]: number };
interface Row {
  readonly agent?: string;
  readonly project?: string;
  readonly shard?: number;
  readonly orgId?: string;
}
/** Adds to a row by the names of its attributes; `mn#` are calls of a model, `tn#` of a tool. */
const put = (day: string, figures: Figures, row: Row = {}) => {
  const { agent = 'agt_1', project = 'none', shard = 0, orgId = h.a.organisationId } = row;
  return h.table.update(keys.usage(orgId, day, agent, project, shard), [
    set('v', 1),
    ...Object.entries(figures).map(([attribute, value]) => add(attribute, value)),
  ]);
};

const usage = async (query: string, key = h.a.apiKey): Promise<readonly Item[]> => {
  const { status, json } = await h.call('GET', `/v1/usage${query}`, undefined, { key });
  expect(status).toBe(200);
  return json.items as readonly Item[];
};

describe('GET /v1/usage', () => {
  it('adds the rows of one key up', async () => {
    await put('2026-03-01', { runs: 1, calls: 3, input: 10, output: 4, cached: 5, cost: 1_500, ms: 2_500 });
    await put('2026-03-01', { calls: 1, cost: 500, errors: 1 }, { agent: 'agt_2', project: 'prj_1', shard: 3 });
    expect(await usage('?by=day')).toEqual([
      {
        key: '2026-03-01',
        runs: 1,
        calls: 4,
        tokens: { input: 10, output: 4, cached: 5 },
        costUsd: 0.002,
        seconds: 2.5,
        errors: 1,
      },
    ]);
  });

  it('takes both ends of the range, and days outside of it in no dimension', async () => {
    const days = ['2026-02-10', '2026-02-11', '2026-02-12', '2026-02-13'];
    for (const day of days) {
      const models = { 'mn#a/b': 1, 'mn#a#c': 1, 'mn#z': 1 };
      await put(day, { calls: 3, ...models }, { shard: days.indexOf(day) });
    }
    const range = 'from=2026-02-11&to=2026-02-12';
    expect((await usage(`?by=day&${range}`)).map(({ key }) => key)).toEqual(['2026-02-11', '2026-02-12']);
    expect((await usage(`?by=model&${range}`)).map(({ key, calls }) => [key, calls])).toEqual([
      ['a#c', 2],
      ['a/b', 2],
      ['z', 2],
    ]);
    expect(await usage('?by=model&from=2026-02-20&to=2026-02-28')).toEqual([]);
    expect(await usage(`?by=tool&${range}`)).toEqual([]);
  });

  it('is paged by key', async () => {
    for (const agent of ['agt_1', 'agt_2', 'agt_3', 'agt_4', 'agt_5'])
      for (const day of ['2026-02-27', '2026-02-28', '2026-03-01']) await put(day, { calls: 1 }, { agent, shard: 1 });
    const seen: unknown[] = [];
    let cursor: unknown;
    do {
      const page = await h.call('GET', `/v1/usage?by=agent&limit=2&from=2026-02-28&cursor=${cursor ?? ''}`);
      seen.push((page.json.items as Item[]).map(({ key, calls }) => [key, calls]));
      cursor = page.json.nextCursor;
    } while (cursor !== undefined);
    expect(seen).toEqual([[['agt_1', 2], ['agt_2', 2]], [['agt_3', 2], ['agt_4', 2]], [['agt_5', 2]]]); // biome-ignore format: pages
  });

  it.each([
    ['from=2026-3-1', 'from'],
    ['to=yesterday', 'to'],
    ['by=week', 'by'],
    ['from=2026-03-02&to=2026-03-01', 'from'],
    ['from=2025-03-01&to=2026-03-02', 'to'],
    ['days=3', 'days'],
  ])('%s: 400 names the field', async (query, field) => {
    const { status, json } = await h.call('GET', `/v1/usage?${query}`);
    expect([status, JSON.stringify(json.errors)]).toEqual([400, expect.stringContaining(`"${field}"`)]);
  });

  it('takes 366 days, and a cursor of this very list alone', async () => {
    await usage('?from=2025-03-01&to=2026-03-01');
    for (const agent of ['agt_1', 'agt_2']) await put('2026-03-01', { calls: 1 }, { agent });
    const page = await h.call('GET', '/v1/usage?by=agent&limit=1');
    const other = await h.call('GET', `/v1/usage?by=model&limit=1&cursor=${page.json.nextCursor}`);
    expect([other.status, other.json.code]).toEqual([400, 'invalid_cursor']);
  });

  it('is of the own organisation', async () => {
    await put('2026-03-01', { calls: 1 });
    expect(await usage('?by=agent', h.b.apiKey)).toEqual([]);
  });
});

describe('the daily budget of an organisation', () => {
  const setBudget = (dailyBudgetUsd: unknown, key = h.a.apiKey) =>
    h.call('PATCH', '/v1/organisation', { dailyBudgetUsd }, { key });

  it('is set, shown with how today stands, and removed', async () => {
    await put('2026-03-01', { cost: 150_000 });
    await put('2026-03-01', { cost: 100_000 }, { agent: 'agt_2' });
    await put('2026-02-28', { cost: 900_000 });
    expect((await h.call('GET', '/v1/organisation')).json).not.toHaveProperty('dailyBudgetUsd');
    const today = { day: '2026-03-01', grantedUsd: 0.25, spentUsd: 0.25 };
    expect((await setBudget(2.5)).json).toMatchObject({ dailyBudgetUsd: 2.5, today });
    expect((await h.call('GET', '/v1/organisation')).json).toMatchObject({ dailyBudgetUsd: 2.5, today });
    expect((await h.call('POST', '/v1/organisation/stop')).json).toMatchObject({ dailyBudgetUsd: 2.5 });
    expect((await setBudget(null)).json).not.toHaveProperty('dailyBudgetUsd');
    expect((await h.call('GET', '/v1/organisation')).json).not.toHaveProperty('today');
  });

  it.each([-1, 1_000_001, '5', undefined])('%j is no budget', async (value) => {
    const { status, json } = await setBudget(value);
    expect([status, JSON.stringify(json.errors)]).toEqual([400, expect.stringContaining('"dailyBudgetUsd"')]);
  });

  it('is for admins, of their own organisation', async () => {
    const writer = await h.call('POST', '/v1/keys', { name: 'w', scopes: ['write'] });
    expect((await setBudget(1, String(writer.json.apiKey))).status).toBe(403);
    await setBudget(1, h.b.apiKey);
    expect((await h.call('GET', '/v1/organisation')).json).not.toHaveProperty('dailyBudgetUsd');
  });

  it('closes what people were told of the one before', async () => {
    await setBudget(1);
    const spent = { orgId: h.a.organisationId, day: '2026-03-01', budget: 1_000_000 };
    await h.table.transact([openAttention(daySpentItem(spent))]);
    const [item] = (await h.call('GET', '/v1/attention')).json.items as {
      actions: { path: string; method: string; body: unknown }[];
    }[];
    const action = item?.actions[0];
    expect(action).toMatchObject({ method: 'PATCH', path: '/v1/organisation', body: { dailyBudgetUsd: 2 } });
    expect((await h.call('PATCH', '/v1/organisation', action?.body)).status).toBe(200);
    expect((await h.call('GET', '/v1/attention')).json.items).toEqual([]);
  });
});
