import { expect, test } from 'vitest';
import { createAgent } from '../../lib/agent/create-agent.ts';
import type { StepMessage } from '../../lib/execution/message.ts';
import { makeCrowd } from '../../lib/execution/step/crowd.ts';
import { makeIds } from '../../lib/kernel/ids.ts';
import { createSchedule } from '../../lib/schedule/create-schedule.ts';
import { type FireDeps, fireSchedule } from '../../lib/schedule/fire.ts';
import type { FireMessage } from '../../lib/schedule/message.ts';
import { bootstrap } from '../../lib/tenancy/bootstrap.ts';
import { makeFakeClock } from '../support/fake-clock.ts';
import { makeMemoryLog, makeMemoryMetrics } from '../support/memory-log.ts';
import { makeMemoryQueue } from '../support/memory-queue.ts';
import { makeMemoryTable } from '../support/memory-table.ts';

const NOW = Date.parse('2026-03-02T09:00:00Z');
const DUE = NOW + 60_000;

/** So many schedules that are due in the same second, one process that fires them, and what it tells whom. */
const world = async (count: number) => {
  const clock = makeFakeClock(NOW);
  const table = makeMemoryTable(() => clock.now());
  const steps = makeMemoryQueue<StepMessage>();
  const asides: (number | undefined)[] = [];
  const deps: FireDeps = {
    table,
    steps,
    fires: makeMemoryQueue<FireMessage>(),
    clock,
    log: makeMemoryLog(),
    metrics: makeMemoryMetrics(),
    upper: { writes: () => [], wake: async ({ aside }) => void asides.push(aside) },
    resolveModel: async () => undefined,
    crowd: makeCrowd(2, 2_500),
  };
  const ids = makeIds();
  const { organisationId: orgId } = await bootstrap({ ...deps, ids }, { organisation: 'o' });
  const agent = await createAgent(
    { ...deps, ids },
    { tools: [], workflows: ['goal'] },
    { orgId, actor: 'person', name: 'agent', config: { goals: ['x'] } },
    NOW,
  );
  const messages: FireMessage[] = [];
  for (let made = 0; made < count; made++) {
    const command = { orgId, actor: 'person', agentId: agent.id, startAt: DUE };
    const { id } = await createSchedule({ ...deps, ids }, command);
    messages.push({ orgId, scheduleId: id, dueAt: DUE });
  }
  const fireAt = async (at: number) => {
    await clock.advance(at - clock.now());
    await Promise.all(messages.map((message) => fireSchedule(deps, message)));
    return { steps: steps.sent.map(({ delaySeconds }) => delaySeconds), asides };
  };
  return { fireAt };
};

test('a schedule that is alone in its second takes its first step at once', async () => {
  expect(await (await world(1)).fireAt(DUE)).toEqual({ steps: [0], asides: [0] });
});

test('of several in one second all are started before one takes its first step, and is told of', async () => {
  expect(await (await world(3)).fireAt(DUE)).toEqual({ steps: [3, 3, 3], asides: [3, 3, 3] });
});

test('one that is late has others before it', async () => {
  expect(await (await world(1)).fireAt(DUE + 2_000)).toEqual({ steps: [3], asides: [3] });
});
