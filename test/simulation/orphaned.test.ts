import { expect, test } from 'vitest';
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
  expect(violations).toEqual([]);
});
