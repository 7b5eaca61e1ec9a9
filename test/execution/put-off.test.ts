import { expect, test } from 'vitest';
import { eachDue, sweepExecution, TICK_HORIZON_MS, tickExecution } from '../../lib/execution/clock.ts';
import { putOff } from '../../lib/execution/put-off.ts';
import { UnreadableRow } from '../../lib/kernel/errors.ts';
import { makeIds } from '../../lib/kernel/ids.ts';
import { due, keys } from '../../lib/kernel/keys.ts';
import type { Item } from '../../lib/kernel/table.ts';
import { draftSchedule } from '../../lib/schedule/create-schedule.ts';
import type { FireMessage } from '../../lib/schedule/message.ts';
import { readSchedule, scheduleItem } from '../../lib/schedule/schedule.ts';
import { tickSchedule } from '../../lib/schedule/tick.ts';
import { makeFakeClock } from '../support/fake-clock.ts';
import { makeMemoryLog, makeMemoryMetrics } from '../support/memory-log.ts';
import { makeMemoryQueue } from '../support/memory-queue.ts';
import { makeMemoryTable } from '../support/memory-table.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const MINUTE = 60_000;
const ORG = 'org_00000000000000000000000000';

const world = () => {
  const clock = makeFakeClock(NOW);
  const table = makeMemoryTable(() => clock.now());
  const fires = makeMemoryQueue<FireMessage>();
  const deps = { table, clock, fires, log: makeMemoryLog(), metrics: makeMemoryMetrics() };
  const ids = makeIds();
  const row = (startAt: number): Item => {
    const given = { orgId: ORG, agentId: 'agt', actor: 'key', startAt, every: 'PT1H' };
    return scheduleItem(draftSchedule(ids, given, NOW));
  };
  return { ...deps, deps, row };
};

test('150 rows that nobody can read cost ever fewer rounds, and the one that can be read is fired all the same', async () => {
  const { deps, table, clock, fires, row } = world();
  const bad = Array.from({ length: 150 }, (_, n) => ({ ...row(NOW + MINUTE + n), startAt: -1 }));
  const good = row(NOW + 30 * MINUTE);
  for (const item of [...bad, good]) await table.put(item);
  const visits: number[] = [];
  const rows = 24 * 60;
  for (let round = 0; round < rows; round++) {
    let visited = 0;
    await eachDue(deps, 'tick', clock.now() + TICK_HORIZON_MS, (found) => {
      visited++;
      return tickSchedule(deps, found);
    });
    visits.push(visited);
    await clock.advance(MINUTE);
  }
  const sum = (from: number, to: number) => visits.slice(from, to).reduce((all, one) => all + one, 0) / 150;
  // As long as it may be for a moment each round looks; then at distances that double; in the end once an hour.
  expect(sum(0, 10)).toBeGreaterThan(3);
  expect(sum(10, rows)).toBeLessThan(40);
  expect(Math.max(...visits.slice(12 * 60).map((_, at) => sum(12 * 60 + at, 13 * 60 + at)))).toBeLessThan(1.5);
  expect(fires.take().filter(({ message }) => message.scheduleId === good.id).length).toBeGreaterThan(0);
  expect(deps.metrics.counts.DueRowsPutOff).toBeGreaterThan(150);
  for (const before of bad) {
    const now = table.dump().find(({ pk }) => pk === before.pk);
    expect({ ...now, dueSk: '' }).toEqual({ ...before, dueSk: '' });
  }
});

test('a row that can be read again is found within the hour, and gets a mark of its own', async () => {
  const { deps, table, clock, fires, row } = world();
  const item = row(NOW + MINUTE);
  const key = { pk: item.pk, sk: item.sk };
  await table.put({ ...item, v: 2 });
  const tick = () => eachDue(deps, 'tick', clock.now() + TICK_HORIZON_MS, (found) => tickSchedule(deps, found));
  for (let round = 0; round < 300; round++) {
    await tick();
    await clock.advance(MINUTE);
  }
  const marked = String((await table.get(key))?.dueSk);
  expect(due.timesPutOff(marked)).toBeGreaterThan(5);
  expect(due.at(marked) - clock.now()).toBeLessThanOrEqual(60 * MINUTE + TICK_HORIZON_MS);
  await table.put({ ...((await table.get(key)) as Item), v: 1 });
  for (let round = 0; round < 62 && fires.sent.length === 0; round++) {
    await tick();
    await clock.advance(MINUTE);
  }
  expect(fires.sent).toHaveLength(1);
  const after = readSchedule((await table.get(key)) as Item);
  expect(due.timesPutOff(String(after.dueSk))).toBe(0);
});

test('a row that fails for a moment, or whose mark has moved, keeps its mark', async () => {
  const { deps, table, row } = world();
  const item = row(NOW + MINUTE);
  await table.put(item);
  await putOff(deps, item, NOW + TICK_HORIZON_MS);
  expect(await table.get(item)).toEqual(item);
  const old = { ...item, dueSk: due.sk(NOW - 10 * MINUTE, String(item.id)) };
  await putOff(deps, old, NOW + TICK_HORIZON_MS);
  expect(await table.get(item)).toEqual(item);
  await putOff(deps, { ...keys.schedule(ORG, 'sch_gone'), dueSk: old.dueSk }, NOW + TICK_HORIZON_MS);
  expect(table.dump()).toHaveLength(1);
  expect(deps.metrics.counts).toEqual({});
});

test('a mark that cannot be written is told and stops nothing', async () => {
  const { deps, table, row } = world();
  const item = { ...row(NOW + MINUTE), dueSk: due.sk(NOW - 10 * MINUTE, 'x') };
  await table.put(item);
  const broken = { ...table, update: () => Promise.reject(new Error('throttled')) };
  await putOff({ ...deps, table: broken }, item, NOW);
  expect(deps.log.lines).toMatchObject([{ level: 'warn', error: 'Error: throttled' }]);
});

test('a kind of row that nobody knows is no row that is done with', async () => {
  const { deps } = world();
  const found = { pk: 'ORG#o#NOVELTY#1', sk: 'NOVELTY', dueSk: due.sk(NOW, 'x') };
  await expect(tickSchedule(deps, found)).rejects.toThrow(UnreadableRow);
  const execution = deps as unknown as Parameters<typeof tickExecution>[0];
  await expect(tickExecution(execution, found)).rejects.toThrow(UnreadableRow);
  await expect(sweepExecution(execution, found)).rejects.toThrow(UnreadableRow);
});
