import { parseArgs } from 'node:util';

export interface Options {
  /** Short: about three minutes, without the late points of the curve, storms and the pace of teams. */
  readonly quick: boolean;
  readonly output: 'table' | 'json' | 'markdown';
  /** Write what was measured as the new baseline. */
  readonly keep: boolean;
  readonly sizes: Sizes;
}

/** How much of everything a run does. */
export interface Sizes {
  /** Steps at which the curve is looked at. */
  readonly points: readonly number[];
  /** Steps of each of the 50 runs at once. */
  readonly throughputSteps: number;
  /** Steps of the runs whose requests are counted. */
  readonly countedSteps: number;
  /** Of each kind of tool. */
  readonly kills: number;
  /** Starts of each bundle. */
  readonly starts: number;
  /** Schedules, and waits, that are due in one second. None: clouds of their own are not started for them. */
  readonly storm: number;
  /** Whether messages are sent to a team at the pace of people, which takes minutes. */
  readonly team: boolean;
}

export const QUICK: Sizes = {
  points: [10, 200, 350],
  throughputSteps: 8,
  countedSteps: 6,
  kills: 10,
  starts: 3,
  storm: 0,
  team: false,
};
export const FULL: Sizes = {
  points: [10, 200, 1_000, 5_000],
  throughputSteps: 60,
  countedSteps: 30,
  kills: 100,
  starts: 5,
  storm: 200,
  team: true,
};

export const USAGE = `npm run bench -- [--quick] [--json | --markdown] [--keep]
  --quick     about three minutes instead of fifteen: without the late points of the curve, storms and the pace of teams
  --json      everything that was measured, as JSON
  --markdown  the table as Markdown, for docs/performance.md
  --keep      writes the figures to bench/baseline.json`;

/** @throws TypeError with a sentence for the terminal */
export const readOptions = (args: readonly string[]): Options => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
    },
  });
  if (values.json && values.markdown) throw new TypeError('Give --json or --markdown, not both.');
  if (values.keep && values.quick) throw new TypeError('A quick run is no baseline: --keep goes without --quick.');
  return {
    quick: values.quick,
    output: values.json ? 'json' : values.markdown ? 'markdown' : 'table',
    keep: values.keep,
    sizes: values.quick ? QUICK : FULL,
  };
};
