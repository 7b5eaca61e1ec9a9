import { conflict } from '../../../kernel/errors.ts';
import type { Table } from '../../../kernel/table.ts';
import { USUAL_WORKFLOW } from '../../../workflow/built-ins.ts';
import type { WorkflowDefinition } from '../../../workflow/definition.ts';
import { findWorkflow } from '../../../workflow/load.ts';
import { begin, type Position } from '../../../workflow/machine.ts';

/** Where a plain `goal` run stands from its start to its end: it has no workflow to move through. */
export const PLAIN_POSITION = `${USUAL_WORKFLOW}/think`;

/**
 * What a run keeps of its agent's workflow: this very version, and where it begins. A plain `goal` run keeps nothing.
 * @param tools what the agent may use; without it everything
 * @throws AppError 409 when the workflow is gone, or its steps need tools that the agent may not use
 */
export const pinWorkflow = async (
  { table }: { readonly table: Table },
  orgId: string,
  name: string,
  tools: readonly string[] | undefined,
): Promise<{ readonly definition: WorkflowDefinition; readonly position: Position } | undefined> => {
  if (name === USUAL_WORKFLOW) return undefined;
  const found = await findWorkflow(table, orgId, name);
  if (found === undefined) {
    const message = `The agent's workflow "${name}" does not exist any more. Give the agent another one with PATCH /v1/agents/{id}.`;
    throw conflict('workflow_gone', message, { workflow: name });
  }
  const { definition } = found;
  const start = begin(definition);
  if (start.to === 'nowhere') throw conflict('workflow_unusable', start.problem, { workflow: name });
  const idle = Object.entries(definition.steps).find(
    ([, step]) => step.kind === 'TOOL' && tools !== undefined && !step.tools.some((tool) => tools.includes(tool)),
  );
  if (idle?.[1].kind === 'TOOL') {
    const needed = idle[1].tools.join(' or ');
    const message = `Step ${idle[0]} of the workflow "${name}" needs ${needed}, and the agent's tools are ${tools?.join(', ') || 'none'}. Add it to the configuration key tools.`;
    throw conflict('workflow_needs_tools', message, { workflow: name, step: idle[0] });
  }
  return { definition, position: start.position };
};
