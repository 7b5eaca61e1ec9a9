import * as z from 'zod';
import { getAgent } from '../../agent/agent.ts';
import { deleteAgent, patchAgent } from '../../agent/change-agent.ts';
import { chooseWorkflow } from '../../agent/choose-workflow.ts';
import { type Available, createAgent } from '../../agent/create-agent.ts';
import { listAgents } from '../../agent/list-agents.ts';
import { ownWorkflows } from '../../workflow/own-workflows.ts';
import { defineRoute, type Route } from '../define-route.ts';
import type { ApiDeps } from '../deps.ts';
import { listBody, listOf, pageQuery } from '../paging.ts';
import { configView, demandChange, description, name, time } from './fields.ts';

const badge = z
  .object({
    id: z.string(),
    projectId: z.string(),
    name: z.string(),
    description: z.string().optional(),
    workflow: z.string(),
    createdAt: time,
    createdBy: z.string(),
    updatedAt: time,
  })
  .meta({ id: 'AgentSummary' });

export const agentView = badge.extend({ config: configView }).meta({ id: 'Agent' });

/** What a configuration may name. */
export const available = (deps: ApiDeps): Available => ({
  tools: deps.tools.map((tool) => tool.name),
  workflows: deps.workflows,
  ownWorkflows: ownWorkflows(deps),
});

const agentChanges = z.strictObject({
  name: name.optional(),
  description: description.nullable().optional().describe('null takes it away.'),
  projectId: z.string().optional(),
  workflow: z.string().optional().describe('Name or id. Runs keep the one they began with.'),
  config: configView.optional().describe('Replaces these keys; others stay.'),
});

export const agentRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/v1/agents',
    operationId: 'createAgent',
    summary: 'Make an agent with its configuration.',
    tag: 'Agents',
    scope: 'write',
    body: z.strictObject({
      name,
      description: description.optional(),
      projectId: z.string().optional().describe('Without it: the default project.'),
      workflow: z.string().optional().describe('Name or id; see GET /v1/workflows. Without it: goal.'),
      config: configView.optional(),
    }),
    responses: { 201: agentView },
    idempotent: true,
    handler: async ({ deps, principal, body, now, record }) => {
      const given = { orgId: principal.orgId, actor: principal.keyId, ...body, alongside: record };
      return { body: await createAgent(deps, available(deps), given, now) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/agents',
    operationId: 'listAgents',
    summary: 'List agents, newest first, without their configuration.',
    tag: 'Agents',
    scope: 'read',
    query: z.strictObject({ ...pageQuery, projectId: z.string().optional() }),
    responses: { 200: listOf(badge) },
    handler: async ({ deps, principal, query, page }) => {
      const at = page(`agents?projectId=${query.projectId ?? ''}`);
      const filter = { projectId: query.projectId };
      return { body: listBody(at, await listAgents(deps.table, principal.orgId, filter, at)) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/agents/{agentId}',
    operationId: 'getAgent',
    summary: 'Get an agent with its configuration.',
    tag: 'Agents',
    scope: 'read',
    responses: { 200: agentView },
    problems: [404],
    handler: async ({ deps, principal, params }) => ({
      body: await getAgent(deps.table, principal.orgId, params.agentId),
    }),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/v1/agents/{agentId}',
    operationId: 'changeAgent',
    summary: 'Change an agent. Runs keep the configuration they started with.',
    tag: 'Agents',
    scope: 'write',
    body: agentChanges,
    responses: { 200: agentView },
    problems: [404],
    handler: async ({ deps, principal: { orgId }, params: { agentId }, body, now }) => {
      demandChange(body, agentChanges);
      const there = available(deps);
      const { workflow: asked, ...rest } = body;
      const workflow = asked === undefined ? undefined : await chooseWorkflow(there, orgId, asked);
      const changes = { ...rest, workflow };
      return { body: await patchAgent(deps.table, there.tools, { orgId, agentId }, changes, now) };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/agents/{agentId}',
    operationId: 'deleteAgent',
    summary: 'Delete an agent and terminate what it runs. Its executions stay readable.',
    tag: 'Agents',
    scope: 'write',
    responses: { 204: null },
    problems: [404],
    handler: async ({ deps, principal: { orgId }, params: { agentId }, now }) => {
      await deleteAgent(deps.table, { orgId, agentId }, (org, agent) => deps.executions.terminateAll(org, agent), now);
      return {};
    },
  }),
];
