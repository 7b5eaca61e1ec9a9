/** The figures of usage, and how what a run has used is spread over the days. Pure. */
import type { Execution } from '../execution/execution.ts';
import { dayOf } from '../kernel/day.ts';
import type { Rolled, Totals } from './totals.ts';

/** What is counted. Money in micro-dollars, `ms` is time spent RUNNING. */
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

/** Figures in all, and the part of each model and tool by its name. */
export interface Spread {
  readonly all: Figures;
  readonly models: ReadonlyMap<string, Figures>;
  readonly tools: ReadonlyMap<string, Figures>;
}

/** What is added on one day. */
export interface Share extends Spread {
  readonly day: string;
}

interface Open {
  all: Figures;
  readonly models: Map<string, Figures>;
  readonly tools: Map<string, Figures>;
}

const count = (into: Map<string, Figures>, name: string, figures: Partial<Figures>): void => {
  into.set(name, plus(into.get(name) ?? NO_FIGURES, figures));
};

/**
 * What the rows have to be given so that they hold `totals`: of one day, or of two. All of it counts on the day of the run's
 * last commit, the run itself on the day it started. A share may hold nothing but zeros.
 */
export const sharesOf = (execution: Execution, rolled: Rolled, totals: Totals): readonly Share[] => {
  const [day, started] = [dayOf(execution.updated), dayOf(execution.created)];
  const work: Open = { all: NO_FIGURES, models: new Map(), tools: new Map() };
  const birth: Open = day === started ? work : { all: NO_FIGURES, models: new Map(), tools: new Map() };
  work.all = plus(NO_FIGURES, { ms: totals.ms - rolled.ms, errors: totals.errors - rolled.errors });
  for (const [name, { calls, input, output, cached, cost }] of totals.models) {
    const before = rolled.models.get(name);
    const more = {
      calls: calls - (before?.calls ?? 0),
      input: input - (before?.input ?? 0),
      output: output - (before?.output ?? 0),
      cached: cached - (before?.cached ?? 0),
      cost: cost - (before?.cost ?? 0),
    };
    count(work.models, name, more);
    if (before === undefined) count(birth.models, name, { runs: 1 });
    work.all = plus(work.all, more);
  }
  for (const [name, { calls, errors }] of totals.tools) {
    const before = rolled.tools.get(name);
    count(work.tools, name, { calls: calls - (before?.calls ?? 0), errors: errors - (before?.errors ?? 0) });
    if (before === undefined) count(birth.tools, name, { runs: 1 });
  }
  if (rolled.times === 0) birth.all = plus(birth.all, { runs: 1 });
  return birth === work
    ? [{ day, ...work }]
    : [
        { day: started, ...birth },
        { day, ...work },
      ];
};
