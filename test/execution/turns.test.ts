import { describe, expect, test } from 'vitest';
import { beginTurn, pauseExecution, resumeExecution } from '../../lib/execution/control.ts';
import { A, type Execution } from '../../lib/execution/execution.ts';
import { getExecution } from '../../lib/execution/get.ts';
import { giveInput } from '../../lib/execution/input.ts';
import { dropMark } from '../../lib/execution/mark.ts';
import { nowOf } from '../../lib/execution/now.ts';
import { isTainted, taintChanges } from '../../lib/execution/step/taint.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { remove, set } from '../../lib/kernel/table.ts';
import { makeMemoryLog, makeMemoryMetrics } from '../support/memory-log.ts';
import { makeMemoryTable } from '../support/memory-table.ts';
import { at, NOW, putExecution } from './support.ts';

const said = { kind: 'message', origin: 'key k', trust: 'explicit', wake: true, text: 'blue' } as const;
const TICKET = 'tkt_00000000000000000000000000';

/** A worker's run between two turns. */
const parked = async () => {
  const table = makeMemoryTable();
  await putExecution(table, 0, [
    set(A.status, 'WAITING_FOR_INPUT'),
    set(A.ticketId, TICKET),
    set(A.parked, 'over'),
    set(A.reason, 'turn_over'),
    set(A.repeatCount, 3),
    remove(A.runningSince),
    ...dropMark,
  ]);
  const sent: number[] = [];
  const deps = {
    table,
    steps: {
      send: async (_: unknown, { delaySeconds }: { delaySeconds: number }) => void sent.push(delaySeconds),
      changeVisibility: async () => undefined,
    },
    clock: { now: () => NOW + 1_000, sleep: async () => undefined },
    log: makeMemoryLog(),
    metrics: makeMemoryMetrics(),
    upper: { writes: () => [], wake: async () => undefined },
  };
  return { deps, sent, row: (): Promise<Execution> => getExecution(table, at()) };
};

describe('a run between its turns', () => {
  test('goes on with a message that wakes it, with its mark, its clock, and no repeats behind it', async () => {
    const one = await parked();
    expect(await giveInput(one.deps, at(), said)).toMatchObject({ status: 'RUNNING', wakingInputs: 1 });
    const row = await one.row();
    expect(row).toMatchObject({ status: 'RUNNING', runningSince: NOW + 1_000, repeatCount: 0 });
    expect([row.parked, row.reason]).toEqual([undefined, undefined]);
    expect(row.duePk).toMatch(/^DUE#sweep#/);
    expect(one.sent).toEqual([0]);
  });

  test('queues what does not wake it', async () => {
    const one = await parked();
    await giveInput(one.deps, at(), { ...said, wake: false });
    expect(await one.row()).toMatchObject({ status: 'WAITING_FOR_INPUT', parked: 'over', inputs: 1, wakingInputs: 0 });
    expect(one.sent).toEqual([]);
  });

  test('takes a message that has to wait for a place, and begins its turn when it has one', async () => {
    const one = await parked();
    await giveInput(one.deps, at(), { ...said, hold: true });
    expect(await one.row()).toMatchObject({ status: 'WAITING_FOR_INPUT', parked: 'over', wakingInputs: 1 });
    expect(one.sent).toEqual([]);
    await beginTurn(one.deps, at(), ({ seq }) => [set(A.turnUntil, seq + 4)]);
    expect(await one.row()).toMatchObject({ status: 'RUNNING', turnUntil: 5 });
    expect(one.sent).toEqual([0]);
    await expect(beginTurn(one.deps, at(), () => [])).rejects.toMatchObject({ status: 409 });
  });

  test('is not begun by anybody where a question waits for its answer', async () => {
    const one = await parked();
    await one.deps.table.update(keys.execution(at().orgId, at().executionId), [remove(A.parked)]);
    await expect(beginTurn(one.deps, at(), () => [])).rejects.toMatchObject({ status: 409 });
    await giveInput(one.deps, at(), said);
    expect((await one.row()).status).toBe('WAITING_FOR_INPUT');
  });

  test('stays what it is through a pause, and remembers a message that came meanwhile', async () => {
    const one = await parked();
    await pauseExecution(one.deps, at());
    expect(await resumeExecution(one.deps, at())).toMatchObject({ status: 'WAITING_FOR_INPUT', parked: 'over' });
    await pauseExecution(one.deps, at());
    await giveInput(one.deps, at(), said);
    expect(await resumeExecution(one.deps, at())).toMatchObject({ status: 'RUNNING', parked: undefined });
  });

  test('says so', async () => {
    const one = await parked();
    expect(nowOf(await one.row(), NOW)).toMatchObject({
      state: 'waiting',
      waitingOn: { kind: 'ticket', id: TICKET },
      sentence: expect.stringContaining('Its turn is over'),
    });
  });
});

describe('taint', () => {
  const worker = { ticketId: TICKET, tainted: undefined };
  const data = { number: 2, trust: 'data' } as const;

  test('comes with the words that a reply has read, to a worker alone', () => {
    expect(isTainted(worker, [{ number: 1, trust: 'explicit' }], { inputs: 2 })).toBe(false);
    expect(isTainted(worker, [data], { inputs: 1 })).toBe(false);
    expect(isTainted(worker, [data], { inputs: 2 })).toBe(true);
    expect(isTainted({ ticketId: undefined, tainted: undefined }, [data], { inputs: 2 })).toBe(false);
    expect(isTainted({ ...worker, tainted: true }, [], { inputs: 0 })).toBe(true);
  });

  test('is written once', () => {
    expect(taintChanges(worker, true, new Map(), [])).toEqual([set(A.tainted, true)]);
    expect(taintChanges({ ...worker, tainted: true }, true, new Map(), [])).toEqual([]);
    expect(taintChanges(worker, false, new Map(), [])).toEqual([]);
  });
});
