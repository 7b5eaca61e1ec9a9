import { afterAll, describe, expect, it } from 'vitest';
import { firstViolation } from './aimed.ts';
import { AIMS } from './aims.ts';
import { forgetMutants, hunt } from './mutate.ts';
import { MUTATIONS } from './mutations.ts';

describe('the counterexamples of the step protocol', () => {
  it.each(Object.entries(AIMS))(
    '%s: holds',
    async (_guard, aim) => {
      expect(await firstViolation(aim)).toBeUndefined();
    },
    120_000,
  );
});

describe('the simulation misses each guard that is taken out of the source', () => {
  afterAll(forgetMutants);

  it('has a mutation for each scenario', () => {
    expect(MUTATIONS.map(({ guard }) => guard).sort()).toEqual(Object.keys(AIMS).sort());
  });

  it.each(MUTATIONS)(
    '$guard',
    async (mutation) => {
      expect(await hunt(mutation)).toMatch(/./);
    },
    150_000,
  );
});
