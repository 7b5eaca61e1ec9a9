import * as z from 'zod';
import { workflowDefinitionSchema } from '../../workflow/definition.ts';
import { listWorkflows } from '../../workflow/list.ts';
import { loadWorkflow } from '../../workflow/load.ts';
import { saveWorkflow } from '../../workflow/save.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { listBody, listOf, pageQuery } from '../paging.ts';
import { time } from './fields.ts';

const badge = {
  id: z.string().describe('Of a built-in workflow its name.'),
  name: z.string(),
  version: z.int().min(1),
  builtIn: z.boolean(),
};

const listedView = z
  .object({ ...badge, description: z.string(), createdAt: time.optional(), updatedAt: time.optional() })
  .meta({ id: 'WorkflowSummary' });

const workflowView = z.object({ ...badge, definition: workflowDefinitionSchema }).meta({ id: 'Workflow' });

export const workflowRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/v1/workflows',
    operationId: 'saveWorkflow',
    summary:
      'Save a workflow. A name that is there already gets its next version; runs keep the version they began with.',
    tag: 'Workflows',
    scope: 'write',
    body: workflowDefinitionSchema,
    responses: { 201: workflowView },
    problems: [409],
    idempotent: true,
    handler: async ({ deps, principal: { orgId, keyId }, body, now, record }) => {
      const tools = deps.tools.map((tool) => tool.name);
      const given = { orgId, actor: keyId, definition: body, alongside: record };
      return { body: await saveWorkflow(deps, tools, given, now) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/workflows',
    operationId: 'listWorkflows',
    summary: "List the organisation's workflows, newest first, then the built-in ones.",
    tag: 'Workflows',
    scope: 'read',
    query: z.strictObject(pageQuery),
    responses: { 200: listOf(listedView) },
    handler: async ({ deps, principal, page }) => {
      const at = page('workflows');
      return { body: listBody(at, await listWorkflows(deps, principal.orgId, at)) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/workflows/{workflowId}',
    operationId: 'getWorkflow',
    summary: 'Get a workflow by its id or name.',
    tag: 'Workflows',
    scope: 'read',
    query: z.strictObject({
      version: z.coerce.number().pipe(z.int().min(1).max(999_999)).optional().describe('Without it: the newest.'),
    }),
    responses: { 200: workflowView },
    problems: [404],
    handler: async ({ deps, principal, params, query }) => ({
      body: await loadWorkflow(deps.table, principal.orgId, params.workflowId, query.version),
    }),
  }),
];
