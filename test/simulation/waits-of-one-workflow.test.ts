import { expect, test } from 'vitest';
import { A } from '../../lib/execution/execution.ts';
import { checkDefinition } from '../../lib/workflow/validate.ts';
import { judge } from './judge.ts';

const WAITING = checkDefinition(
  {
    name: 'waiting',
    start: 'look',
    steps: {
      look: { kind: 'TOOL', tools: ['look'], instruction: 'Look.', next: { default: 'pause' } },
      pause: { kind: 'WAIT', seconds: 120, next: { default: 'done' } },
      done: { kind: 'END', result: 'waited' },
    },
  },
  ['look'],
);

test('three runs of one workflow wait at the same step at the same time; each has a wait of its own and goes on', async () => {
  const { sim, violations } = await judge({
    seed: 1,
    script: [],
    workflow: WAITING,
    answers: () => ({ calls: [['look', {}]] }),
    executions: 3,
    expects: { result: 'waited' },
  });
  expect(violations).toEqual([]);
  const rows = [...sim.observed.executions.values()];
  expect(rows.map((row) => row[A.status])).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED']);
  const moves = sim.observed.observations.filter(({ from, to }) => to[A.status] !== from?.[A.status]);
  let waiting = 0;
  const atOnce = moves.map(({ from, to }) => {
    if (to[A.status] === 'WAIT_STEP') waiting++;
    if (from?.[A.status] === 'WAIT_STEP') waiting--;
    return waiting;
  });
  expect(Math.max(...atOnce)).toBe(3);
  const waits = sim.memory.dump().filter(({ sk }) => sk.startsWith('WAIT#'));
  expect(new Set(waits.map(({ pk }) => pk)).size).toBe(3);
});
