/** What happens to an execution is numbered in the order in which it happened, whatever the clocks say. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type EffectMessage, readEffect } from '../../lib/effect/effect.ts';
import { statusEvents } from '../../lib/effect/status-events.ts';
import { pauseExecution, resumeExecution, terminateExecution } from '../../lib/execution/control.ts';
import { A, readExecution } from '../../lib/execution/execution.ts';
import type { StepMessage } from '../../lib/execution/message.ts';
import type { ExecutionDeps, StepDeps } from '../../lib/execution/step/deps.ts';
import { isRefused, writeStatus } from '../../lib/execution/step/stop.ts';
import { writeCommit } from '../../lib/execution/step/warn.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { and, eq, remove, set } from '../../lib/kernel/table.ts';
import { makeFakeClock } from '../support/fake-clock.ts';
import { makeMemoryLog, makeMemoryMetrics } from '../support/memory-log.ts';
import { makeMemoryQueue } from '../support/memory-queue.ts';
import { makeMemoryTable } from '../support/memory-table.ts';
import { at, executionIdOf, NOW, ORG, putExecution } from './support.ts';

const world = async () => {
  const clock = makeFakeClock(NOW);
  const table = makeMemoryTable(() => clock.now());
  const effects = makeMemoryQueue<EffectMessage>();
  const log = makeMemoryLog();
  const deps: ExecutionDeps = {
    table,
    steps: makeMemoryQueue<StepMessage>(),
    clock,
    log,
    metrics: makeMemoryMetrics(),
    upper: statusEvents({ effects, log }),
  };
  await putExecution(table);
  const key = keys.execution(ORG, executionIdOf(0));
  const row = async () => readExecution((await table.get(key)) ?? { ...key });
  /** Numbers of the effects, in the order of the table's writes as `effects` was told of them. */
  const told = async () => {
    const items = await table.getMany(
      effects.sent.map(({ message }) => keys.effect(ORG, message.effectId)),
      { consistent: true },
    );
    return items.flatMap((item) => (item === undefined ? [] : [readEffect(item)]));
  };
  return { deps, table, clock, key, row, told, effects };
};

describe('the number of a change', () => {
  it('rises with each change within one and the same millisecond, without a gap', async () => {
    const { deps, told, row } = await world();
    for (let n = 0; n < 6; n++) {
      await pauseExecution(deps, at());
      await resumeExecution(deps, at());
    }
    await terminateExecution(deps, at());
    const events = await told();
    expect(new Set(events.map((event) => event.at)).size).toBe(1);
    expect(events.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 13 }, (_, n) => n + 2));
    expect(new Set(events.map(({ effectId }) => effectId)).size).toBe(13);
    expect((await row()).changes).toBe(14);
  });

  it('rises although the clock of the next writer is behind', async () => {
    const { deps, told } = await world();
    await pauseExecution(deps, at());
    const behind = { ...deps, clock: { ...deps.clock, now: () => NOW - 60_000 } };
    await resumeExecution(behind, at());
    const [first, second] = await told();
    expect(second?.at).toBeLessThan(first?.at ?? 0);
    expect([first?.sequence, second?.sequence]).toEqual([2, 3]);
  });

  it('of a holder that read the row before a pause and a resume follows theirs', async () => {
    const { deps, told, key, row } = await world();
    const seen = await row();
    await pauseExecution(deps, at());
    await resumeExecution(deps, at());
    const change = { execution: seen, from: 'RUNNING' as const, to: 'COMPLETED' as const, reason: undefined, at: NOW };
    const write = { update: key, changes: [set(A.status, 'COMPLETED')], if: eq(A.status, 'RUNNING') };
    await writeStatus(deps, change, write);
    expect((await told()).map(({ sequence }) => sequence)).toEqual([2, 3, 4]);
    expect(await row()).toMatchObject({ status: 'COMPLETED', changes: 4 });
  });

  it('is no reason to write what is refused otherwise', async () => {
    const { deps, told, key, row } = await world();
    const seen = await row();
    await pauseExecution(deps, at());
    const change = { execution: seen, from: 'RUNNING' as const, to: 'COMPLETED' as const, reason: undefined, at: NOW };
    const write = { update: key, changes: [set(A.status, 'COMPLETED')], if: eq(A.status, 'RUNNING') };
    const refused = await writeStatus(deps, change, write).catch((error: unknown) => error);
    expect(isRefused(refused)).toBe(true);
    expect(await told()).toHaveLength(1);
    expect(await row()).toMatchObject({ status: 'PAUSED', changes: 2 });
  });

  it('is given once when many write at the same moment', async () => {
    const { deps, told } = await world();
    await Promise.allSettled([
      ...Array.from({ length: 4 }, () => pauseExecution(deps, at())),
      ...Array.from({ length: 4 }, () => resumeExecution(deps, at())),
      terminateExecution(deps, at()),
    ]);
    const numbers = (await told()).map(({ sequence }) => sequence);
    expect(numbers.length).toBeGreaterThan(1);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('counts on from a row of before', async () => {
    const { deps, table, key, told } = await world();
    await table.update(key, [remove(A.changes)]);
    await pauseExecution(deps, at());
    await resumeExecution(deps, at());
    expect((await told()).map(({ sequence }) => sequence)).toEqual([1, 2]);
  });

  it('is counted wherever the floors above are told of a change', () => {
    const root = resolve(import.meta.dirname, '../../lib/execution');
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const telling = files.filter((name) => /upper\.(writes|warns)\b/.test(readFileSync(join(root, name), 'utf8')));
    expect(telling.length).toBeGreaterThan(4);
    const counting = telling.filter((name) =>
      /\b(counted|writeNumbered)\(|changes: 0/.test(readFileSync(join(root, name), 'utf8')),
    );
    expect(telling).toEqual(counting);
  });
});

describe('the warning of a budget', () => {
  const commit = async (setup: Awaited<ReturnType<typeof world>>, cost: number) => {
    const { deps, key, row } = setup;
    const execution = await row();
    const write = { update: key, changes: [set(A.cost, cost)], if: and(eq(A.status, 'RUNNING')) };
    await writeCommit(deps as StepDeps, execution, write, cost, NOW);
  };

  it('comes with the first commit that passes four fifths, and once', async () => {
    const setup = await world();
    await commit(setup, 3_999_999);
    expect(setup.effects.sent).toEqual([]);
    await commit(setup, 4_000_000);
    await commit(setup, 4_900_000);
    const events = await setup.told();
    expect(events).toMatchObject([{ kind: 'webhook', detailType: 'budget.warning', sequence: 2 }]);
    expect(JSON.parse(events[0]?.detail ?? '')).toMatchObject({ costUsd: 4, maxCostUsd: 5 });
    expect(await setup.row()).toMatchObject({ cost: 4_900_000, changes: 2 });
  });

  it('comes again when the limit was raised and is used up again', async () => {
    const setup = await world();
    await commit(setup, 4_500_000);
    await setup.table.update(setup.key, [set(A.maxCost, 10_000_000)]);
    await commit(setup, 7_000_000);
    await commit(setup, 8_000_000);
    expect((await setup.told()).map(({ sequence }) => sequence)).toEqual([2, 3]);
  });

  it('is refused with the commit it belongs to', async () => {
    const setup = await world();
    await pauseExecution(setup.deps, at());
    await expect(commit(setup, 4_500_000)).rejects.toMatchObject({ name: 'LeaseLost' });
    expect(await setup.told()).toHaveLength(1);
  });

  it('follows a pause and a resume in the middle of its step', async () => {
    const setup = await world();
    const { deps, key, row } = setup;
    const seen = await row();
    await pauseExecution(deps, at());
    await resumeExecution(deps, at());
    const write = { update: key, changes: [set(A.cost, 5_000_000)], if: eq(A.status, 'RUNNING') };
    await writeCommit(deps as StepDeps, seen, write, 5_000_000, NOW);
    expect((await setup.told()).map(({ sequence }) => sequence)).toEqual([2, 3, 4]);
  });
});
