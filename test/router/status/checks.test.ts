import { describe, expect, it } from 'vitest';
import { organisationStatus } from '../../../lib/http/executions/status.ts';
import { due, keys } from '../../../lib/kernel/keys.ts';
import { type Change, set, type Table } from '../../../lib/kernel/table.ts';
import { ProviderError } from '../../../lib/router/channel.ts';
import { countRefused } from '../../../lib/router/ingest/refused.ts';
import { readSource } from '../../../lib/router/source/source.ts';
import { routerChecks } from '../../../lib/router/status/checks.ts';
import { makeRow } from '../../../lib/tenancy/row.ts';
import { makeWorld, ORG, START, sourceRow } from '../outbox/support/world.ts';

type World = Awaited<ReturnType<typeof makeWorld>>;

/** A table that fails when it is written to. */
const readOnly = (table: Table): Table => {
  const never = async (): Promise<never> => {
    throw new Error('The status was asked for, and something was written.');
  };
  return {
    get: table.get,
    getMany: table.getMany,
    query: table.query,
    put: never,
    update: never,
    delete: never,
    transact: never,
  };
};

const statusOf = async (w: World, model = true) => {
  const before = JSON.stringify(w.table.dump());
  const deps = { ...w.deps, table: readOnly(w.table), modelConfigured: async () => model };
  const report = await organisationStatus(deps as never, ORG);
  expect(JSON.stringify(w.table.dump())).toBe(before);
  expect([0, 1, 2, 3]).toContain(report.code);
  expect(report.code).toBe(Math.max(...report.checks.map(({ code }) => code)));
  return report;
};

const late = (id: string): readonly Change[] => [
  set('duePk', due.pkOf('sweep', id)),
  set('dueSk', due.sk(START - 3_600_000, id)),
];
const delivery = (more: { readonly [name: string]: string | number }) =>
  makeRow(keys.delivery(ORG, 'src_1', 'dlv_1'), {
    id: 'dlv_1',
    orgId: ORG,
    sourceId: 'src_1',
    providerId: 'x',
    event: 'issues',
    verdict: 'received',
    bytes: 1,
    headers: {},
    receivedAt: START,
    ...more,
  });

/** What is wrong, the check that says so, and its code. */
const CASES: readonly (readonly [string, string, number, (w: World) => Promise<unknown>])[] = [
  ['a source that its provider stopped', 'sources', 2, (w) => w.table.put(sourceRow({ state: 'suspended' }))],
  [
    'events without a good signature',
    'sources',
    2,
    (w) => countRefused(w.table, readSource(sourceRow()), 'signature', START),
  ],
  [
    'an event that stands still',
    'deliveries',
    1,
    (w) =>
      w.table.put(
        delivery(
          Object.fromEntries(late('dlv_1').map((each) => [each.path, 'value' in each ? String(each.value) : ''])),
        ),
      ),
  ],
  ['an event that could not be read', 'deliveries', 2, (w) => w.table.put(delivery({ verdict: 'failed' }))],
  ['a discussion that stands still', 'threads', 1, (w) => w.table.update(keys.thread(ORG, 'thr_1'), late('thr_1'))],
  [
    'a discussion that cannot be judged',
    'threads',
    2,
    (w) => w.table.update(keys.thread(ORG, 'thr_1'), [set('stuckSince', START)]),
  ],
  [
    'a reply that stands still',
    'effects',
    1,
    async (w) => w.table.update(keys.posting(ORG, await w.post('x')), late('eff_1')),
  ],
  [
    'a reply that is held',
    'effects',
    2,
    async (w) => w.table.update(keys.posting(ORG, await w.post('x')), [set('state', 'held')]),
  ],
  [
    'a reply that could not be delivered',
    'effects',
    2,
    async (w) => {
      const id = await w.post('x');
      w.remote.fail('post', new ProviderError('refused', 'Locked.'));
      await w.send(id);
    },
  ],
  [
    'a reply that is in doubt for long',
    'effects',
    3,
    async (w) =>
      w.table.update(keys.posting(ORG, await w.post('x')), [
        set('state', 'unknown'),
        set('triedAt', START - 3_600_000),
      ]),
  ],
];

describe('I22 the status', () => {
  it('is 0 where all is well', async () => {
    const w = await makeWorld();
    await w.send(await w.post('x'));
    const report = await statusOf(w);
    expect(report.code).toBe(0);
    expect(report.checks.map(({ name }) => name)).toEqual([
      'model',
      'organisation',
      'chains',
      'errors',
      'schedules',
      'sources',
      'deliveries',
      'threads',
      'effects',
    ]);
  });

  it.each(CASES)('says %s: %s %i, and changes nothing', async (_, name, code, make) => {
    const w = await makeWorld();
    await make(w);
    const report = await statusOf(w);
    expect(report.code).toBe(code);
    expect(report.checks.filter((check) => check.code > 0)).toMatchObject([{ name, code }]);
  });

  it('is the worst of its checks', async () => {
    const w = await makeWorld();
    await w.table.put(sourceRow({ state: 'suspended' }));
    expect((await statusOf(w, false)).code).toBe(3);
  });

  it('says nothing of the Router to those who have no sources', async () => {
    const w = await makeWorld();
    expect(await routerChecks(w.deps, 'org_other')).toEqual([]);
  });

  it('J74 is 2 after an installation was suspended under a reply', async () => {
    const w = await makeWorld();
    w.remote.fail('post', new ProviderError('refused', 'suspended', { code: 'suspended' }));
    await w.send(await w.post('x'));
    const report = await statusOf(w);
    expect(report.code).toBe(2);
    expect(report.checks).toContainEqual(expect.objectContaining({ name: 'sources', code: 2 }));
  });
});
