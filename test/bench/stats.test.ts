import { describe, expect, test } from 'vitest';
import { divided, mean, median, most, quantile, steadyRate } from '../../bench/stats.ts';

describe('quantiles', () => {
  test.each([
    [[5], 0.5, 5],
    [[1, 2, 3, 4], 0.5, 2.5],
    [[4, 1, 3, 2], 0, 1],
    [[4, 1, 3, 2], 1, 4],
    [Array.from({ length: 101 }, (_, index) => index), 0.99, 99],
  ])('%j at %d is %d', (values, share, expected) => {
    expect(quantile(values, share)).toBeCloseTo(expected, 10);
  });

  test('numbers are sorted as numbers, and the sample is left as it was', () => {
    const values = [100, 9, 20];
    expect(median(values)).toBe(20);
    expect(values).toEqual([100, 9, 20]);
  });

  test('nothing measured has no figure', () => {
    expect([median([]), mean([]), most([])]).toEqual([undefined, undefined, undefined]);
    expect(divided(1, undefined)).toBeUndefined();
    expect(divided(1, 0)).toBeUndefined();
    expect(divided(3, 2)).toBe(1.5);
  });
});

describe('the rate over the middle of a run', () => {
  test('a slow start and a slow end do not count', () => {
    const steady = Array.from({ length: 80 }, (_, index) => 10_000 + index * 10);
    const start = Array.from({ length: 10 }, (_, index) => index * 900);
    const end = Array.from({ length: 10 }, (_, index) => 20_000 + index * 5_000);
    expect(steadyRate([...end, ...start, ...steady])).toBeCloseTo(100, 5);
  });

  test('too little to say', () => {
    expect(steadyRate([])).toBeUndefined();
    expect(steadyRate([1])).toBeUndefined();
  });
});
