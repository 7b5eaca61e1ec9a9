import { afterAll, describe, expect, it } from 'vitest';
import { forgetMutants } from '../simulation/mutate.ts';
import { AIMS, firstViolation } from './simulation/aims.ts';
import { hunt } from './simulation/hunt.ts';
import { MUTATIONS } from './simulation/mutations.ts';

describe('the guards of schedules', () => {
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

  it('has a mutation for each aim', () => {
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
