import type { BenchCloud } from './cloud.ts';
import type { ScriptedModel } from './model/model.ts';
import type { ModelCall } from './model/script.ts';
import { cpuMs, pidsOf } from './processes.ts';
import { divided, mean, median, quantile } from './stats.ts';

/** From one model call to the next of the same run, with nothing but the step between them. */
export interface Gap {
  readonly step: number;
  readonly ms: number;
  readonly windowChars: number;
}

/**
 * Gaps of a run, oldest first. A pair with a summary between them is left out: that is a model call of its own, which has
 * no tool call; `summaryMs` holds what it took.
 */
export const gapsOf = (
  calls: readonly ModelCall[],
): { readonly gaps: readonly Gap[]; readonly summaryMs: readonly number[] } => {
  const gaps: Gap[] = [];
  const summaryMs: number[] = [];
  calls.forEach((call, index) => {
    const next = calls[index + 1];
    if (next === undefined) return;
    const ms = next.at - call.at;
    if (call.step === undefined) summaryMs.push(ms);
    else if (next.step !== undefined) gaps.push({ step: call.step, ms, windowChars: call.windowChars });
  });
  return { gaps, summaryMs };
};

/** The window counts as full from here on, characters (one byte each here). After a summary it begins at half. */
export const FULL_WINDOW = 64 * 1024;
/** Steps on each side of a point of the curve: with a summary about every 46 steps this is two of its cycles. */
const HALF_BAND = 50;

export interface CurvePoint {
  readonly at: number;
  readonly p50: number | undefined;
  readonly samples: number;
  readonly windowKb: number | undefined;
}

/** Only steps with a full window count, except for the first point, where no window is full yet. */
export const curveAt = (gaps: readonly Gap[], at: number): CurvePoint => {
  const early = at < HALF_BAND;
  const half = early ? Math.floor(at / 2) : HALF_BAND;
  const band = gaps.filter(
    ({ step, windowChars }) => Math.abs(step - at) <= half && (early || windowChars >= FULL_WINDOW),
  );
  const windowKb = divided(mean(band.map(({ windowChars }) => windowChars)), 1024);
  return { at, p50: median(band.map(({ ms }) => ms)), samples: band.length, windowKb };
};

export interface Curve {
  readonly points: readonly CurvePoint[];
  readonly p50: number | undefined;
  readonly p99: number | undefined;
  readonly summaryP50: number | undefined;
  readonly summaries: number;
  readonly steps: number;
  /** Processor time of a step in the function's process and in the local cloud's own, milliseconds. */
  readonly stepCpuMs: number | undefined;
  readonly cloudCpuMs: number | undefined;
  readonly executionId: string;
}

/** One run as long as the curve, alone on the machine. */
export const measureCurve = async (
  cloud: BenchCloud,
  model: ScriptedModel,
  points: readonly number[],
): Promise<Curve> => {
  const steps = Math.max(...points) + HALF_BAND;
  await cloud.completed(await cloud.begin({ run: 'warm', steps: 5, calls: 1 }), 60);
  const pids = pidsOf(cloud.home, 'step');
  const cpu = (of: readonly number[]): number => of.reduce((sum, pid) => sum + cpuMs(pid), 0);
  const before = { step: cpu(pids), cloud: cpuMs(cloud.pid) };
  const executionId = await cloud.begin({ run: 'curve', steps, calls: 1 });
  // Seldom: every look at the run is work for the same two processors.
  await cloud.completed(executionId, 60 + steps, 500);
  const same = pidsOf(cloud.home, 'step').every((pid) => pids.includes(pid));
  const after = { step: cpu(pids), cloud: cpuMs(cloud.pid) };
  const calls = await model.calls('curve');
  const { gaps, summaryMs } = gapsOf(calls);
  const full = gaps.filter(({ windowChars }) => windowChars >= FULL_WINDOW);
  const times = full.map(({ ms }) => ms);
  // A process that came or went took its share of the time with it.
  const counted = same && after.step > before.step;
  return {
    points: points.map((at) => curveAt(gaps, at)),
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    summaryP50: median(summaryMs),
    summaries: summaryMs.length,
    steps,
    stepCpuMs: counted ? (after.step - before.step) / calls.length : undefined,
    cloudCpuMs: counted ? (after.cloud - before.cloud) / calls.length : undefined,
    executionId,
  };
};
