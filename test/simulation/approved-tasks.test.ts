import { expect, test } from 'vitest';
import { judge } from './judge.ts';
import { WORKFLOW_BASES } from './workflow-scenarios.ts';

const base = WORKFLOW_BASES['tasks that change while they are worked'];
if (base === undefined) throw new Error('The scenario is missing.');
const asking = { ...base, config: { permissionType: 'RESTRICTED', permissionTools: ['post', 'look'] } };

test('a call that a person approves ends its task as any other does: each task is worked once', async () => {
  const { sim, violations } = await judge({ seed: 1, ...asking });
  expect(violations).toEqual([]);
  expect(sim.decisions.length).toBe(3);
  expect((await sim.execution()).result).toBe(base.expects?.result);
});

test('one that is refused does not end it: the task stays, is done otherwise, and none is lost or worked twice', async () => {
  const { expects: _, ...refusing } = asking;
  const { sim, violations } = await judge({ seed: 1, ...refusing, approves: (nth) => nth > 0 });
  expect(violations).toEqual([]);
  expect(sim.decisions.length).toBe(4);
  const { status, result = '' } = await sim.execution();
  expect(status).toBe('COMPLETED');
  const done = [...result.matchAll(/^\d\. (\w+): (?:post|look) done$/gm)].map(([, task]) => task);
  expect(done.toSorted()).toEqual(['first', 'second', 'zeroth']);
});
