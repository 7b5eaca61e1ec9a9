import type { Expected } from './judge.ts';
import { MINUTE, type Plan } from './sim.ts';

export interface Scenario {
  readonly plan: Omit<Plan, 'seed'>;
  readonly expected: Expected;
}

const every = (minutes: number, count: number): number[] =>
  Array.from({ length: count }, (_, k) => k * minutes * MINUTE);

export const SCENARIOS: { readonly [name: string]: Scenario } = {
  'once, soon': {
    plan: { schedule: {}, firstAfterMs: 20_000, runMs: 5_000, lastsMs: 8 * MINUTE },
    expected: { count: 1, runs: [0] },
  },
  'once, far': {
    plan: { schedule: {}, firstAfterMs: 400_000, runMs: 5_000, lastsMs: 15 * MINUTE },
    expected: { count: 1, runs: [0] },
  },
  'every five minutes, overlaps allowed': {
    plan: {
      schedule: { every: 'PT5M', maxRuns: 3, overlap: 'allow' },
      firstAfterMs: 200_000,
      runMs: 7 * MINUTE,
      lastsMs: 30 * MINUTE,
    },
    expected: { count: 3, runs: every(5, 3) },
  },
  'every minute': {
    plan: {
      schedule: { every: '1 Minute', maxRuns: 4, overlap: 'allow' },
      firstAfterMs: 30_000,
      runMs: 5_000,
      lastsMs: 15 * MINUTE,
    },
    expected: { count: 4 },
  },
  'one is queued behind a long run': {
    plan: {
      schedule: { every: 'PT5M', maxRuns: 3, overlap: 'queue' },
      firstAfterMs: 30_000,
      runMs: 7 * MINUTE,
      lastsMs: 40 * MINUTE,
    },
    // Due after 0, 5 and 10: the second waits until 7, the third until 14.
    expected: { count: 3, runs: every(5, 3), lateMs: 6 * MINUTE, alone: true },
  },
  'a run ends as the next is due': {
    plan: {
      schedule: { every: 'PT5M', maxRuns: 3, overlap: 'queue' },
      firstAfterMs: 30_000,
      runMs: 5 * MINUTE - 120,
      runJitterMs: 160,
      lastsMs: 30 * MINUTE,
    },
    expected: { count: 3, runs: every(5, 3), alone: true },
  },
  'what comes during a run is skipped': {
    plan: {
      schedule: { every: 'PT5M', maxRuns: 2, overlap: 'skip' },
      firstAfterMs: 30_000,
      runMs: 7 * MINUTE,
      lastsMs: 30 * MINUTE,
    },
    expected: { count: 2, runs: [0, 10 * MINUTE], alone: true },
  },
  'a run that waits for a mend is not in the way': {
    plan: {
      schedule: { every: 'PT5M', maxRuns: 2, overlap: 'skip' },
      firstAfterMs: 30_000,
      runMs: 3 * MINUTE,
      needsMend: true,
      lastsMs: 20 * MINUTE,
    },
    expected: { count: 2, runs: every(5, 2) },
  },
};
