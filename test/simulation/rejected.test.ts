import { expect, test } from 'vitest';
import { readExecution } from '../../lib/execution/execution.ts';
import { readFeedRow } from '../../lib/execution/feed.ts';
import { readAsk } from '../../lib/execution/rows.ts';
import { judge } from './judge.ts';
import type { Sim } from './sim-run.ts';

/** A person who decides each permission some time after it is asked, the first by `no`, the later ones by yes. */
const saysNoOnce = (sim: Sim): void => {
  let first = true;
  const look = (): void => {
    const pending = sim.memory.dump().some((item) => item.sk.startsWith('ASK#') && readAsk(item).state === 'pending');
    if (pending) {
      void sim.decide(!first);
      first = false;
    }
    sim.world.after(1_000, look);
  };
  sim.world.after(1_000, look);
};

const outcomes = (sim: Sim): readonly (readonly [string, string])[] =>
  sim.memory
    .dump()
    .filter((item) => item.sk.startsWith('FEED#'))
    .map(readFeedRow)
    .flatMap((row) => (row.kind === 'tool' ? [[row.name, row.outcome] as const] : []));

test('a rejected finish ends nothing: the model is told and goes on', async () => {
  const { sim, violations } = await judge({
    seed: 1,
    config: { permissionType: 'RESTRICTED', permissionTools: ['finish'] },
    script: [[['finish', { result: 'too early' }]], [['finish', { result: 'in time' }]]],
    patienceMs: 60_000,
    people: saysNoOnce,
  });
  expect(violations).toEqual([]);
  expect(outcomes(sim)[0]).toEqual(['finish', 'rejected']);
  const row = sim.memory.dump().find((item) => item.sk === 'EXEC');
  expect(row && readExecution(row).result).toBe('in time');
});

test('a rejected question is not put to anybody', async () => {
  const { sim, violations } = await judge({
    seed: 1,
    config: { permissionType: 'RESTRICTED', permissionTools: ['ask_user'] },
    script: [[['ask_user', { question: 'May I?' }]], [['finish', { result: 'ok' }]]],
    patienceMs: 60_000,
    people: saysNoOnce,
  });
  expect(violations).toEqual([]);
  expect(outcomes(sim)[0]).toEqual(['ask_user', 'rejected']);
  const asks = sim.memory.dump().filter((item) => item.sk.startsWith('ASK#'));
  expect(asks.map((item) => readAsk(item)).map(({ kind, state }) => [kind, state])).toEqual([
    ['permission', 'rejected'],
  ]);
});
