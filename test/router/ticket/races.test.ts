import { describe, expect, it } from 'vitest';
import { play, SEEDS } from './play.ts';

describe('tickets under everything at once', () => {
  it.each(Array.from({ length: SEEDS }, (_, index) => index + 1))(
    'seed %i',
    async (seed) => {
      expect(await play(seed)).toEqual([]);
    },
    30_000,
  );
});
