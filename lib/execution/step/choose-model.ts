import type { Execution } from '../execution.ts';
import type { Pinned } from '../rows.ts';
import { type Reserved, worstCase } from './buy.ts';
import type { ResolvedModel, StepDeps } from './deps.ts';

/** The model of one turn. */
export interface ChosenModel extends ResolvedModel {
  /** As the configuration names it; missing: the default one. */
  readonly name: string | undefined;
  /** Its place in the list of the run's models; 0 is the first choice. */
  readonly index: number;
  /** What one call of the dearest of the run's models can cost, micro-dollars: whichever answers, so much is reserved. */
  readonly worst: number;
}

type Listed = Pick<Pinned, 'model' | 'fallbackModels'>;

/** The run's models in the order in which they are tried. */
export const modelNames = ({ model, fallbackModels = [] }: Listed): readonly (string | undefined)[] => [
  model,
  ...fallbackModels,
];

/** A stand-in answers for so long before the first choice is tried again. */
export const STAND_IN_MS = 300_000;

/** Where in the list this turn begins to look: at the first choice, unless a stand-in's time still runs. */
const beginAt = (execution: Pick<Execution, 'standIn' | 'standInUntil'>, now: number): number =>
  execution.standIn !== undefined && (execution.standInUntil ?? 0) > now ? execution.standIn : 0;

/**
 * Which model answers this turn. A name that no account takes is passed over.
 * @returns `undefined` when none of the run's models has an account
 */
export const chooseModel = async (
  deps: Pick<StepDeps, 'resolveModel' | 'clock'>,
  execution: Execution,
  pinned: Pinned,
): Promise<ChosenModel | undefined> => {
  const all = await resolveAll(deps, execution.orgId, pinned);
  const from = beginAt(execution, deps.clock.now());
  const chosen = all.find(({ index }) => index >= from) ?? all[0];
  return chosen && { ...chosen, worst: dearest(pinned, all) };
};

/** Those of the run's models that have an account. Answered from memory, mostly. */
export const resolveAll = async (
  deps: Pick<StepDeps, 'resolveModel'>,
  orgId: string,
  pinned: Listed,
): Promise<readonly Omit<ChosenModel, 'worst'>[]> => {
  const found = await Promise.all(modelNames(pinned).map((name) => deps.resolveModel(orgId, name)));
  const names = modelNames(pinned);
  return found.flatMap((model, index) => (model === undefined ? [] : [{ ...model, name: names[index], index }]));
};

/** @param models without one nothing can be spent */
export const dearest = (pinned: Reserved, models: readonly ResolvedModel[]): number =>
  Math.max(0, ...models.map((model) => worstCase(pinned, model)));

/** The place of the model to try next when this one is away; `undefined` when all have been tried. */
export const nextStandIn = (pinned: Listed, index: number): number | undefined =>
  index + 1 < modelNames(pinned).length ? index + 1 : undefined;
