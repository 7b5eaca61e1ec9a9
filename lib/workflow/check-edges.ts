import type { FieldError } from '../kernel/errors.ts';
import {
  COMPLETE_EDGE,
  DEFAULT_EDGE,
  NO_EDGE,
  type StepKind,
  type WorkflowDefinition,
  type WorkflowStep,
  YES_EDGE,
} from './definition.ts';
import { edgesOf, labelsOf, plainLabel } from './edges.ts';
import { checkExpression } from './expression.ts';

/** What a step can come out with. `needed`: an edge each, or `default`. `free`: any further label may come out. */
interface Outcomes {
  readonly needed: readonly string[];
  /** Only `default` will do. */
  readonly needsDefault: boolean;
  readonly free: boolean;
}

const plain = { needed: [], needsDefault: true, free: false };
const worked = { needed: [COMPLETE_EDGE], needsDefault: true, free: false };
const yesOrNo = { needed: [YES_EDGE, NO_EDGE], needsDefault: false, free: false };
const chosen = { needed: [], needsDefault: false, free: true };
const open = { needed: [], needsDefault: true, free: true };

const outcomesOf = (step: Exclude<WorkflowStep, { kind: 'END' }>): Outcomes | undefined => {
  switch (step.kind) {
    case 'ITERATION':
    case 'TASK_QUEUE':
      return worked;
    case 'WAIT':
      return plain;
    case 'ASK_PERMISSION':
      return yesOrNo;
    case 'TOOL':
      return step.choose === undefined ? plain : chosen;
    case 'CONDITION': {
      if (step.expression === undefined) return chosen;
      const checked = checkExpression(step.expression);
      return checked.ok ? (checked.gives === 'bool' ? yesOrNo : open) : undefined;
    }
  }
};

const quoted = (texts: readonly string[]): string => texts.map((text) => `"${text}"`).join(', ');

const labelWords = (labels: readonly string[]): string =>
  labels.length === 0 ? 'no edges' : `edges ${labels.join(', ')}`;

const WHO: { readonly [Kind in StepKind]: string } = {
  ITERATION: 'an ITERATION step',
  TOOL: 'a TOOL step without choose',
  WAIT: 'a WAIT step',
  TASK_QUEUE: 'a TASK_QUEUE step',
  ASK_PERMISSION: 'an ASK_PERMISSION step',
  CONDITION: 'a CONDITION step with a boolean expression',
  END: 'an END step',
};

const twice = (field: string, labels: readonly string[]): FieldError[] =>
  labels.flatMap((label, index) => {
    const before = labels.slice(0, index).find((other) => plainLabel(other) === plainLabel(label));
    if (before === undefined) return [];
    return [
      { field, received: `the labels ${quoted([before, label])}`, expected: 'labels that differ by more than case' },
    ];
  });

const lost = (definition: WorkflowDefinition, field: string, step: WorkflowStep): FieldError[] =>
  edgesOf(step).flatMap(([label, target]) =>
    Object.hasOwn(definition.steps, target)
      ? []
      : [{ field: `${field}.${label}`, received: `"${target}"`, expected: 'the id of a step' }],
  );

/** Edges of one step: their targets, their labels, and that every outcome has one. */
export const checkEdges = (definition: WorkflowDefinition, stepId: string, step: WorkflowStep): FieldError[] => {
  if (step.kind === 'END') return [];
  const field = `steps.${stepId}.next`;
  const labels = edgesOf(step).map(([label]) => label);
  const problems = [...lost(definition, field, step), ...twice(field, labels)];
  const outcomes = outcomesOf(step);
  if (outcomes === undefined) return problems;

  const has = (wanted: string): boolean => labels.some((label) => plainLabel(label) === plainLabel(wanted));
  const received = labelWords(labels);
  if (outcomes.free && !outcomes.needsDefault && labelsOf(step).length < 2) {
    problems.push({ field, received, expected: `at least two labels to choose from, besides ${DEFAULT_EDGE}` });
  }
  if (outcomes.needsDefault && !has(DEFAULT_EDGE)) {
    problems.push({ field, received, expected: `an edge ${DEFAULT_EDGE}` });
  }
  const bare = outcomes.needed.filter((label) => !has(label) && !has(DEFAULT_EDGE));
  // Where `default` itself is missing, that is told already.
  if (bare.length > 0 && !outcomes.needsDefault) {
    problems.push({ field, received, expected: `an edge for ${bare.join(' and ')}, or ${DEFAULT_EDGE}` });
  }
  if (!outcomes.free) {
    const possible = [...outcomes.needed, DEFAULT_EDGE];
    const idle = labels.filter((label) => !possible.some((known) => plainLabel(known) === plainLabel(label)));
    const expected = `only ${possible.join(', ')}, which ${WHO[step.kind]} can come out with`;
    if (idle.length > 0) problems.push({ field, received: labelWords(idle), expected });
  }
  return problems;
};
