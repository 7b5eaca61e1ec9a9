import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests that start a local cloud wait for leases, due times and processes most of the time. */
const WAITS = /^test\/(e2e|scripts)\/|^test\/docs\/runnable\.|^test\/local\/main\./;
const LANES = { waiting: 2, computing: 1 };
const WORKERS = LANES.waiting + LANES.computing;

/** Seconds of the files that take long on two cores. A wrong number costs time, nothing else. */
const SECONDS: { readonly [file: string]: number } = {
  'test/e2e/waits.test.ts': 140,
  'test/e2e/schedule-storm.test.ts': 110,
  'test/e2e/storm.test.ts': 95,
  'test/e2e/long-runs.test.ts': 60,
  'test/e2e/crash.test.ts': 45,
  'test/e2e/clockwork.test.ts': 40,
  'test/e2e/webhooks.test.ts': 40,
  'test/e2e/tenancy.test.ts': 30,
  'test/e2e/model-garbage.test.ts': 28,
  'test/e2e/router-grants.test.ts': 26,
  'test/e2e/workflows.test.ts': 25,
  'test/e2e/decisions-chaos.test.ts': 25,
  'test/scripts/demo.test.ts': 20,
  'test/e2e/lifecycle.test.ts': 20,
  'test/docs/runnable.test.ts': 20,
  'test/e2e/schedules.test.ts': 15,
  'test/e2e/usage.test.ts': 14,
  'test/local/main.test.ts': 12,
  'test/simulation/seeds.test.ts': 70,
  'test/simulation/pairs-1.test.ts': 50,
  'test/simulation/pairs-2.test.ts': 50,
  'test/simulation/guards.test.ts': 50,
  'test/simulation/books.test.ts': 35,
  'test/simulation/people.test.ts': 35,
  'test/simulation/single-faults.test.ts': 30,
  'test/simulation/skew.test.ts': 30,
  'test/simulation/children.test.ts': 22,
  'test/schedule/simulation.test.ts': 20,
  'test/simulation/workflows.test.ts': 12,
  'test/schedule/guards.test.ts': 10,
  'test/fuzz/http.test.ts': 10,
};
const OTHERS = { waiting: 8, computing: 1 };

interface Planned {
  readonly spec: TestSpecification;
  readonly start: number;
}

/** The long ones first, each in the lane that is free first. */
const plan = (
  files: readonly { readonly spec: TestSpecification; readonly seconds: number }[],
  lanes: number,
): Planned[] => {
  const free = Array.from({ length: lanes }, () => 0);
  return files
    .toSorted((a, b) => b.seconds - a.seconds)
    .map(({ spec, seconds }) => {
      const start = Math.min(...free);
      free[free.indexOf(start)] = start + seconds;
      return { spec, start };
    });
};

class Order extends BaseSequencer {
  override async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    const kinds = Map.groupBy(
      specs.map((spec) => ({ spec, file: relative(this.ctx.config.root, spec.moduleId).replaceAll('\\', '/') })),
      ({ file }) => (WAITS.test(file) ? 'waiting' : 'computing'),
    );
    const planned = (['computing', 'waiting'] as const).flatMap((kind) => {
      const files = (kinds.get(kind) ?? []).map(({ spec, file }) => ({ spec, seconds: SECONDS[file] ?? OTHERS[kind] }));
      return plan(files, LANES[kind]);
    });
    return planned.toSorted((a, b) => a.start - b.start).map(({ spec }) => spec);
  }
}

const CLOUDS = ['test/{aws,contract,docs,e2e,infra,local,scripts}/**/*.test.ts'];

export default defineConfig({
  test: {
    // For two cores: one file computes while two wait for their local clouds, the long ones first.
    maxWorkers: WORKERS,
    sequence: { sequencer: Order },
    testTimeout: 30_000,
    hookTimeout: 120_000,
    passWithNoTests: false,
    projects: [
      { extends: true, test: { name: 'clouds', include: CLOUDS } },
      // These keep nothing that the next file could trip over: a process that has loaded the code runs one after the other.
      { extends: true, test: { name: 'rooms', include: ['test/**/*.test.ts'], exclude: CLOUDS, isolate: false } },
    ],
  },
});
