import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keys } from '../../lib/kernel/keys.ts';
import { add, set } from '../../lib/kernel/table.ts';
import { DIMENSIONS, type Dimension } from '../../lib/usage/figures.ts';
import { listUsage, spentOn, type Used } from '../../lib/usage/list.ts';
import { ORG } from '../execution/support.ts';
import { makeMemoryLog } from '../support/memory-log.ts';
import { type MemoryTable, makeMemoryTable } from '../support/memory-table.ts';

interface Put {
  readonly day: number;
  readonly agent: number;
  readonly project: number;
  readonly shard: number;
  readonly model: string;
  readonly cost: number;
}
const dayAt = (n: number): string => `2027-01-${String(n).padStart(2, '0')}`;
const keyOf = ({ day, agent, project, model }: Put, by: Dimension): string =>
  ({ day: dayAt(day), agent: `agt_${agent}`, project: `prj_${project}`, model, tool: model })[by];

const put = async (table: MemoryTable, rows: readonly Put[]): Promise<void> => {
  for (const { day, agent, project, shard, model, cost } of rows)
    await table.update(keys.usage(ORG, dayAt(day), `agt_${agent}`, `prj_${project}`, shard), [
      set('v', 1),
      add('cost', cost),
      add(`mc#${model}`, cost),
      add(`tc#${model}`, cost),
    ]);
};

const some: fc.Arbitrary<Put> = fc.record({
  day: fc.integer({ min: 1, max: 9 }),
  agent: fc.nat(4),
  project: fc.nat(2),
  shard: fc.nat(3),
  model: fc.constantFrom('a', 'a#b', 'a/b', 'a-b', '#', 'é', 'other'),
  cost: fc.integer({ min: 1, max: 9 }),
});

const allPages = async (
  table: MemoryTable,
  query: { readonly by: Dimension; readonly from: string; readonly to: string },
  limit: number,
  mostRows?: number,
): Promise<readonly Used[]> => {
  const deps = { table, log: makeMemoryLog() };
  const items: Used[] = [];
  let start: string | undefined;
  for (let pages = 0; pages < 100; pages++) {
    const page = await listUsage(deps, { orgId: ORG, ...query }, { limit, start }, mostRows);
    expect(page.items.length).toBeLessThanOrEqual(limit);
    items.push(...page.items);
    if (page.next === undefined) return items;
    expect(start === undefined || page.next > start).toBe(true);
    start = page.next;
  }
  throw new Error('The list does not end.');
};

describe('a list of usage', () => {
  it('has the sum of each key once, sorted, in whatever pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(some, { maxLength: 60 }),
        fc.constantFrom(...DIMENSIONS),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 0, max: 8 }),
        async (rows, by, limit, first, more) => {
          const table = makeMemoryTable();
          await put(table, rows);
          const sums = new Map<string, number>();
          for (const row of rows.filter(({ day }) => day >= first && day <= first + more))
            sums.set(keyOf(row, by), (sums.get(keyOf(row, by)) ?? 0) + row.cost);
          const due = [...sums].sort(([one], [other]) => (one < other ? -1 : 1));
          const range = { by, from: dayAt(first), to: dayAt(first + more) };
          const found = await allPages(table, range, limit, by === 'day' ? 1 + (rows.length % 7) : undefined);
          expect(found.map(({ key, cost }) => [key, cost])).toEqual(due);
        },
      ),
      { numRuns: 200 },
    );
  });

  /** Five rows a day, on six days. */
  const busy = async (): Promise<MemoryTable> => {
    const table = makeMemoryTable();
    const day = (n: number) =>
      [0, 1, 2, 3, 4].map((agent) => ({ day: n, agent, project: 0, shard: 0, model: 'a', cost: 1 }));
    await put(table, [1, 2, 3, 4, 5, 6].flatMap(day));
    return table;
  };

  it('of more rows than are added up at once is refused, and the day that is named fits', async () => {
    const table = await busy();
    const list = (to: string) =>
      listUsage({ table, log: makeMemoryLog() }, { orgId: ORG, by: 'agent', from: dayAt(1), to }, { limit: 20 }, 12);
    await expect(list(dayAt(6))).rejects.toMatchObject({
      status: 400,
      details: {
        errors: [{ field: 'to', received: dayAt(6), expected: expect.stringContaining(`up to ${dayAt(3)}`) }],
      },
    });
    expect((await list(dayAt(3))).items.map(({ cost }) => cost)).toEqual([3, 3, 3, 3, 3]);
  });

  it('of one day is always answered', async () => {
    const table = await busy();
    const range = { orgId: ORG, by: 'agent', from: dayAt(2), to: dayAt(2) } as const;
    const { items } = await listUsage({ table, log: makeMemoryLog() }, range, { limit: 20 }, 1);
    expect(items).toHaveLength(5);
  });

  it('by day ends its page instead', async () => {
    const table = await busy();
    const range = { orgId: ORG, by: 'day', from: dayAt(1), to: dayAt(6) } as const;
    const page = await listUsage({ table, log: makeMemoryLog() }, range, { limit: 20 }, 12);
    expect([page.items.map(({ key }) => key), page.next]).toEqual([[1, 2, 3].map(dayAt), dayAt(4)]);
    expect((await allPages(table, range, 20, 1)).map(({ cost }) => cost)).toEqual([5, 5, 5, 5, 5, 5]);
  });

  it('leaves rows out that cannot be read, and tells of them', async () => {
    const table = await busy();
    await table.put({ ...keys.usage(ORG, dayAt(1), 'agt_9', 'prj_0', 0), v: 2, cost: 100 });
    await table.put({ ...keys.usage(ORG, dayAt(1), 'agt_8', 'prj_0', 0), v: 1, cost: 100, 'mc#a': 'damaged' });
    for (const by of DIMENSIONS.filter((each) => each !== 'tool')) {
      const log = makeMemoryLog();
      const { items } = await listUsage(
        { table, log },
        { orgId: ORG, by, from: dayAt(1), to: dayAt(1) },
        { limit: 20 },
      );
      expect(items.reduce((sum, { cost }) => sum + cost, 0)).toBe(5);
      expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(2);
    }
  });

  it.each([
    ['day', 'agt_1'],
    ['day', ''],
    ['agent', ''],
  ] as const)('by %s has no position %j', async (by, start) => {
    const range = { orgId: ORG, by, from: dayAt(1), to: dayAt(6) };
    const refused = listUsage({ table: makeMemoryTable(), log: makeMemoryLog() }, range, { limit: 20, start });
    await expect(refused).rejects.toMatchObject({ status: 400, code: 'invalid_cursor' });
  });

  it.each([
    ['2026-12-01', 6],
    ['2027-01-07', 0],
  ])('by day begins within its days, though the position is %s', async (start, count) => {
    const table = await busy();
    await put(table, [{ day: 9, agent: 0, project: 0, shard: 0, model: 'a', cost: 1 }]);
    const range = { orgId: ORG, by: 'day', from: dayAt(1), to: dayAt(6) } as const;
    const { items } = await listUsage({ table, log: makeMemoryLog() }, range, { limit: 20, start });
    expect(items).toHaveLength(count);
  });
});

describe('what was spent on a day', () => {
  it('is the sum of that day, and nothing where nothing was', async () => {
    const deps = { table: makeMemoryTable(), log: makeMemoryLog() };
    const row = { agent: 1, project: 1, shard: 1, model: 'a' };
    await put(deps.table, [
      { ...row, day: 1, cost: 100 },
      { ...row, day: 2, cost: 4 },
      { ...row, day: 2, shard: 3, cost: 5 },
      { ...row, day: 3, cost: 100 },
    ]);
    expect(await spentOn(deps, ORG, dayAt(2))).toBe(9);
    expect(await spentOn(deps, ORG, dayAt(4))).toBe(0);
  });
});
