import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { A, readExecution } from '../../lib/execution/execution.ts';
import { NOTHING_USED, type Used, usageTextOf, withCall, withTool } from '../../lib/execution/used.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { add, addFrom, type Change, type Item, set, type Table } from '../../lib/kernel/table.ts';
import { DIMENSIONS, type Dimension, FIGURES, type Figures, NO_FIGURES, plus } from '../../lib/usage/figures.ts';
import { rollUp } from '../../lib/usage/roll-up.ts';
import { figuresBy, readUsage, type UsageRow } from '../../lib/usage/row.ts';
import { AGENT, at, NOW, ORG, putExecution } from '../execution/support.ts';
import { type MemoryTable, makeMemoryTable } from '../support/memory-table.ts';

const DAY = 86_400_000;
const MODELS = ['gpt-4o-mini', 'gpt-4o', 'deepseek'];
const TOOLS = ['think', 'write_file', 'http_request'];

/** What one step of a run wrote, as its commit would have. */
interface Step {
  readonly kind: 'commit' | 'park' | 'lost' | 'error';
  readonly model: number;
  readonly tool: number;
  readonly failed: boolean;
  readonly cost: number;
  readonly laterMs: number;
}
type Act =
  | { readonly do: 'step'; readonly run: number; readonly step: Step }
  | { readonly do: 'roll'; readonly run: number; readonly crash: 'before' | 'after' | 'lost answer' | undefined }
  | { readonly do: 'roll at once'; readonly run: number; readonly times: number }
  | { readonly do: 'terminate'; readonly run: number };

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('commit', 'commit', 'commit', 'park', 'lost', 'error'),
  model: fc.nat(2),
  tool: fc.nat(2),
  failed: fc.boolean(),
  cost: fc.nat(500),
  laterMs: fc.nat(DAY),
});
const run = fc.nat(2);
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('step' as const), run, step }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('roll' as const),
      run,
      crash: fc.constantFrom(undefined, undefined, 'before' as const, 'after' as const, 'lost answer' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('roll at once' as const), run, times: fc.integer({ min: 2, max: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('terminate' as const), run }) },
);

class Crash extends Error {}

/** The table as a process sees it that dies at its transaction, or whose client sends it twice. */
const crashing = (table: MemoryTable, crash: 'before' | 'after' | 'lost answer'): Table => ({
  ...table,
  transact: async (writes) => {
    if (crash === 'before') throw new Crash();
    await table.transact(writes);
    if (crash === 'after') throw new Crash();
    await table.transact(writes);
  },
});

const usedAfter = (before: Used, { model, tool, failed, cost }: Step, costs: boolean): Used =>
  withTool(
    withCall(before, MODELS[model] ?? '', { calls: 1, input: 100, output: 10, cached: 40, cost: costs ? cost : 0 }),
    TOOLS[tool] ?? '',
    { calls: 1, errors: failed ? 1 : 0 },
  );

const changesOf = (item: Item, given: Step): readonly Change[] => {
  const { updated, usage = NOTHING_USED } = readExecution(item);
  const now = updated + given.laterMs;
  switch (given.kind) {
    case 'commit':
      return [
        set(A.usage, usageTextOf(usedAfter(usage, given, true))),
        add(A.cost, given.cost),
        add(A.calls, 1),
        add(A.tokensIn, 100),
        add(A.tokensOut, 10),
        set(A.updated, now),
      ];
    // Booked at once; which model it was the commit says later, or never.
    case 'park':
      return [add(A.cost, given.cost), set(A.updated, now)];
    case 'lost':
      return [add(A.reserved, given.cost)];
    case 'error':
      return [add(A.errors, 1), add(A.runningMs, given.laterMs % 60_000), set(A.updated, now)];
  }
};

const play = async (table: MemoryTable, given: Act): Promise<void> => {
  const where = at(given.run);
  switch (given.do) {
    case 'step': {
      const item = await table.get(keys.execution(where.orgId, where.executionId));
      if (item !== undefined && item[A.status] === 'RUNNING')
        await table.update(keys.execution(where.orgId, where.executionId), changesOf(item, given.step));
      return;
    }
    case 'terminate':
      await table.update(keys.execution(where.orgId, where.executionId), [
        set(A.status, 'TERMINATED'),
        addFrom(A.cost, A.reserved),
        set(A.reserved, 0),
      ]);
      return;
    case 'roll': {
      const through = given.crash === undefined ? table : crashing(table, given.crash);
      await rollUp({ table: through }, where).catch((error: unknown) => {
        if (!(error instanceof Crash)) throw error;
      });
      return;
    }
    case 'roll at once':
      await Promise.all(Array.from({ length: given.times }, () => rollUp({ table }, where)));
  }
};

const rowsOf = (table: MemoryTable): readonly UsageRow[] =>
  table
    .dump()
    .filter(({ pk }) => pk === keys.usageOfDays(ORG, '', '').pk)
    .map(readUsage);

const sumOf = (table: MemoryTable, dimension: Dimension): Figures =>
  rowsOf(table)
    .flatMap((row) => [...figuresBy(row, dimension)])
    .reduce((sum, [, figures]) => plus(sum, figures), NO_FIGURES);

describe('whatever happens in between', () => {
  it('the rows of each dimension add up to what the runs have used', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 40 }), async (acts) => {
        const table = makeMemoryTable(() => NOW);
        for (const n of [0, 1, 2]) await putExecution(table, n);
        for (const each of acts) await play(table, each);
        const lowest = rowsOf(table)
          .flatMap(({ all, models, tools }) => [all, ...models.values(), ...tools.values()])
          .flatMap((figures) => FIGURES.map((figure) => figures[figure]));
        expect(Math.min(0, ...lowest)).toBe(0);
        for (const n of [0, 1, 2]) await rollUp({ table }, at(n));
        const rows = [0, 1, 2].map((n) => keys.execution(ORG, at(n).executionId));
        const runs = (await table.getMany(rows)).flatMap((item) => (item === undefined ? [] : [readExecution(item)]));
        const total = (figure: (one: (typeof runs)[number]) => number): number =>
          runs.reduce((sum, one) => sum + figure(one), 0);
        const spent = {
          cost: total((one) => one.cost),
          input: total((one) => one.tokensIn),
          output: total((one) => one.tokensOut),
          calls: total((one) => one.calls),
        };
        const whole = {
          ...spent,
          runs: 3,
          errors: total((one) => one.errors),
          ms: total((one) => one.runningMs + (one.runningSince === undefined ? 0 : one.updated - one.runningSince)),
        };
        for (const dimension of ['day', 'agent', 'project'] as const)
          expect(sumOf(table, dimension)).toMatchObject(whole);
        expect(sumOf(table, 'model')).toMatchObject(spent);
        const calls = total((one) => [...(one.usage?.tools.values() ?? [])].reduce((sum, tool) => sum + tool.calls, 0));
        expect(sumOf(table, 'tool')).toMatchObject({ calls, cost: 0 });
      }),
      { numRuns: 300 },
    );
  });
});

describe('a roll-up', () => {
  const started = async (): Promise<MemoryTable> => {
    const table = makeMemoryTable(() => NOW);
    await putExecution(table, 0);
    return table;
  };

  it('counts a run on the day it started and its work on the day of the commit', async () => {
    const table = await started();
    await rollUp({ table }, at());
    const item = await table.get(keys.execution(ORG, at().executionId));
    if (item === undefined) throw new Error('The run is missing.');
    const work: Step = { kind: 'commit', model: 0, tool: 0, failed: true, cost: 7, laterMs: DAY };
    await table.update({ pk: item.pk, sk: item.sk }, changesOf(item, work));
    await rollUp({ table }, at());
    const days = rowsOf(table).map(({ day, agentId, projectId, all: { runs, calls, cost } }) => [
      day,
      [agentId, projectId],
      { runs, calls, cost },
    ]);
    expect(days).toEqual([
      ['2027-01-15', [AGENT, 'prj'], { runs: 1, calls: 0, cost: 0 }],
      ['2027-01-16', [AGENT, 'prj'], { runs: 0, calls: 1, cost: 7 }],
    ]);
    expect(DIMENSIONS.map((dimension) => sumOf(table, dimension).runs)).toEqual([1, 1, 1, 1, 1]);
  });

  it('of one run is always in the same row of its day', async () => {
    const table = await started();
    for (let seq = 0; seq < 6; seq++) {
      await play(table, {
        do: 'step',
        run: 0,
        step: { kind: 'commit', model: 0, tool: 0, failed: false, cost: 1, laterMs: 5 },
      });
      await rollUp({ table }, at());
    }
    expect(rowsOf(table).map(({ all }) => all.calls)).toEqual([6]);
  });

  it('of many runs of one agent is spread over four rows', async () => {
    const table = makeMemoryTable(() => NOW);
    for (let n = 0; n < 40; n++) {
      await putExecution(table, n);
      await rollUp({ table }, at(n));
    }
    expect(rowsOf(table).map(({ all }) => all.runs)).toEqual([10, 10, 10, 10]);
  });

  it('writes nothing when nothing is new', async () => {
    const table = await started();
    await rollUp({ table }, at());
    const before = JSON.stringify(table.dump());
    expect((await rollUp({ table }, at()))?.agentId).toBe(AGENT);
    expect(JSON.stringify(table.dump())).toBe(before);
  });

  it('knows no run that is not there', async () => {
    expect(await rollUp({ table: makeMemoryTable(() => NOW) }, at())).toBeUndefined();
  });

  it('books money without a reply to the model that was used last', async () => {
    const table = await started();
    const key = keys.execution(ORG, at().executionId);
    const used = withCall(withCall(NOTHING_USED, 'a', { calls: 1, input: 1, output: 1, cached: 0, cost: 5 }), 'b', {
      calls: 1,
      input: 1,
      output: 1,
      cached: 0,
      cost: 3,
    });
    await table.update(key, [set(A.usage, usageTextOf(used)), set(A.cost, 20)]);
    await rollUp({ table }, at());
    const models = rowsOf(table).flatMap((row) => [...row.models]);
    expect(models.map(([name, { cost }]) => [name, cost]).sort()).toEqual([
      ['a', 5],
      ['b', 15],
    ]);
  });

  it('refuses to add to what a newer writer has rolled up', async () => {
    const table = await started();
    await table.put({ ...keys.rolled(ORG, at().executionId), v: 2, times: 1, errors: 0, ms: 0, used: '' });
    await expect(rollUp({ table }, at())).rejects.toThrow(/cannot be read/);
  });
});
