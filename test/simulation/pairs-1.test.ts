import { expect, it } from 'vitest';
import { judgePairs, PAIRED } from './pairs.ts';

// Two files, because two workers can take one each.
const half = PAIRED.filter((_, index) => index % 2 === 0);

it.each(half)(
  'survives %s and any other fault after it, at any two port calls',
  async (first) => {
    const { runs, failed } = await judgePairs(first);
    expect(runs).toBeGreaterThan(1_000);
    expect(failed.slice(0, 10)).toEqual([]);
  },
  240_000,
);
