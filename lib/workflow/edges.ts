import { DEFAULT_EDGE, type WorkflowStep } from './definition.ts';

/** What models put around a word: quotes, brackets, emphasis, and the full stop of a sentence. */
const BEFORE = /^[\s"'`*_([{]+/;
const AFTER = /[\s"'`*_)\]}.,;:!?]+$/;

/** Two labels are the same when their plain forms are: "Yes." is YES. */
export const plainLabel = (text: string): string => {
  // Bounded before the patterns see it: a label has at most 40 characters, a model's reply may have any number.
  const short = text.trim().slice(0, 200);
  return short.replace(BEFORE, '').replace(AFTER, '').replace(/\s+/g, ' ').toLowerCase();
};

/** Label → step id of a step's edges, in the order of the definition. Empty for END. */
export const edgesOf = (step: WorkflowStep): readonly (readonly [label: string, target: string])[] =>
  step.kind === 'END' ? [] : Object.entries(step.next);

/** The labels that a model or an expression may choose, as they are written: all but `default`. */
export const labelsOf = (step: WorkflowStep): readonly string[] =>
  edgesOf(step)
    .map(([label]) => label)
    .filter((label) => plainLabel(label) !== DEFAULT_EDGE);

/** The step's own label that `text` means, or `undefined`. */
export const labelOf = (step: WorkflowStep, text: string): string | undefined => {
  const wanted = plainLabel(text);
  return labelsOf(step).find((label) => plainLabel(label) === wanted);
};

/** Where a step leads when `label` comes out: the edge of that label, else `default`, else `undefined`. */
export const edgeOf = (step: WorkflowStep, label: string): string | undefined => {
  const wanted = plainLabel(label);
  const edges = edgesOf(step);
  const edge =
    edges.find(([own]) => plainLabel(own) === wanted) ?? edges.find(([own]) => plainLabel(own) === DEFAULT_EDGE);
  return edge?.[1];
};
