import { describe, expect, it } from 'vitest';
import { FAULTS } from './faults.ts';
import { judge } from './judge.ts';
import { judgePairs } from './pairs.ts';
import { BASES } from './scenarios.ts';

/** One fault of every kind at every port call of a three-step run. */
describe.each(Object.entries(BASES))('%s', (_name, base) => {
  it('completes undisturbed', async () => {
    const { sim, violations } = await judge({ seed: 1, ...base });
    expect(violations).toEqual([]);
    const scripted = base.script.flat().filter(([tool]) => ['look', 'post', 'pay'].includes(tool));
    expect(sim.effects.map(({ tool }) => tool).sort()).toEqual(scripted.map(([tool]) => tool).sort());
  });

  it.each(FAULTS)('survives one %s at any port call', async (fault) => {
    const clean = await judge({ seed: 1, ...base });
    const calls = clean.sim.injector.calls;
    expect(calls).toBeGreaterThan(20);
    const failed: string[] = [];
    for (let call = 0; call < calls; call++) {
      const { sim, violations } = await judge({
        seed: 1,
        ...base,
        clock: false,
        faultAt: (n) => (n === call ? fault : undefined),
      });
      if (violations.length > 0) failed.push(`call ${call} (${sim.injector.names[call]}): ${violations.join('; ')}`);
    }
    expect(failed).toEqual([]);
  });
});

it('loses the answer of each kind of port call', async () => {
  const met = new Set<string>();
  // Each of these calls has lost its answer above.
  for (const base of Object.values(BASES)) {
    for (const name of (await judge({ seed: 1, ...base })).sim.injector.names) met.add(name);
  }
  // Some calls are made by a second holder alone.
  const { failed, struck } = await judgePairs('crash_after', ['lost_response'], 'more than a row holds');
  expect(failed).toEqual([]);
  for (const name of struck) met.add(name);
  expect([...met]).toEqual(
    expect.arrayContaining([
      'get META',
      'query FEED',
      'query STARTED',
      'put FEED',
      'put STARTED',
      'update EXEC claim',
      'update EXEC commit',
      'update EXEC',
      'transact',
      'send',
      'visibility',
      'blob put',
      'blob get',
      'model',
      'tool post',
      'tool pay',
    ]),
  );
}, 120_000);
