import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Two cores: more workers than that only make the local-cloud tests wait for each other.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 120_000,
    passWithNoTests: false,
  },
});
