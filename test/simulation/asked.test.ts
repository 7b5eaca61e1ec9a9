import { expect, test } from 'vitest';
import { decidePermission } from '../../lib/execution/decide.ts';
import { readFeedRow } from '../../lib/execution/feed.ts';
import { readAsk } from '../../lib/execution/rows.ts';
import { judge } from './judge.ts';
import { each } from './people-aims.ts';
import { ORG, type Sim } from './sim-run.ts';

const asksOf = (sim: Sim) =>
  sim.memory
    .dump()
    .filter((item) => item.sk.startsWith('ASK#'))
    .map(readAsk);

const outcomesOf = (sim: Sim) =>
  sim.memory
    .dump()
    .filter((item) => item.sk.startsWith('FEED#'))
    .map(readFeedRow)
    .flatMap((row) => (row.kind === 'tool' ? [row] : []));

/** Decides each permission as it is asked, with some words. */
const says = (approve: boolean, feedback: string) =>
  each(/^WAITING_FOR_PERMISSION$/, async (sim) => {
    const open = asksOf(sim).find(({ state }) => state === 'pending');
    if (open === undefined) return;
    await decidePermission(sim.deps(), { orgId: ORG, permissionId: open.askId, approve, feedback, actor: 'person' });
  });

test('a question that needed leave is put and answered, and the permission still says who gave it', async () => {
  const { sim, violations } = await judge({
    seed: 1,
    config: { permissionType: 'RESTRICTED', permissionTools: ['ask_user'] },
    script: [[['ask_user', { question: 'May I?' }]], [['finish', { result: 'ok' }]]],
    patienceMs: 5_000,
    people: says(true, 'Ask away.'),
  });
  expect(violations).toEqual([]);
  expect(asksOf(sim).map(({ kind, state, decidedBy }) => [kind, state, decidedBy])).toEqual([
    ['permission', 'approved', 'person'],
    ['question', 'answered', 'person'],
  ]);
  expect(outcomesOf(sim)[0]).toMatchObject({
    outcome: 'answered',
    content: expect.stringMatching(/^input-0\n.*Ask away/),
  });
});

test.each([
  [true, 'ok', /^pay done\n.*only this once/],
  [false, 'rejected', /rejected.*only this once/],
] as const)('what a person says with a decision reaches the model (approve %s)', async (approve, outcome, told) => {
  const { sim, violations } = await judge({
    seed: 1,
    config: { permissionType: 'RESTRICTED' },
    script: [[['pay', {}]], [['finish', { result: 'ok' }]]],
    patienceMs: 5_000,
    people: says(approve, 'only this once'),
  });
  expect(violations).toEqual([]);
  expect(outcomesOf(sim)[0]).toMatchObject({ outcome, content: expect.stringMatching(told) });
  const heard = sim.model.purchases.at(-1)?.messages.findLast(({ role }) => role === 'tool');
  expect(heard?.content).toMatch(told);
});

test('several calls of one reply are asked one by one, and run in their order once all are decided', async () => {
  const when: number[] = [];
  const { sim, violations } = await judge({
    seed: 1,
    config: { permissionType: 'RESTRICTED' },
    script: [
      [
        ['pay', { what: 'first' }],
        ['pay', { what: 'second' }],
        ['pay', { what: 'third' }],
      ],
      [['finish', { result: 'ok' }]],
    ],
    patienceMs: 20_000,
    people: each(/^WAITING_FOR_PERMISSION$/, async (running) => {
      expect(asksOf(running).filter(({ state }) => state === 'pending')).toHaveLength(1);
      expect(running.effects).toEqual([]);
      when.push(running.world.now);
      await running.decide(when.length !== 2);
    }),
  });
  expect(violations).toEqual([]);
  expect(when).toHaveLength(3);
  expect(outcomesOf(sim).map(({ outcome }) => outcome)).toEqual(['ok', 'rejected', 'ok']);
  expect(sim.effects.map(({ key }) => key.slice(-1))).toEqual(['0', '2']);
});
