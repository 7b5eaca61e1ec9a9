import { setTimeout as sleep } from 'node:timers/promises';
import { mean, quantile } from '../stats.ts';
import type { Assessment, TeamModel } from './model.ts';
import type { Kept, Team } from './team.ts';

/** So many messages a minute in each of so many Threads, for some time. */
export interface Load {
  readonly name: string;
  readonly threads: number;
  readonly perMinute: number;
  readonly seconds: number;
  /** A Thread that is to be busy is not so at first: talks that begin within that, or after the last message, do not count. */
  readonly warmUpSeconds?: number;
}

export interface LoadFigures {
  readonly decided: number;
  /** Messages of one talk with the model, mean. */
  readonly batch: number | undefined;
  /** Of the model, for each decision. */
  readonly modelSeconds: number | undefined;
  /** From the receipt to the decision, milliseconds. */
  readonly p50: number | undefined;
  readonly p95: number | undefined;
}

/** An assessment as peers measured theirs: two and a half seconds, and half a second for each decision (router-spec, N15). */
const MODEL_MS = { base: 2_500, each: 500 };
/** What has come last is decided within that. */
const AFTER_SECONDS = 90;

/** A sequence that looks random and is the same in every run: 0 to 1. */
const noise = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
};

/** When they come, milliseconds from the beginning: in even steps, each up to half a step early or late. Pure. */
export const arrivals = (
  { perMinute, seconds }: Pick<Load, 'perMinute' | 'seconds'>,
  seed: number,
): readonly number[] => {
  const step = 60_000 / perMinute;
  const next = noise(seed);
  const count = Math.max(1, Math.floor((seconds * 1000) / step));
  return Array.from({ length: count }, (_, n) => Math.max(0, step * (n + next() - 0.5)));
};

const threadsOf = ({ name, threads }: Load): readonly string[] =>
  Array.from({ length: threads }, (_, n) => `${name}-${n}`);

export const figuresOfLoad = (kept: readonly Kept[], talks: readonly Assessment[]): LoadFigures => {
  const latencies = kept.flatMap(({ receivedAt, decision }) =>
    decision === undefined ? [] : [Date.parse(decision.at) - Date.parse(receivedAt)],
  );
  const asked = talks.map((talk) => talk.asked);
  const decided = asked.reduce((sum, one) => sum + one, 0);
  return {
    decided,
    batch: mean(asked),
    modelSeconds: decided === 0 ? undefined : talks.reduce((sum, { ms }) => sum + ms, 0) / 1000 / decided,
    p50: quantile(latencies, 0.5),
    p95: quantile(latencies, 0.95),
  };
};

/** Loads that run side by side, each in Threads of its own. */
export const measureLoads = async (
  team: Team,
  model: TeamModel,
  loads: readonly Load[],
): Promise<readonly LoadFigures[]> => {
  model.pace(MODEL_MS.base, MODEL_MS.each);
  const all = loads.flatMap((load, index) =>
    threadsOf(load).map((thread, n) => ({ thread, times: arrivals(load, 1 + index * 100 + n) })),
  );
  const began = performance.now();
  const isSteady = ({ seconds, warmUpSeconds }: Load, at: number): boolean =>
    warmUpSeconds === undefined || (at >= began + warmUpSeconds * 1000 && at <= began + seconds * 1000);
  await Promise.all(
    all.map(async ({ thread, times }) => {
      for (const [n, at] of times.entries()) {
        await sleep(Math.max(0, began + at - performance.now()));
        await team.says(thread, `Message ${n}.`);
      }
    }),
  );
  const threads = new Set(all.map(({ thread }) => thread));
  const kept = await team.settled(threads, AFTER_SECONDS);
  return loads.map((load) => {
    const own = new Set(threadsOf(load));
    return figuresOfLoad(
      kept.filter(({ text }) => own.has(/^\[([\w-]+)\]/.exec(text)?.[1] ?? '')),
      model.assessments.filter(({ thread, at }) => own.has(thread) && isSteady(load, at)),
    );
  });
};
