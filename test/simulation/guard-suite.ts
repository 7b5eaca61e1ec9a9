import { afterAll, describe, expect, it } from 'vitest';
import { forgetMutants, type Mutation, runMutant } from './mutate.ts';

/** With all guards in their places nothing is found where the lack of one would show. */
export const testAims = <Aim>(
  title: string,
  aims: { readonly [guard: string]: Aim },
  firstViolation: (aim: Aim) => Promise<string | undefined>,
): void => {
  describe(title, () => {
    it.each(Object.entries(aims))(
      '%s: holds',
      async (_guard, aim) => {
        expect(await firstViolation(aim)).toBeUndefined();
      },
      120_000,
    );
  });
};

/** @param script what looks for the lack, from the root of the project; see `seek` */
export const testMutations = (
  title: string,
  script: string,
  mutations: readonly Mutation[],
  aims?: readonly string[],
): void => {
  describe(title, () => {
    afterAll(forgetMutants);

    if (aims !== undefined) {
      it('has a mutation for each aim', () => {
        expect(mutations.map(({ guard }) => guard).sort()).toEqual([...aims].sort());
      });
    }

    it.each(mutations)(
      '$guard',
      async (mutation) => {
        expect(await runMutant(script, mutation)).toMatch(/./);
      },
      150_000,
    );
  });
};
