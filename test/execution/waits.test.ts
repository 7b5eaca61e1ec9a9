import { describe, expect, test } from 'vitest';
import { sweepExecution, TICK_HORIZON_MS, tickExecution } from '../../lib/execution/clock.ts';
import { pauseExecution, resumeExecution, terminateExecution } from '../../lib/execution/control.ts';
import { judgeDeadLetter } from '../../lib/execution/dead-letter.ts';
import { A, type Execution } from '../../lib/execution/execution.ts';
import { getExecution } from '../../lib/execution/get.ts';
import { giveInput } from '../../lib/execution/input.ts';
import { dropMark, markAt, setMark } from '../../lib/execution/mark.ts';
import { nowOf } from '../../lib/execution/now.ts';
import { wakeWait } from '../../lib/execution/step/wake-wait.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { type Change, remove, set } from '../../lib/kernel/table.ts';
import { makeMemoryLog, makeMemoryMetrics } from '../support/memory-log.ts';
import { makeMemoryTable } from '../support/memory-table.ts';
import { at, executionIdOf, NOW, ORG, putExecution } from './support.ts';

const said = { kind: 'message', origin: 'key k', trust: 'explicit', wake: true, text: 'blue' } as const;
const SECOND = 1_000;

/** One execution that waits until so many seconds from now, and the ports around it. */
const waiting = async (seconds: number, changes: readonly Change[] = []) => {
  const table = makeMemoryTable();
  const until = NOW + seconds * SECOND;
  await putExecution(table, 0, [
    set(A.status, 'WAIT_STEP'),
    set(A.waitUntil, until),
    remove(A.runningSince),
    ...setMark(markAt('tick', executionIdOf(0), until)),
  ]);
  if (changes.length > 0) await table.update(keys.execution(ORG, executionIdOf(0)), changes);
  let now = NOW;
  const sent: number[] = [];
  const told: string[] = [];
  const deps = {
    table,
    steps: {
      send: async (_: unknown, { delaySeconds }: { delaySeconds: number }) => void sent.push(delaySeconds),
      changeVisibility: async () => undefined,
    },
    clock: { now: () => now, sleep: async () => undefined },
    log: makeMemoryLog(),
    metrics: makeMemoryMetrics(),
    upper: {
      writes: ({ from, to }: { from: string; to: string }) => {
        told.push(`${from} ${to}`);
        return [];
      },
      wake: async () => undefined,
    },
  };
  const found = { ...keys.execution(ORG, executionIdOf(0)) };
  return {
    deps,
    sent,
    told,
    found,
    pass: (ms: number) => (now += ms),
    row: (): Promise<Execution> => getExecution(table, at()),
    change: (...more: readonly Change[]) => table.update(found, more),
  };
};

describe('the end of a wait', () => {
  test('before its time nobody wakes it; at its time it runs, with its mark and its clock, and it is told once', async () => {
    const one = await waiting(10);
    await wakeWait(one.deps, await one.row());
    expect((await one.row()).status).toBe('WAIT_STEP');
    one.pass(10 * SECOND);
    const seen = await one.row();
    await Promise.all([wakeWait(one.deps, seen), wakeWait(one.deps, seen)]);
    const row = await one.row();
    expect(row).toMatchObject({ status: 'RUNNING', since: NOW + 10_000, runningSince: NOW + 10_000 });
    expect(row.duePk).toMatch(/^DUE#sweep#/);
  });

  test('a wait that somebody paused is not woken', async () => {
    const one = await waiting(10);
    const seen = await one.row();
    await pauseExecution(one.deps, at());
    one.pass(20 * SECOND);
    await wakeWait(one.deps, seen);
    expect(await one.row()).toMatchObject({ status: 'PAUSED', pausedFrom: 'WAIT_STEP' });
  });
});

describe('input', () => {
  test('ends a wait that takes it, and only such a one', async () => {
    const deaf = await waiting(600);
    await giveInput(deaf.deps, at(), said);
    expect(await deaf.row()).toMatchObject({ status: 'WAIT_STEP', wakingInputs: 1 });
    expect(deaf.sent).toEqual([]);
    const open = await waiting(600, [set(A.wakeOnInput, true)]);
    await giveInput(open.deps, at(), { ...said, wake: false });
    expect((await open.row()).status).toBe('WAIT_STEP');
    expect(await giveInput(open.deps, at(), said)).toMatchObject({ status: 'RUNNING', wakingInputs: 1 });
    expect(await open.row()).toMatchObject({ status: 'RUNNING', runningSince: NOW });
    expect(open.sent).toEqual([0]);
    expect(open.told).toContain('WAIT_STEP RUNNING');
  });

  test('for a paused wait it is remembered, so that resume goes on', async () => {
    const one = await waiting(600, [set(A.wakeOnInput, true)]);
    await pauseExecution(one.deps, at());
    await giveInput(one.deps, at(), said);
    expect(await one.row()).toMatchObject({ status: 'PAUSED', pausedFrom: 'RUNNING' });
    expect((await resumeExecution(one.deps, at())).status).toBe('RUNNING');
    expect(one.sent).toEqual([0]);
  });
});

describe('pause, resume, terminate', () => {
  test('resume goes back to a wait that is not over, with its mark and a message for its time', async () => {
    const one = await waiting(600);
    await pauseExecution(one.deps, at());
    await one.change(...dropMark);
    one.pass(100 * SECOND);
    const row = await resumeExecution(one.deps, at());
    expect(row).toMatchObject({ status: 'WAIT_STEP', waitUntil: NOW + 600_000 });
    // Behind its time: the message is on its way.
    expect(row.dueSk).toContain(new Date(NOW + 600_000 + TICK_HORIZON_MS).toISOString());
    expect(one.sent).toEqual([500]);
  });

  test('a wait that is too long for a message has its mark at its time', async () => {
    const one = await waiting(5_000);
    await pauseExecution(one.deps, at());
    const row = await resumeExecution(one.deps, at());
    expect(row.dueSk).toContain(new Date(NOW + 5_000_000).toISOString());
    expect(one.sent).toEqual([]);
  });

  test('resume goes on when the time has come meanwhile', async () => {
    const one = await waiting(600);
    await pauseExecution(one.deps, at());
    one.pass(700 * SECOND);
    expect(await resumeExecution(one.deps, at())).toMatchObject({ status: 'RUNNING', runningSince: NOW + 700_000 });
    expect(one.sent).toEqual([0]);
  });

  test('a terminated wait is over for good', async () => {
    const one = await waiting(600);
    await terminateExecution(one.deps, at());
    one.pass(700 * SECOND);
    await wakeWait(one.deps, await one.row());
    const row = await one.row();
    expect(row.status).toBe('TERMINATED');
    expect(row.dueSk).toBeUndefined();
  });
});

describe('the clock', () => {
  test('tick sends the message for the very second and leaves a mark that guards it', async () => {
    const one = await waiting(120);
    await tickExecution(one.deps, one.found);
    expect(one.sent).toEqual([120]);
    expect((await one.row()).duePk).toMatch(/^DUE#sweep#/);
    // The index shows what has been: nothing is sent a second time.
    await tickExecution(one.deps, one.found);
    expect(one.sent).toEqual([120]);
  });

  test('after an outage what is overdue comes at once', async () => {
    const one = await waiting(120);
    one.pass(3 * 3_600 * SECOND);
    await tickExecution(one.deps, one.found);
    expect(one.sent).toEqual([0]);
  });

  test('a mark that is too early is set right and wakes nobody', async () => {
    const one = await waiting(86_400, setMark(markAt('tick', executionIdOf(0), NOW)));
    await tickExecution(one.deps, one.found);
    expect(one.sent).toEqual([]);
    expect((await one.row()).dueSk).toContain(new Date(NOW + 86_400_000).toISOString());
  });

  test('sweep sends again what tick sent in vain, and not before its time', async () => {
    const one = await waiting(120);
    await tickExecution(one.deps, one.found);
    one.pass(600 * SECOND);
    await sweepExecution(one.deps, one.found);
    expect(one.sent).toEqual([120, 0]);
    const early = await waiting(7_200, setMark(markAt('sweep', executionIdOf(0), NOW)));
    await sweepExecution(early.deps, early.found);
    expect(early.sent).toEqual([]);
  });

  test('a dead letter of a wait that is over is sent again; before its time it is left to the mark', async () => {
    const one = await waiting(10);
    const message = { orgId: ORG, executionId: executionIdOf(0), seq: 1 };
    await judgeDeadLetter(one.deps, message, 'dead');
    expect(one.sent).toEqual([]);
    one.pass(11 * SECOND);
    await judgeDeadLetter(one.deps, { ...message, seq: 7 }, 'dead');
    expect(one.sent).toEqual([]);
    await judgeDeadLetter(one.deps, message, 'dead');
    expect(one.sent).toEqual([0]);
    expect((await one.row()).status).toBe('WAIT_STEP');
  });
});

test('the sentence says until when it waits, paused or not', async () => {
  const one = await waiting(60, [set(A.wakeOnInput, true)]);
  const until = new Date(NOW + 60_000).toISOString();
  expect(nowOf(await one.row(), NOW)?.sentence).toBe(`Waits until ${until}, or for a message.`);
  await pauseExecution(one.deps, at());
  expect(nowOf(await one.row(), NOW)?.sentence).toContain(`(Waits until ${until}, or for a message)`);
});
