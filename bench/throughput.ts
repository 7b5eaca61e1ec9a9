import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchCloud } from './cloud.ts';
import type { ScriptedModel } from './model/model.ts';
import { residentMb } from './processes.ts';
import { most, steadyRate } from './stats.ts';

const EXECUTIONS = 50;
const SAMPLE_EVERY_MS = 500;

export interface Throughput {
  readonly stepsPerSecond: number | undefined;
  /** The local cloud, its functions and what they run in, at the highest, megabytes. */
  readonly peakMb: number | undefined;
}

/** Fifty runs at once, each of so many steps. */
export const measureThroughput = async (
  cloud: BenchCloud,
  model: ScriptedModel,
  steps: number,
): Promise<Throughput> => {
  const stop = new AbortController();
  const samples: number[] = [];
  const sampling = (async () => {
    while (!stop.signal.aborted) {
      const mb = residentMb(cloud.pid);
      if (mb !== undefined) samples.push(mb);
      await sleep(SAMPLE_EVERY_MS, undefined, { signal: stop.signal }).catch(() => {});
    }
  })();
  const prefix = 'many-';
  const names = Array.from({ length: EXECUTIONS }, (_, index) => `${prefix}${index}`);
  const ids = await Promise.all(names.map((run) => cloud.begin({ run, steps, calls: 1 })));
  for (const id of ids) await cloud.completed(id, 60 + steps * EXECUTIONS, 500);
  stop.abort();
  await sampling;
  const times = (await model.calls()).filter(({ run }) => run.startsWith(prefix)).map(({ at }) => at);
  return { stepsPerSecond: steadyRate(times), peakMb: most(samples) };
};
