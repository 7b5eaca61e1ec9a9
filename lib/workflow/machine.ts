/**
 * The rules by which a run moves through a workflow. Pure: a definition, a position and what came out go in, the next
 * position comes out. Prompts are built by `render.ts`, replies with tasks or a choice are read by `structured.ts`,
 * expressions are evaluated by `expression.ts`.
 */
import {
  COMPLETE_EDGE,
  DEFAULT_EDGE,
  type Iteration,
  type IterationStep,
  type WorkflowDefinition,
  type WorkflowStep,
} from './definition.ts';
import { edgeOf, labelsOf } from './edges.ts';

/**
 * Where a run stands, as its row keeps it: `<workflow>/<step>[.<inner step>][:<phase>]`, such as
 * `dynamic-task/work.create:repair`. At most 160 characters.
 */
export type Position = `${string}/${string}`;

/**
 * What a step that needs more than one model call (or no call at all) is about. Without a phase: its first model call.
 * - `repair`: the first call gave nothing usable; the model is told what was wrong and asked once more.
 * - `choose`, `choose-repair`: a TOOL step has its result, the model chooses the edge by it.
 * - `next`: a TASK_QUEUE whose tasks were made takes the next one; no model call.
 * - `ask`, `wait`: the question was put, the wait has begun.
 */
export const PHASES = ['repair', 'choose', 'choose-repair', 'next', 'ask', 'wait'] as const;
export type Phase = (typeof PHASES)[number];

/** A position taken apart. */
export interface Place {
  readonly workflow: string;
  readonly step: string;
  /** Inner step, inside an ITERATION. */
  readonly inner?: string | undefined;
  readonly phase?: Phase | undefined;
}

const POSITION = /^([a-z0-9_-]+)\/([a-z0-9_-]+)(?:\.([a-z0-9_-]+))?(?::([a-z-]+))?$/;

const phaseNamed = (text: string | undefined): Phase | undefined => PHASES.find((phase) => phase === text);

/** `undefined` when the text is no position. Says nothing about whether there is such a step. */
export const parsePosition = (text: string): Place | undefined => {
  const [, workflow, step, inner, suffix] = POSITION.exec(text) ?? [];
  const phase = phaseNamed(suffix);
  if (workflow === undefined || step === undefined || phase !== suffix) return undefined;
  return { workflow, step, ...(inner !== undefined && { inner }), ...(phase !== undefined && { phase }) };
};

export const formatPosition = ({ workflow, step, inner, phase }: Place): Position =>
  `${workflow}/${step}${inner === undefined ? '' : `.${inner}`}${phase === undefined ? '' : `:${phase}`}`;

/** The same step in another phase; `undefined` for its first. */
export const inPhase = (position: Position, phase: Phase | undefined): Position => {
  const place = parsePosition(position);
  return place === undefined ? position : formatPosition({ ...place, phase });
};

/** What stands at a position. */
export interface Standing {
  readonly place: Place;
  readonly step: WorkflowStep;
  readonly iteration?: Iteration | undefined;
  readonly inner?: IterationStep | undefined;
}

/** Ids come from tenants, and `constructor` is a lawful one: only own members count. */
const own = <T>(record: { readonly [id: string]: T }, id: string): T | undefined =>
  Object.hasOwn(record, id) ? record[id] : undefined;

/** `undefined` when the definition has no such step: the position is of another workflow or version. */
export const standingAt = (definition: WorkflowDefinition, position: string): Standing | undefined => {
  const place = parsePosition(position);
  const step = place === undefined ? undefined : own(definition.steps, place.step);
  if (place === undefined || step === undefined || place.workflow !== definition.name) return undefined;
  if (step.kind !== 'ITERATION') return place.inner === undefined ? { place, step } : undefined;
  const iteration = own(definition.iterations, step.iteration);
  const inner = iteration === undefined ? undefined : own(iteration.steps, place.inner ?? iteration.start);
  return inner === undefined ? undefined : { place, step, iteration, inner };
};

/** Where a run goes. `nowhere` can only happen to a choice without `default`; `problem` is a sentence for a person. */
export type Next =
  | { readonly to: 'step'; readonly position: Position; readonly step: Exclude<WorkflowStep, { kind: 'END' }> }
  | { readonly to: 'end'; readonly position: Position; readonly step: Extract<WorkflowStep, { kind: 'END' }> }
  | { readonly to: 'nowhere'; readonly problem: string };

/**
 * Into a step of the outer level; an ITERATION begins with its first inner step.
 * @param queueOpen the run of a TASK_QUEUE is under way: coming back to the step takes the next task, makes no new ones
 */
export const enter = (definition: WorkflowDefinition, stepId: string, queueOpen = false): Next => {
  const step = own(definition.steps, stepId);
  if (step === undefined) return nowhere(`The workflow ${definition.name} has no step ${stepId}.`);
  const at = { workflow: definition.name, step: stepId };
  if (step.kind === 'END') return { to: 'end', position: formatPosition(at), step };
  if (step.kind === 'ITERATION') {
    const inner = own(definition.iterations, step.iteration)?.start;
    if (inner === undefined) return nowhere(`The workflow ${definition.name} has no iteration ${step.iteration}.`);
    return { to: 'step', position: formatPosition({ ...at, inner }), step };
  }
  const phase = step.kind === 'TASK_QUEUE' && queueOpen ? ('next' as const) : undefined;
  return { to: 'step', position: formatPosition({ ...at, phase }), step };
};

const nowhere = (problem: string): Next => ({ to: 'nowhere', problem });

/** The first position of a run. */
export const begin = (definition: WorkflowDefinition): Next => enter(definition, definition.start);

/**
 * True where an inner step works on a task: its call is not made when no task is pending, the iteration is COMPLETE then.
 */
export const needsTask = (definition: WorkflowDefinition, position: string): boolean => {
  const standing = standingAt(definition, position);
  return standing?.iteration?.taskQueue === true && standing.inner?.output === 'tools';
};

/**
 * After an inner step has done its work: the next inner step, or out of the iteration. A task queue that is empty on the
 * way out, or where a task is needed, makes the iteration COMPLETE; else it comes out by `default`.
 */
export const afterInner = (definition: WorkflowDefinition, position: string, queueEmpty: boolean): Next => {
  const standing = standingAt(definition, position);
  if (standing?.inner === undefined) return nowhere(`${position} is no inner step of the workflow ${definition.name}.`);
  const { place, step, iteration, inner } = standing;
  const complete = iteration?.taskQueue === true && queueEmpty;
  if (inner.next !== undefined && step.kind === 'ITERATION') {
    const next = formatPosition({ workflow: place.workflow, step: place.step, inner: inner.next });
    if (!(complete && needsTask(definition, next))) return { to: 'step', position: next, step };
  }
  return afterOuter(definition, position, complete ? COMPLETE_EDGE : DEFAULT_EDGE);
};

/**
 * After a step of the outer level has come out with `label`.
 * @param queueOpen as for `enter`; a TASK_QUEUE that comes out COMPLETE is over and must not be passed as open
 */
export const afterOuter = (
  definition: WorkflowDefinition,
  position: string,
  label: string,
  queueOpen = false,
): Next => {
  const standing = standingAt(definition, position);
  if (standing === undefined) return nowhere(`${position} is no step of the workflow ${definition.name}.`);
  const target = edgeOf(standing.step, label);
  if (target !== undefined) return enter(definition, target, queueOpen);
  const there = labelsOf(standing.step).join(', ') || 'none';
  return nowhere(
    `Step ${standing.place.step} has no edge for "${label.slice(0, 60)}" and no default. Labels: ${there}.`,
  );
};
