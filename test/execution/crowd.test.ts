import { expect, test } from 'vitest';
import type { EffectMessage } from '../../lib/effect/effect.ts';
import { statusEvents } from '../../lib/effect/status-events.ts';
import { readExecution } from '../../lib/execution/execution.ts';
import { makeCrowd } from '../../lib/execution/step/crowd.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { makeMemoryLog } from '../support/memory-log.ts';
import { makeMemoryQueue } from '../support/memory-queue.ts';
import { makeMemoryTable } from '../support/memory-table.ts';
import { executionIdOf, NOW, ORG, putExecution } from './support.ts';

test('who is on time and alone goes on at once', () => {
  const crowd = makeCrowd(3, 1_000);
  crowd.join(NOW);
  expect(crowd.aside(NOW, NOW)).toBe(0);
  // A delay of whole seconds brings it up to a second late.
  expect(crowd.aside(NOW - 1_400, NOW)).toBe(0);
});

test('the third within a second steps aside, the third within a minute does not', () => {
  const crowd = makeCrowd(3, 1_000);
  for (const at of [0, 300, 600]) crowd.join(NOW + at);
  expect(crowd.aside(NOW + 600, NOW + 600)).toBe(3);
  // The crowd is gone.
  crowd.join(NOW + 20_000);
  expect(crowd.aside(NOW + 20_000, NOW + 20_000)).toBe(0);
  for (const at of [40_000, 60_000]) crowd.join(NOW + at);
  expect(crowd.aside(NOW + 60_000, NOW + 60_000)).toBe(0);
});

test('who is late has others before it and behind it', () => {
  expect(makeCrowd(3, 1_000).aside(NOW - 1_500, NOW)).toBe(3);
});

test('the news of a change that steps aside is sent as late, and no other is', async () => {
  const table = makeMemoryTable(() => NOW);
  await putExecution(table);
  const effects = makeMemoryQueue<EffectMessage>();
  const floor = statusEvents({ effects, log: makeMemoryLog() });
  const item = await table.get(keys.execution(ORG, executionIdOf(0)));
  if (item === undefined) throw new Error('The execution is missing.');
  const change = {
    execution: readExecution(item),
    from: 'WAIT_STEP' as const,
    to: 'RUNNING' as const,
    reason: undefined,
    at: NOW,
  };
  await floor.wake({ ...change, aside: 3 });
  await floor.wake(change);
  expect(effects.sent.map(({ delaySeconds }) => delaySeconds)).toEqual([3, 0]);
});
