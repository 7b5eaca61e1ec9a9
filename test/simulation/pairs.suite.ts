import { expect, it } from 'vitest';
import { judgePairs, PAIRED } from './pairs.ts';

/** Half of the pairs: two test files, because two workers can take one each. */
export const pairs = (half: 0 | 1): void => {
  it.each(PAIRED.filter((_, index) => index % 2 === half))(
    'survives %s and any other fault after it, at any two port calls',
    async (first) => {
      const { runs, failed } = await judgePairs(first);
      expect(runs).toBeGreaterThan(1_000);
      expect(failed.slice(0, 10)).toEqual([]);
    },
    240_000,
  );
};
