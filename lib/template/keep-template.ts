import { getAgent } from '../agent/agent.ts';
import { checkConfig } from '../agent/config.ts';
import type { ConfigEntries } from '../agent/config-keys.ts';
import { badRequest, notFound } from '../kernel/errors.ts';
import { type Ids, isId } from '../kernel/ids.ts';
import { keys } from '../kernel/keys.ts';
import type { Log } from '../kernel/ports.ts';
import { ConditionFailed, exists, missing, type Table } from '../kernel/table.ts';
import type { Alongside } from '../tenancy/alongside.ts';
import { type Listed, listRows, type PageRequest } from '../tenancy/list-rows.ts';
import { isBuiltIn } from '../workflow/built-ins.ts';
import { loadWorkflow } from '../workflow/load.ts';
import { checkDefinition } from '../workflow/validate.ts';
import { readTemplate, readTemplateBadge, type Template, type TemplateBadge, templateItem } from './template.ts';

interface Deps {
  readonly table: Table;
  readonly ids: Ids;
}

interface Given {
  readonly orgId: string;
  /** Id of the key that makes it. */
  readonly actor: string;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly alongside?: Alongside<Template> | undefined;
}

/**
 * Keeps what an agent is made of. Later changes of the agent do not reach the template, nor the other way round.
 * @throws AppError 404 for the agent, or for its workflow when that is gone
 */
export const templateOfAgent = async (
  deps: Deps,
  given: Given & { readonly agentId: string },
  nowMs: number,
): Promise<Template> => {
  const { orgId, agentId } = given;
  const agent = await getAgent(deps.table, orgId, agentId);
  const own = isBuiltIn(agent.workflow) ? undefined : await loadWorkflow(deps.table, orgId, agent.workflow);
  return keep(
    deps,
    given,
    {
      name: given.name ?? agent.name,
      description: given.description ?? agent.description,
      workflow: agent.workflow,
      definition: own?.definition,
      config: agent.config,
    },
    nowMs,
  );
};

/** What `GET /v1/templates/{templateId}/export` gives and `POST /v1/templates/import` takes. */
export interface Exported {
  readonly name: string;
  readonly description?: string | undefined;
  readonly workflow: string;
  readonly definition?: unknown;
  readonly config: ConfigEntries;
}

/**
 * Takes in what another organisation gave out; everything is checked as if it were typed in.
 * @param tools names of the tools there are
 * @throws AppError 400 naming the field
 */
export const importTemplate = async (
  deps: Deps,
  tools: readonly string[],
  given: Given & { readonly document: Exported },
  nowMs: number,
): Promise<Template> => {
  const { document } = given;
  checkConfig(document.config, tools);
  const definition = document.definition === undefined ? undefined : checkDefinition(document.definition, tools);
  checkWorkflowName(document.workflow, definition?.name);
  const { name, description, workflow, config } = document;
  return keep(deps, given, { name, description, workflow, definition, config }, nowMs);
};

const checkWorkflowName = (workflow: string, defined: string | undefined): void => {
  if (defined === undefined ? isBuiltIn(workflow) : defined === workflow) return;
  const expected =
    defined === undefined ? 'a built-in workflow, or its definition beside it' : `"${defined}", as in its definition`;
  throw badRequest(`workflow: expected ${expected}.`, [
    { field: 'workflow', received: `"${workflow.slice(0, 60)}"`, expected },
  ]);
};

const keep = async (
  deps: Deps,
  given: Given,
  parts: Pick<Template, 'name' | 'description' | 'workflow' | 'definition' | 'config'>,
  nowMs: number,
): Promise<Template> => {
  const { orgId, actor, alongside } = given;
  const template: Template = {
    id: deps.ids.next('tpl', nowMs),
    ...parts,
    createdAt: new Date(nowMs).toISOString(),
    createdBy: actor,
  };
  await deps.table.transact([
    { put: templateItem(orgId, template), if: missing('pk') },
    ...(alongside?.(template) ?? []),
  ]);
  return template;
};

/** @throws AppError 404 */
export const getTemplate = async (table: Table, orgId: string, templateId: string): Promise<Template> => {
  const key = keys.template(orgId, templateId);
  const item = isId('tpl', templateId) ? await table.get(key, { consistent: true }) : undefined;
  if (item === undefined) throw notFound('template');
  return readTemplate(item);
};

/** Newest first, without what they hold. */
export const listTemplates = (
  deps: { readonly table: Table; readonly log: Log },
  orgId: string,
  page: PageRequest,
): Promise<Listed<TemplateBadge>> => listRows({ ...deps, ...keys.templates(orgId), read: readTemplateBadge }, page);

/** Agents made from it stay. @throws AppError 404 */
export const deleteTemplate = async (table: Table, orgId: string, templateId: string): Promise<void> => {
  if (!isId('tpl', templateId)) throw notFound('template');
  try {
    await table.delete(keys.template(orgId, templateId), exists('pk'));
  } catch (error) {
    if (error instanceof ConditionFailed) throw notFound('template');
    throw error;
  }
};
