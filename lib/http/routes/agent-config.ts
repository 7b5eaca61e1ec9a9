import * as z from 'zod';
import { getAgent } from '../../agent/agent.ts';
import { deleteConfig, putConfig } from '../../agent/change-agent.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { configView } from './fields.ts';

export const agentConfigRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/v1/agents/{agentId}/config',
    operationId: 'getAgentConfig',
    summary: 'Get the configuration as it was given; keys that are missing have their defaults.',
    tag: 'Agents',
    scope: 'read',
    responses: { 200: configView },
    problems: [404],
    handler: async ({ deps, principal, params }) => ({
      body: (await getAgent(deps.table, principal.orgId, params.agentId)).config,
    }),
  }),
  defineRoute({
    method: 'PUT',
    path: '/v1/agents/{agentId}/config/{key}',
    operationId: 'putAgentConfig',
    summary: 'Set one configuration key.',
    tag: 'Agents',
    scope: 'write',
    body: z.strictObject({ value: z.unknown() }),
    responses: { 200: z.object({ key: z.string(), value: z.unknown() }) },
    problems: [404],
    handler: async ({ deps, principal: { orgId }, params: { agentId, key }, body: { value }, now }) => {
      const tools = deps.tools.map((tool) => tool.name);
      await putConfig(deps.table, tools, { orgId, agentId, key }, value, now);
      return { body: { key, value } };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/agents/{agentId}/config/{key}',
    operationId: 'deleteAgentConfig',
    summary: 'Take one configuration key away: back to its default.',
    tag: 'Agents',
    scope: 'write',
    responses: { 204: null },
    problems: [404],
    handler: async ({ deps, principal: { orgId }, params: { agentId, key } }) => {
      await deleteConfig(deps.table, { orgId, agentId, key });
      return {};
    },
  }),
];
