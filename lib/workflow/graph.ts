/** A definition's outer level as a graph. Edges that point to nothing are left out: they are told of elsewhere. */
import { COMPLETE_EDGE, type WorkflowDefinition } from './definition.ts';
import { edgesOf, plainLabel } from './edges.ts';

export const isComplete = (label: string): boolean => plainLabel(label) === plainLabel(COMPLETE_EDGE);

const targetsOf = (definition: WorkflowDefinition, stepId: string): readonly string[] => {
  const step = Object.hasOwn(definition.steps, stepId) ? definition.steps[stepId] : undefined;
  if (step === undefined) return [];
  return edgesOf(step).flatMap(([, target]) => (Object.hasOwn(definition.steps, target) ? [target] : []));
};

/** Ids of the steps that can be reached from `from`, those included. */
export const reachable = (definition: WorkflowDefinition, from: readonly string[]): ReadonlySet<string> => {
  const seen = new Set(from.filter((id) => Object.hasOwn(definition.steps, id)));
  // A set is walked in order of insertion, so that it serves as the queue too.
  for (const id of seen) for (const target of targetsOf(definition, id)) seen.add(target);
  return seen;
};

/** Ids of the steps from which an END can be reached, ENDs included. */
export const leadingOut = (definition: WorkflowDefinition): ReadonlySet<string> => {
  const sources = new Map<string, string[]>();
  for (const id of Object.keys(definition.steps)) {
    for (const target of targetsOf(definition, id)) {
      const known = sources.get(target);
      if (known === undefined) sources.set(target, [id]);
      else known.push(id);
    }
  }
  const out = new Set(Object.entries(definition.steps).flatMap(([id, step]) => (step.kind === 'END' ? [id] : [])));
  for (const id of out) for (const source of sources.get(id) ?? []) out.add(source);
  return out;
};
