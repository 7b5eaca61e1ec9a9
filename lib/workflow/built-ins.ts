import { dynamicTask } from './built-ins/dynamic-task.ts';
import { fixedTask } from './built-ins/fixed-task.ts';
import { goal } from './built-ins/goal.ts';
import { recruitment } from './built-ins/recruitment.ts';
import { salesEngagement } from './built-ins/sales-engagement.ts';
import { supercoder } from './built-ins/supercoder.ts';
import type { WorkflowDefinition } from './definition.ts';

/** A workflow as it is kept: a version of it never changes. */
export interface Workflow {
  /** `wfl_…`; of a built-in one its name. */
  readonly id: string;
  readonly name: string;
  /** From 1 up. */
  readonly version: number;
  readonly definition: WorkflowDefinition;
  readonly builtIn: boolean;
}

/**
 * Versions of each, oldest first. A definition that was released is not edited: a new one is put behind it, because runs
 * and scripts may name the old one.
 */
const VERSIONS: ReadonlyMap<string, readonly WorkflowDefinition[]> = new Map([
  ['goal', [goal]],
  ['dynamic-task', [dynamicTask]],
  ['fixed-task', [fixedTask]],
  ['sales-engagement', [salesEngagement]],
  ['recruitment', [recruitment]],
  ['supercoder', [supercoder]],
]);

export const BUILT_IN_NAMES: readonly string[] = [...VERSIONS.keys()];

/** The workflow of an agent that names none. */
export const USUAL_WORKFLOW = 'goal';

export const isBuiltIn = (name: string): boolean => VERSIONS.has(name);

/** @param version the newest without it. `undefined` when there is no such workflow or version. */
export const builtIn = (name: string, version?: number): Workflow | undefined => {
  const versions = VERSIONS.get(name) ?? [];
  const number = version ?? versions.length;
  const definition = versions[number - 1];
  return definition === undefined ? undefined : { id: name, name, version: number, definition, builtIn: true };
};
