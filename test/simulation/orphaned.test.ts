import { expect, test } from 'vitest';
import { A } from '../../lib/execution/execution.ts';
import { judge } from './judge.ts';
import { BASES } from './scenarios.ts';

test('a holder whose message is deleted during its model call passes the step on and books what the call may cost', async () => {
  const base = BASES['calls of each effect'];
  if (base === undefined) throw new Error('The scenario is missing.');
  const { sim, violations } = await judge({
    seed: 1,
    ...base,
    clock: false,
    modelLatencyMs: 70_000,
    people: (running) => {
      running.world.after(12_000, () => running.queue.delete('step-0'));
    },
  });
  // The call that was hung up on, and one for each of the three steps.
  expect(sim.model.purchases).toHaveLength(4);
  // Given back after its call, the claim has spent an attempt: its successor's is the second.
  const second = sim.observed.observations
    .filter(({ to }) => to[A.seq] === 1)
    .map(({ to }) => Number(to[A.attempts] ?? 0));
  expect(Math.max(...second)).toBe(2);
  expect(violations).toEqual([]);
});
