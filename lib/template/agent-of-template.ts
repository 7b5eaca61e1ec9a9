import { isDeepStrictEqual } from 'node:util';
import type { AgentWithConfig } from '../agent/agent.ts';
import type { ConfigEntries } from '../agent/config-keys.ts';
import { type Available, createAgent } from '../agent/create-agent.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Table } from '../kernel/table.ts';
import type { Alongside } from '../tenancy/alongside.ts';
import { findWorkflow } from '../workflow/load.ts';
import { differs, saveWorkflow } from '../workflow/save.ts';
import { getTemplate } from './keep-template.ts';
import type { Template } from './template.ts';

interface Given {
  readonly orgId: string;
  readonly templateId: string;
  /** Id of the key that makes the agent. */
  readonly actor: string;
  readonly name?: string | undefined;
  readonly projectId?: string | undefined;
  /** Wins key by key over the template's. */
  readonly config?: ConfigEntries | undefined;
  readonly alongside?: Alongside<AgentWithConfig> | undefined;
}

/**
 * Makes an agent from a template. Its own workflow is saved first where the organisation does not have it: dying in
 * between leaves a workflow that nobody uses yet, and a repeat finds it.
 * @throws AppError 404; 400 for a configuration that does not fit; 409 `workflow_differs`
 */
export const agentOfTemplate = async (
  deps: { readonly table: Table; readonly ids: Ids },
  available: Available,
  given: Given,
  nowMs: number,
): Promise<AgentWithConfig> => {
  const { orgId, templateId, actor, projectId, alongside } = given;
  const template = await getTemplate(deps.table, orgId, templateId);
  await ensureWorkflow(deps, available.tools, { orgId, actor }, template, nowMs);
  return createAgent(
    deps,
    available,
    {
      orgId,
      actor,
      projectId,
      alongside,
      name: given.name ?? template.name,
      description: template.description,
      workflow: template.workflow,
      config: { ...template.config, ...given.config },
    },
    nowMs,
  );
};

const ensureWorkflow = async (
  deps: { readonly table: Table; readonly ids: Ids },
  tools: readonly string[],
  { orgId, actor }: { readonly orgId: string; readonly actor: string },
  { workflow, definition }: Template,
  nowMs: number,
): Promise<void> => {
  if (definition === undefined) return;
  const there = await findWorkflow(deps.table, orgId, workflow);
  if (there === undefined) {
    await saveWorkflow(deps, tools, { orgId, actor, definition, onlyNew: true }, nowMs);
    return;
  }
  if (!isDeepStrictEqual(there.definition, definition)) throw differs(workflow);
};
