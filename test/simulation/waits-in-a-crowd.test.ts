import { expect, test } from 'vitest';
import { A } from '../../lib/execution/execution.ts';
import { FAULTS } from './faults.ts';
import { judge } from './judge.ts';
import type { Scenario } from './scenario.ts';

/** Others wait for the same second: the step after the wait comes by a message that steps aside. */
const CROWD: Omit<Scenario, 'seed'> = {
  aside: 3,
  script: [
    [
      ['wait', { seconds: 30 }],
      ['pay', {}],
    ],
    [['post', {}]],
    [['finish', { result: 'ok' }]],
  ],
};

test('the run is RUNNING in its second, and works when its message comes', async () => {
  const { sim, violations } = await judge({ seed: 1, ...CROWD });
  expect(violations).toEqual([]);
  const woken = sim.observed.observations.find(
    ({ from, to }) => from?.[A.status] === 'WAIT_STEP' && to[A.status] === 'RUNNING',
  );
  const [claimed] = sim.observed.observations.filter(
    ({ at, to }) => at > (woken?.at ?? 0) && to[A.leaseOwner] !== undefined,
  );
  const until = Number(woken?.to[A.waitUntil]);
  expect((woken?.at ?? 0) - until).toBeLessThan(1_500);
  expect((claimed?.at ?? 0) - (woken?.at ?? 0)).toBeGreaterThanOrEqual(3_000);
});

test.each(FAULTS)('it survives one %s at any port call, with messages alone to carry it on', async (fault) => {
  const { calls } = (await judge({ seed: 1, ...CROWD })).sim.injector;
  const failed: string[] = [];
  for (let call = 0; call < calls; call++) {
    const faultAt = (n: number) => (n === call ? fault : undefined);
    const { sim, violations } = await judge({ seed: 1, ...CROWD, clock: false, faultAt });
    if (violations.length > 0) failed.push(`call ${call} (${sim.injector.names[call]}): ${violations.join('; ')}`);
  }
  expect(failed).toEqual([]);
});
