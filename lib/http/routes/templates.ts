import * as z from 'zod';
import { agentOfTemplate } from '../../template/agent-of-template.ts';
import {
  deleteTemplate,
  getTemplate,
  importTemplate,
  listTemplates,
  templateOfAgent,
} from '../../template/keep-template.ts';
import type { Template } from '../../template/template.ts';
import { workflowDefinitionSchema } from '../../workflow/definition.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { listBody, listOf, pageQuery } from '../paging.ts';
import { agentView, available } from './agents.ts';
import { configView, description, name, time } from './fields.ts';

const badge = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().optional(),
    workflow: z.string(),
    createdAt: time,
    createdBy: z.string(),
  })
  .meta({ id: 'TemplateSummary' });

const templateView = badge
  .extend({ config: configView, definition: workflowDefinitionSchema.optional() })
  .meta({ id: 'Template' });

/** Says what a file is, so that another one is not taken for it. */
const FORMAT = 'baton-agent-template/1';

const document = z.strictObject({
  format: z.literal(FORMAT),
  name,
  description: description.optional(),
  workflow: z.string().min(1).max(60),
  definition: workflowDefinitionSchema.optional().describe('Of a workflow that is not built in.'),
  config: configView,
});

const exported = ({ name, description, workflow, definition, config }: Template) => ({
  format: FORMAT,
  name,
  ...(description === undefined ? {} : { description }),
  workflow,
  ...(definition === undefined ? {} : { definition }),
  config,
});

export const templateRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/v1/templates',
    operationId: 'saveTemplate',
    summary: 'Save what an agent is made of as a template.',
    tag: 'Templates',
    scope: 'write',
    body: z.strictObject({ agentId: z.string(), name: name.optional(), description: description.optional() }),
    responses: { 201: templateView },
    problems: [404],
    idempotent: true,
    handler: async ({ deps, principal: { orgId, keyId }, body, now, record }) => ({
      body: await templateOfAgent(deps, { orgId, actor: keyId, ...body, alongside: record }, now),
    }),
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/templates/import',
    operationId: 'importTemplate',
    summary: 'Take in a template that was exported, from any organisation.',
    tag: 'Templates',
    scope: 'write',
    body: document,
    responses: { 201: templateView },
    idempotent: true,
    handler: async ({ deps, principal: { orgId, keyId }, body, now, record }) => {
      const tools = deps.tools.map((tool) => tool.name);
      return {
        body: await importTemplate(deps, tools, { orgId, actor: keyId, document: body, alongside: record }, now),
      };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/templates',
    operationId: 'listTemplates',
    summary: 'List templates, newest first, without their configuration.',
    tag: 'Templates',
    scope: 'read',
    query: z.strictObject(pageQuery),
    responses: { 200: listOf(badge) },
    handler: async ({ deps, principal, page }) => {
      const at = page('templates');
      return { body: listBody(at, await listTemplates(deps, principal.orgId, at)) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/templates/{templateId}',
    operationId: 'getTemplate',
    summary: 'Get a template.',
    tag: 'Templates',
    scope: 'read',
    responses: { 200: templateView },
    problems: [404],
    handler: async ({ deps, principal, params }) => ({
      body: await getTemplate(deps.table, principal.orgId, params.templateId),
    }),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/templates/{templateId}/export',
    operationId: 'exportTemplate',
    summary: 'Get a template as a document that any organisation can take in. It holds no ids and no secrets of ours.',
    tag: 'Templates',
    scope: 'read',
    responses: { 200: document.meta({ id: 'TemplateDocument' }) },
    problems: [404],
    handler: async ({ deps, principal, params }) => ({
      body: exported(await getTemplate(deps.table, principal.orgId, params.templateId)),
    }),
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/templates/{templateId}/agents',
    operationId: 'createAgentOfTemplate',
    summary: 'Make an agent from a template.',
    tag: 'Templates',
    scope: 'write',
    body: z.strictObject({
      name: name.optional().describe("Without it: the template's."),
      projectId: z.string().optional(),
      config: configView.optional().describe('Wins key by key.'),
    }),
    responses: { 201: agentView },
    problems: [404, 409],
    idempotent: true,
    handler: async ({ deps, principal: { orgId, keyId }, params: { templateId }, body, now, record }) => {
      const given = { orgId, templateId, actor: keyId, ...body, alongside: record };
      return { body: await agentOfTemplate(deps, available(deps), given, now) };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/templates/{templateId}',
    operationId: 'deleteTemplate',
    summary: 'Delete a template. Agents made from it stay.',
    tag: 'Templates',
    scope: 'write',
    responses: { 204: null },
    problems: [404],
    handler: async ({ deps, principal, params }) => {
      await deleteTemplate(deps.table, principal.orgId, params.templateId);
      return {};
    },
  }),
];
