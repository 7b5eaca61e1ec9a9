import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTable, type Units } from '../../lib/aws/table.ts';
import { A } from '../../lib/execution/execution.ts';
import { NOTHING_USED, type Used, usageTextOf, withCall, withTool } from '../../lib/execution/used.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { add, type Item, set, type Table } from '../../lib/kernel/table.ts';
import { type Figures, NO_FIGURES } from '../../lib/usage/figures.ts';
import { rollUp } from '../../lib/usage/roll-up.ts';
import { additionsOf, figuresBy, readUsage } from '../../lib/usage/row.ts';
import { AGENT, at, ORG, putExecution } from '../execution/support.ts';
import { startDynamoDbTable, type TestTable } from '../support/dynamodb-table.ts';
import { makeMemoryTable } from '../support/memory-table.ts';

const DAY = '2027-01-15';
const KEY = keys.usage(ORG, DAY, AGENT, 'prj', 2);

const name = fc.oneof(
  fc.constantFrom(
    '',
    '#',
    'mr#',
    'tn#a',
    'm',
    'a#b',
    'runs',
    'v',
    'pk',
    '__proto__',
    'constructor',
    'openai/gpt-4o',
    '日本',
  ),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);
const some: fc.Arbitrary<Figures> = fc.record({
  runs: fc.nat(9),
  calls: fc.nat(9),
  input: fc.nat(9),
  output: fc.nat(9),
  cached: fc.nat(9),
  cost: fc.nat(9),
  ms: fc.nat(9),
  errors: fc.integer({ min: 1, max: 9 }),
});
const parts = fc.array(fc.tuple(name, some), { maxLength: 6 }).map((list) => new Map(list));

describe('a usage row', () => {
  it('says what was added to it, whatever models and tools are called', async () => {
    await fc.assert(
      fc.asyncProperty(some, parts, parts, async (all, models, tools) => {
        const table = makeMemoryTable();
        const item = await table.update(KEY, [set('v', 1), ...additionsOf({ day: DAY, all, models, tools })]);
        expect(readUsage(item)).toEqual({ day: DAY, agentId: AGENT, projectId: 'prj', all, models, tools });
      }),
    );
  });

  it('is of its day, agent and project', () => {
    const row = readUsage({ ...KEY, v: 1, cost: 3, 'mc#a': 2, 'mn#a': 1, 'tn#b': 4 });
    const all = { ...NO_FIGURES, cost: 3 };
    expect([...figuresBy(row, 'day')]).toEqual([[DAY, all]]);
    expect([...figuresBy(row, 'agent')]).toEqual([[AGENT, all]]);
    expect([...figuresBy(row, 'project')]).toEqual([['prj', all]]);
    expect([...figuresBy(row, 'model')]).toEqual([['a', { ...NO_FIGURES, cost: 2, calls: 1 }]]);
    expect([...figuresBy(row, 'tool')]).toEqual([['b', { ...NO_FIGURES, calls: 4 }]]);
    expect([...figuresBy(readUsage({ ...KEY, v: 1 }), 'day')]).toEqual([]);
  });

  it.each([
    ['of a newer writer', { ...KEY, v: 2 }],
    ['without a version', { ...KEY }],
    ['with a total that is no number', { ...KEY, v: 1, cost: '1' }],
    ['with a part that is no number', { ...KEY, v: 1, 'mc#a': '1' }],
    ['with half a token', { ...KEY, v: 1, 'mi#a': 0.5 }],
    ['under another key', { pk: KEY.pk, sk: 'agent#agt_1#2027-01-15#0', v: 1 }],
  ] satisfies [string, Item][])('%s is not read', (_, item) => {
    expect(() => readUsage(item)).toThrow(/cannot be read/);
  });
});

describe('the price of a roll-up', () => {
  let started: TestTable;
  beforeAll(async () => {
    started = await startDynamoDbTable();
  });
  afterAll(() => started.close());

  const TOOLS = ['think', 'write_file', 'append_file', 'read_file', 'list_files', 'http_request', 'ask_user', 'wait'];
  const later = (table: Table, n: number, used: Used, laterMs = 3_600_000) =>
    table.update(keys.execution(ORG, at(n).executionId), [
      set(A.usage, usageTextOf(used)),
      add(A.cost, 480_000),
      add(A.updated, laterMs),
    ]);

  it('is two reads and two rows: four write units, with two models and eight tools, after a long day too', async () => {
    const units: Units[] = [];
    const table = makeTable({ ...started, onUnits: (one) => units.push(one) });
    await putExecution(table, 0);
    let used = NOTHING_USED;
    for (let hour = 0; hour < 6; hour++) {
      const call = { calls: 720, input: 17_280_000, output: 720_000, cached: 8_640_000, cost: 240_000 };
      for (const model of ['gpt-4o-mini', 'claude-sonnet']) used = withCall(used, model, call);
      for (const tool of TOOLS) used = withTool(used, tool, { calls: 700, errors: 7 });
      await later(table, 0, used);
      units.length = 0;
      await rollUp({ table }, at(0));
      expect(units).toEqual([
        { operation: 'get', read: 1, write: 0 },
        { operation: 'get', read: 1, write: 0 },
        { operation: 'transact', read: 0, write: 4 },
      ]);
    }
    const { items } = await table.query(keys.usageOfDays(ORG, DAY, DAY));
    expect(items.map(readUsage).map((row) => [row.models.size, row.tools.size])).toEqual([[2, TOOLS.length]]);
  });

  it('is a third row where work of the next day finds a tool for the first time', async () => {
    const units: Units[] = [];
    const table = makeTable({ ...started, onUnits: (one) => units.push(one) });
    await putExecution(table, 1);
    await rollUp({ table }, at(1));
    const call = { calls: 1, input: 1, output: 1, cached: 0, cost: 480_000 };
    await later(table, 1, withTool(withCall(NOTHING_USED, 'a', call), 'think', { calls: 1, errors: 0 }), 86_400_000);
    await rollUp({ table }, at(1));
    await later(table, 1, withTool(withCall(NOTHING_USED, 'a', call), 'think', { calls: 2, errors: 0 }));
    await rollUp({ table }, at(1));
    const written = units.filter(({ operation }) => operation === 'transact').map(({ write }) => write);
    expect(written).toEqual([4, 6, 4]);
  });
});
