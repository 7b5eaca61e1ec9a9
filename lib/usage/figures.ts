/** The figures of one usage row, and how what a run has used is spread over the rows. Pure. */
import type { Execution } from '../execution/execution.ts';
import { dayOf } from '../kernel/day.ts';
import type { Rolled, Totals } from './totals.ts';

/** Attributes of a usage row that are added to. Money in micro-dollars, `ms` is time spent RUNNING. */
export const FIGURES = ['runs', 'calls', 'input', 'output', 'cached', 'cost', 'ms', 'errors'] as const;
export type Figures = { readonly [figure in (typeof FIGURES)[number]]: number };

export const NO_FIGURES: Figures = { runs: 0, calls: 0, input: 0, output: 0, cached: 0, cost: 0, ms: 0, errors: 0 };

export const plus = (one: Figures, other: Partial<Figures>): Figures => {
  const sum = { ...one };
  for (const figure of FIGURES) sum[figure] = one[figure] + (other[figure] ?? 0);
  return sum;
};

export const DIMENSIONS = ['day', 'agent', 'model', 'tool', 'project'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Key of runs whose agent is in no project. */
export const NO_PROJECT = 'none';

/** What is added to one row. */
export interface Share {
  readonly dimension: Dimension;
  readonly key: string;
  readonly day: string;
  readonly figures: Figures;
}

/**
 * What the rows have to be given so that they hold `totals`. All of it counts on the day of the run's last commit, the run
 * itself on the day it started.
 */
export const sharesOf = (execution: Execution, rolled: Rolled, totals: Totals): readonly Share[] => {
  const day = dayOf(execution.updated);
  const started = dayOf(execution.created);
  const shares = new Map<string, Share>();
  const share = (dimension: Dimension, key: string, on: string, figures: Partial<Figures>): void => {
    const name = JSON.stringify([dimension, key, on]);
    const before = shares.get(name)?.figures ?? NO_FIGURES;
    shares.set(name, { dimension, key, day: on, figures: plus(before, figures) });
  };
  let all = plus(NO_FIGURES, { ms: totals.ms - rolled.ms, errors: totals.errors - rolled.errors });
  for (const [name, { calls, input, output, cached, cost }] of totals.models) {
    const before = rolled.models.get(name);
    const more = {
      calls: calls - (before?.calls ?? 0),
      input: input - (before?.input ?? 0),
      output: output - (before?.output ?? 0),
      cached: cached - (before?.cached ?? 0),
      cost: cost - (before?.cost ?? 0),
    };
    share('model', name, day, more);
    if (before === undefined) share('model', name, started, { runs: 1 });
    all = plus(all, more);
  }
  for (const [name, { calls, errors }] of totals.tools) {
    const before = rolled.tools.get(name);
    share('tool', name, day, { calls: calls - (before?.calls ?? 0), errors: errors - (before?.errors ?? 0) });
    if (before === undefined) share('tool', name, started, { runs: 1 });
  }
  const { agentId, projectId = NO_PROJECT } = execution;
  const everywhere = (on: string, figures: Partial<Figures>): void => {
    share('day', on, on, figures);
    share('agent', agentId, on, figures);
    share('project', projectId, on, figures);
  };
  everywhere(day, all);
  if (rolled.times === 0) everywhere(started, { runs: 1 });
  return [...shares.values()].filter(({ figures }) => FIGURES.some((figure) => figures[figure] !== 0));
};
