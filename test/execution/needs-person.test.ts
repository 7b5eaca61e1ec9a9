import { beforeEach, describe, expect, test } from 'vitest';
import { childItem } from '../../lib/execution/children/child-row.ts';
import { childRows } from '../../lib/execution/children/list-children.ts';
import { needPerson } from '../../lib/execution/children/needs-person.ts';
import { A } from '../../lib/execution/execution.ts';
import { getExecution } from '../../lib/execution/get.ts';
import { nowOf } from '../../lib/execution/now.ts';
import type { Status } from '../../lib/execution/status.ts';
import { type Change, set } from '../../lib/kernel/table.ts';
import { makeMemoryTable } from '../support/memory-table.ts';
import { AGENT, at, executionIdOf, NOW, ORG, putExecution } from './support.ts';

let table = makeMemoryTable();
beforeEach(() => {
  table = makeMemoryTable();
});

const status = (to: Status, ...more: readonly Change[]): readonly Change[] => [set(A.status, to), ...more];
const waitsFor = (open: number, all = open): readonly Change[] => [
  ...status('WAIT_STEP'),
  set(A.openChildren, open),
  set(A.children, all),
];
const stopped = (message: string) => status('BUDGET_EXCEEDED', set(A.errorMessage, message));
const child = async (parent: number, n: number, changes: readonly Change[]): Promise<void> => {
  await putExecution(table, n, changes);
  const row = {
    executionId: executionIdOf(n),
    agentId: AGENT,
    seq: 1,
    n,
    budget: 1,
    rootId: executionIdOf(0),
    at: NOW,
  };
  await table.put(childItem(at(parent), row));
};
const shown = async () => {
  const execution = await getExecution(table, at());
  const stuck = await needPerson(table, execution, await childRows(table, execution), NOW);
  return nowOf(execution, NOW, undefined, stuck);
};

describe('a run that waits for its children', () => {
  test('names the one that has stopped, and why', async () => {
    await putExecution(table, 0, waitsFor(3));
    await child(0, 1, status('RUNNING'));
    await child(0, 2, stopped('It may cost $1.'));
    await child(0, 3, status('RUNNING'));
    expect(await shown()).toMatchObject({
      state: 'waiting',
      waitingOn: { kind: 'person', id: executionIdOf(2) },
      sentence: `Waits for 3 runs that it started; ${executionIdOf(2)} needs a person: It may cost $1.`,
    });
  });

  test.each([
    ['WAITING_FOR_PERMISSION', /approve or reject/],
    ['WAITING_FOR_INPUT', /an answer to its question/],
    ['PAUSED', /Paused by a person/],
    ['ERROR_PAUSED', /ERROR_PAUSED/],
    ['ITERATION_LIMIT_EXCEEDED', /ITERATION_LIMIT_EXCEEDED/],
  ] as const)('%s needs a person', async (to, words) => {
    await putExecution(table, 0, waitsFor(1));
    await child(0, 1, status(to));
    const now = await shown();
    expect(now?.sentence).toMatch(new RegExp(`^Waits for a run that it started; ${executionIdOf(1)} needs a person: `));
    expect(now?.sentence).toMatch(words);
  });

  test('names all of them', async () => {
    await putExecution(table, 0, waitsFor(3));
    for (const n of [1, 2, 3]) await child(0, n, stopped(`Stop ${n}.`));
    expect((await shown())?.sentence).toBe(
      `Waits for 3 runs that it started; ${executionIdOf(1)} needs a person: Stop 1; ${executionIdOf(2)}, ${executionIdOf(3)} need one too.`,
    );
  });

  test('finds what a child of a child needs', async () => {
    await putExecution(table, 0, waitsFor(1));
    await child(0, 1, waitsFor(1));
    await child(1, 2, stopped('Stop.'));
    expect(await shown()).toMatchObject({ waitingOn: { kind: 'person', id: executionIdOf(2) } });
  });

  test.each([
    ['that work', status('RUNNING')],
    ['that wait for a time', status('WAIT_STEP', set(A.waitUntil, NOW + 60_000))],
    ['that have ended', status('COMPLETED')],
  ])('says nothing more of children %s', async (_, changes) => {
    await putExecution(table, 0, waitsFor(1));
    await child(0, 1, changes);
    expect(await shown()).toMatchObject({
      waitingOn: { kind: 'runs' },
      sentence: 'Waits for a run that it started.',
    });
  });

  test('says it of a run that a person has paused meanwhile, too', async () => {
    const paused = [...status('PAUSED', set(A.pausedFrom, 'WAIT_STEP')), set(A.openChildren, 1), set(A.children, 1)];
    await putExecution(table, 0, paused);
    await child(0, 1, stopped('Stop.'));
    expect((await shown())?.sentence).toContain(`(Waits for a run that it started; ${executionIdOf(1)} needs a person`);
  });
});

test('nothing is read below a run that does not wait for its children', async () => {
  await putExecution(table, 0, [...status('RUNNING'), set(A.children, 1), set(A.openChildren, 1)]);
  await child(0, 1, stopped('Stop.'));
  const execution = await getExecution(table, at());
  const rows = await childRows(table, execution);
  const closed = { ...table, getMany: () => Promise.reject(new Error(`A read of ${ORG}.`)) };
  expect(await needPerson(closed, execution, rows, NOW)).toEqual([]);
});
