import { expect, it } from 'vitest';
import { changeLimits } from '../../lib/execution/change-limits.ts';
import { readExecution } from '../../lib/execution/execution.ts';
import { readFeedRow } from '../../lib/execution/feed.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { acting, config, runs } from './child-scenarios.ts';
import { judge } from './judge.ts';
import type { Scenario } from './scenario.ts';
import { executionIdOf, ORG, type Sim } from './sim-run.ts';
import { AGENT } from './sim-seed.ts';

/** What the calls of all runs came to, in the order of the feeds; refusals only. */
const refusals = (sim: Sim): readonly string[] =>
  sim.memory
    .dump()
    .filter(({ sk }) => sk.startsWith('FEED#'))
    .map(readFeedRow)
    .flatMap((row) =>
      row.kind === 'tool' && row.name === 'run_agent' && row.outcome === 'error' ? [row.content] : [],
    );

const play = async (plays: Parameters<typeof acting>[0], more: Partial<Scenario> = {}) => {
  const verdict = await judge({ seed: 1, script: [], config, answers: acting(plays), ...more });
  expect(verdict.violations).toEqual([]);
  return verdict.sim;
};

it('a third run below starts none', async () => {
  const sim = await play({ TOP: [runs(['AAA'])], AAA: [runs(['BBB'])], BBB: [runs(['CCC'])], CCC: [runs(['DDD'])] });
  expect(sim.observed.executions.size).toBe(4);
  expect(refusals(sim)).toEqual([expect.stringContaining('3 runs below the first one, and deeper is not allowed')]);
});

it('eight runs at a time, and no ninth', async () => {
  const cheap = { ...config, maxCostUsd: 1, contextTokens: 300, maxReplyTokens: 100 };
  const goals = Array.from({ length: 9 }, (_, index) => `ONE ${index}`);
  const sim = await play({ TOP: [runs(goals)], ONE: [[['wait', { seconds: 60 }]]] }, { config: cheap });
  expect(sim.observed.executions.size).toBe(9);
  expect(refusals(sim)).toEqual([expect.stringContaining('8 that you started have not ended')]);
});

it('32 runs below one, and no more', async () => {
  const cheap = { ...config, maxCostUsd: 10, contextTokens: 300, maxReplyTokens: 100 };
  const eight = (word: string) => runs(Array.from({ length: 8 }, (_, index) => `${word} ${index}`));
  const slow = [[['wait', { seconds: 60 }] as const]];
  const sim = await play({ TOP: [eight('MID')], MID: [eight('LOW')], LOW: slow }, { config: cheap });
  const most = Math.max(...sim.observed.observations.map(({ to }) => Number(to.ob ?? 0)));
  expect(most).toBe(32);
  expect(refusals(sim).every((text) => text.includes('32 runs are open in this whole undertaking'))).toBe(true);
  expect(refusals(sim).length).toBe(8 * 8 - 24);
});

it('no tool that the parent lacks, named or of the agent', async () => {
  const without = { ...config, tools: ['look', 'run_agent'] };
  const sim = await play(
    { TOP: [runs(['ONE'], { tools: ['pay'] }), runs(['TWO'])], TWO: [[['pay', {}]]] },
    { config: without },
  );
  expect(refusals(sim)).toEqual([expect.stringContaining('you may not use "pay", so it may not either')]);
  expect(sim.effects.filter(({ tool }) => tool === 'pay')).toEqual([]);
  const feed = sim.memory.dump().filter(({ sk }) => sk.startsWith('FEED#'));
  expect(feed.map(readFeedRow)).toContainEqual(
    expect.objectContaining({ kind: 'tool', name: 'pay', content: expect.stringContaining('There is no tool "pay"') }),
  );
});

it('no more money than is left', async () => {
  const sim = await play({ TOP: [runs(['ONE'], { maxCostUsd: 5 }), runs(['ONE'], { maxCostUsd: 0.01 })] });
  expect(refusals(sim)).toEqual([
    expect.stringMatching(/it would take \$1\.0000\. Of your own budget \$0\.\d+ are left/),
    expect.stringMatching(/first model call can cost up to \$0\.05\d+, and it would have \$0\.0100/),
  ]);
  expect(sim.observed.executions.size).toBe(1);
});

it("another organisation's agent is not found, nor is one that there never was", async () => {
  const other = 'agt_00000000000000000000000009';
  const run = (agentId: string) => [['run_agent', { agentId }] as const];
  const sim = await play(
    { TOP: [[['wait', { seconds: 5 }]], run(other), run('agt_nonsense')] },
    {
      people: (each) => {
        void each.memory.get(keys.agent(ORG, AGENT)).then(async (item) => {
          if (item === undefined) throw new Error('The agent is missing.');
          const foreign = 'org_00000000000000000000000007';
          await each.memory.put({ ...item, ...keys.agent(foreign, other), id: other, orgId: foreign });
        });
      },
    },
  );
  expect(refusals(sim)).toHaveLength(2);
  for (const text of refusals(sim)) expect(text).toMatch(/^The run was not started: .*(agent|not found)/i);
  expect(sim.observed.executions.size).toBe(1);
});

it("a child's budget is raised out of what its parent has left, and never beyond", async () => {
  let told: unknown;
  let raised: unknown;
  const sim = await play(
    { TOP: [runs(['SLOW'], { maxCostUsd: 0.2 })], SLOW: [[['wait', { seconds: 600 }]]] },
    {
      people: (each) => {
        each.world.after(20_000, () => {
          const child = [...each.observed.executions.values()].map(readExecution).find(({ parentId }) => parentId);
          const at = { orgId: ORG, executionId: child?.executionId ?? '' };
          void changeLimits(each.deps(), at, { maxCost: 5_000_000 })
            .catch((error: unknown) => (told = error))
            .then(() => changeLimits(each.deps(), at, { maxCost: 300_000 }))
            .then(async () => (raised = await each.execution()));
        });
      },
    },
  );
  expect(told).toMatchObject({ status: 409, code: 'parent_budget' });
  expect(raised).toMatchObject({ carved: 300_000, openChildren: 1 });
  expect(await sim.execution()).toMatchObject({ executionId: executionIdOf(0), carved: 0, openChildren: 0 });
});
