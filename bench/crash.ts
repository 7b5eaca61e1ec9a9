import type { BenchCloud } from './cloud.ts';
import type { ScriptedModel } from './model/model.ts';
import { type ModelCall, POST_STEP } from './model/script.ts';
import type { Effect, Kill, Sink } from './sink.ts';
import { median, most } from './stats.ts';

/** Kills fall evenly into so many milliseconds after the effect. */
const WITHIN_MS = 6;
/** Neighbours in time are not neighbours in delay: 7 has no factor in common with the count of delays. */
const STRIDE = 7;
const DELAYS = 13;
export const delayOf = (kill: number): number => ((kill * STRIDE) % DELAYS) * (WITHIN_MS / (DELAYS - 1));

const UNKNOWN = /^The outcome of .* is unknown/;

export interface Crashes {
  readonly kills: number;
  /** From the kill to the next step's model call, milliseconds. */
  readonly toNextP50: number | undefined;
  readonly toNextMost: number | undefined;
  /** Runs whose step was still open when its process died: the others had committed. */
  readonly hitInMidStep: number;
  /** The kill that came latest after its effect, milliseconds: timers are late on a busy machine. */
  readonly latestMs: number | undefined;
  /** Effects that arrived under more than one key, or keys that came with more than one effect. */
  readonly twoKeys: number;
  /** Requests beyond the first for an effect, under the same key. */
  readonly repeated: number;
  /** Calls whose outcome the run declares unknown. */
  readonly unknown: number;
  /** Runs that had not ended after `PATIENCE_SECONDS`, with where they stood: the sweep is to find these. */
  readonly stuck: readonly string[];
}

/** Of a run that lost its process: its lease, and the time-out of its tool where that was lengthened for an unsafe call. */
const PATIENCE_SECONDS = 60;

/** What crashes did, from what the sink and the model saw. */
export const judge = (
  effects: readonly Effect[],
  kills: readonly Kill[],
  calls: readonly ModelCall[],
): Omit<Crashes, 'unknown' | 'stuck'> => {
  const times = kills.flatMap(({ effect, at }) => {
    const run = effect.slice(0, effect.lastIndexOf('/'));
    const next = calls.find((call) => call.run === run && call.at > at && (call.step ?? 0) > POST_STEP);
    return next === undefined ? [] : [next.at - at];
  });
  const keysOf = Map.groupBy(effects, ({ effect }) => effect);
  const effectsOf = Map.groupBy(effects, ({ key }) => key);
  const several = [...keysOf.values()].filter((same) => new Set(same.map(({ key }) => key)).size > 1);
  const shared = [...effectsOf.values()].filter((same) => new Set(same.map(({ effect }) => effect)).size > 1);
  return {
    kills: kills.length,
    toNextP50: median(times),
    toNextMost: most(times),
    hitInMidStep: times.filter((ms) => ms > 1_000).length,
    latestMs: most(kills.map(({ afterMs }) => afterMs)),
    twoKeys: several.length + shared.length,
    repeated: effects.length - keysOf.size,
  };
};

/** A run that has not come to its effect by then is left behind; it shows among the stuck ones, if it is. */
const EFFECT_SECONDS = 20;

/** Runs for each kill that is wanted, at most. */
const MOST_RUNS = 1.2;

export interface CrashOptions {
  readonly kills: number;
  /** Whether the server is declared not to honour keys: the call may then run once at most. */
  readonly unsafe: boolean;
}

/** One run after the other loses its process right after an effect; while it waits for its lease the next begins. */
export const startCrashes = async (
  cloud: BenchCloud,
  model: ScriptedModel,
  sink: Sink,
  { kills, unsafe }: CrashOptions,
): Promise<{ /** Waits until all have ended. */ outcome(): Promise<Crashes> }> => {
  const before = { effects: sink.effects.length, kills: sink.kills.length };
  const prefix = unsafe ? 'unsafe-' : 'kill-';
  const ids: string[] = [];
  sink.arm(cloud.home, delayOf);
  // A process that has ended by itself before its turn is no kill: another run takes its place.
  const enough = (): boolean => sink.kills.length - before.kills >= kills || ids.length >= kills * MOST_RUNS;
  while (!enough()) {
    const struck = sink.struckSoFar();
    const script = { run: `${prefix}${ids.length}`, steps: 3, calls: 1, post: `http://${sink.host}/effect` };
    ids.push(await cloud.begin(script, { httpUnsafe: unsafe }));
    await sink.struck(struck + 1, EFFECT_SECONDS);
  }
  return {
    async outcome() {
      let unknown = 0;
      const stuck: string[] = [];
      const until = performance.now() + PATIENCE_SECONDS * 1000;
      for (const id of ids) {
        const seconds = Math.max(1, (until - performance.now()) / 1000);
        await cloud.completed(id, seconds).catch((error: unknown) => stuck.push(String(error)));
        const { items } = await cloud.api.feed(id, undefined, 0);
        unknown += items.filter(({ role, content }) => role === 'tool' && UNKNOWN.test(content)).length;
      }
      const calls = (await model.calls()).filter(({ run }) => run.startsWith(prefix));
      const mine = ({ effect }: { readonly effect: string }): boolean => effect.startsWith(prefix);
      const effects = sink.effects.slice(before.effects).filter(mine);
      return { ...judge(effects, sink.kills.slice(before.kills).filter(mine), calls), unknown, stuck };
    },
  };
};
