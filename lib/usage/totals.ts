/** What a run has used in all, and what of it is not in the usage rows yet. Pure. */
import * as z from 'zod';
import type { Execution } from '../execution/execution.ts';
import { count } from '../execution/row-fields.ts';
import { type ModelUse, OTHER, plusModel, type ToolUse, usageText, usageTextOf } from '../execution/used.ts';
import { UnreadableRow } from '../kernel/errors.ts';
import { type Change, type Item, set } from '../kernel/table.ts';

const ROLLED_VERSION = 1;

/** Of one run; money in micro-dollars, `ms` is time spent RUNNING. */
export interface Totals {
  readonly errors: number;
  readonly ms: number;
  readonly models: ReadonlyMap<string, ModelUse>;
  readonly tools: ReadonlyMap<string, ToolUse>;
}

const NONE: Totals = { errors: 0, ms: 0, models: new Map(), tools: new Map() };

/** The totals that the usage rows hold already, and how often the run was rolled up. */
export interface Rolled extends Totals {
  readonly times: number;
}

export const NEVER_ROLLED: Rolled = { ...NONE, times: 0 };

const rolledSchema = z.object({
  v: z.literal(ROLLED_VERSION),
  times: z.int().min(1),
  errors: count,
  ms: count,
  used: usageText,
});

/** @throws UnreadableRow */
export const readRolled = (item: Item): Rolled => {
  const parsed = rolledSchema.safeParse(item);
  if (!parsed.success) throw new UnreadableRow(item, z.prettifyError(parsed.error));
  const { v: _, used, ...rest } = parsed.data;
  return { ...rest, ...used };
};

/** The changes that make the row say so. By model and tool it is as short as the run's own text, which has its limit. */
export const markOf = ({ times, errors, ms, models, tools }: Rolled): readonly Change[] => [
  set('v', ROLLED_VERSION),
  set('times', times),
  set('errors', errors),
  set('ms', ms),
  set('used', usageTextOf({ models, tools })),
];

const UNUSED: ModelUse = { calls: 0, input: 0, output: 0, cached: 0, cost: 0 };
const costOf = (models: ReadonlyMap<string, ModelUse>): number =>
  [...models.values()].reduce((sum, { cost }) => sum + cost, 0);

/**
 * What the run has cost by model. Its row counts all money, and by model the money of the replies that are stored: the
 * rest (calls whose reply was lost and are booked at their worst case) goes to the model that was used last. Money that is
 * rolled up stays where it is, so that no figure of a day ever goes down.
 */
const modelsOf = (execution: Execution, rolled: Rolled): ReadonlyMap<string, ModelUse> => {
  const known = execution.usage?.models ?? new Map<string, ModelUse>();
  const main = known.keys().next().value ?? OTHER;
  const models = new Map<string, ModelUse>([...rolled.models].map(([name, { cost }]) => [name, { ...UNUSED, cost }]));
  let open = Math.max(0, execution.cost - costOf(models));
  for (const [name, figures] of known) {
    const before = models.get(name)?.cost ?? 0;
    const more = Math.min(open, Math.max(0, figures.cost - before));
    open -= more;
    models.set(name, { ...figures, cost: before + more });
  }
  models.set(main, plusModel(models.get(main) ?? UNUSED, { ...UNUSED, cost: open }));
  return new Map([...models].filter(([, figures]) => Object.values(figures).some((figure) => figure > 0)));
};

/** Time RUNNING up to the last commit: the clock of a run that goes on has no end yet. */
const runningUpTo = ({ runningMs, runningSince, updated }: Execution): number =>
  runningMs + (runningSince === undefined ? 0 : Math.max(0, updated - runningSince));

export const totalsOf = (execution: Execution, rolled: Rolled): Totals => ({
  errors: execution.errors,
  ms: runningUpTo(execution),
  models: modelsOf(execution, rolled),
  tools: execution.usage?.tools ?? new Map(),
});
