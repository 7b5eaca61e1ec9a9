import { expect, test } from 'vitest';
import { A, type Execution } from '../../lib/execution/execution.ts';
import { giveInput } from '../../lib/execution/input.ts';
import { askItem, type InputRow } from '../../lib/execution/rows.ts';
import { fitting } from '../../lib/execution/step/load.ts';
import { set } from '../../lib/kernel/table.ts';
import { makeMemoryLog, makeMemoryMetrics } from '../support/memory-log.ts';
import { makeMemoryTable } from '../support/memory-table.ts';
import { at, NOW, putExecution } from './support.ts';

const said = { kind: 'message', origin: 'key k', trust: 'explicit', wake: true, text: 'blue' } as const;

const depsOf = (table: ReturnType<typeof makeMemoryTable>) => ({
  table,
  steps: { send: async () => undefined, changeVisibility: async () => undefined },
  clock: { now: () => NOW + 1_000, sleep: async () => undefined },
  log: makeMemoryLog(),
  metrics: makeMemoryMetrics(),
  upper: { writes: () => [], wake: async () => undefined },
});

test.each([
  { status: 'WAITING_FOR_INPUT', then: { status: 'RUNNING', since: NOW + 1_000 } },
  { status: 'PAUSED', then: { status: 'PAUSED', pausedFrom: 'RUNNING', since: NOW } },
])('what is kept for a repeat of an answer to a $status execution is what its giver is told', async (row) => {
  const table = makeMemoryTable();
  const waits = [
    set(A.status, row.status),
    ...(row.status === 'PAUSED' ? [set(A.pausedFrom, 'WAITING_FOR_INPUT')] : []),
  ];
  await putExecution(table, 0, waits);
  const call = { tool: 'ask_user', arguments: '{}', argumentsHash: '', why: 'Which colour?' };
  await table.put(
    askItem({ ...at(), ...call, askId: 'ask', kind: 'question', state: 'pending', seq: 1, n: 101, at: NOW }),
  );
  let kept: Execution | undefined;
  const alongside = (execution: Execution) => {
    kept = execution;
    return [];
  };
  const told = await giveInput(depsOf(table), at(), { ...said, alongside });
  expect(told).toMatchObject({ ...row.then, inputs: 1, wakingInputs: 1 });
  expect(kept).toEqual(told);
});

const inputs = (...texts: readonly string[]): readonly InputRow[] =>
  texts.map((text, index) => ({ v: 1, ...said, text, number: index + 1, waking: index + 1, at: NOW }));
const numbers = (rows: readonly InputRow[]) => rows.map(({ number }) => number);

test('a step reads as many messages as its window holds, and one in any case', () => {
  const long = 'x'.repeat(4_000); // 1,000 tokens
  expect(numbers(fitting(inputs(long, long, long), 2_000))).toEqual([1, 2]);
  expect(numbers(fitting(inputs(long, long, long), 200))).toEqual([1]);
  expect(numbers(fitting(inputs('a', 'b', 'c'), 200))).toEqual([1, 2, 3]);
  expect(fitting([], 200)).toEqual([]);
});

test('an answer to a question takes no room of its own', () => {
  const [answer, ...rest] = inputs('x'.repeat(40_000), 'a', 'b');
  const all = answer === undefined ? [] : [{ ...answer, answers: 'ask' }, ...rest];
  expect(numbers(fitting(all, 200))).toEqual([1, 2, 3]);
});
