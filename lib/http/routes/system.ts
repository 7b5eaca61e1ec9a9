import * as z from 'zod';
import { notFound } from '../../kernel/errors.ts';
import { keys } from '../../kernel/keys.ts';
import { listModels } from '../../tenancy/list-models.ts';
import { TOOLKITS } from '../../tools/toolkits.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { statusReport } from '../execution-views.ts';

const toolView = z
  .object({
    name: z.string(),
    description: z.string(),
    effect: z
      .enum(['none', 'idempotent', 'unsafe', 'depends'])
      .describe('What a repeat does to the world; depends: on the arguments and the configuration.'),
    parameters: z.record(z.string(), z.unknown()).describe('JSON Schema of the arguments.'),
  })
  .meta({ id: 'Tool' });

const toolkitView = z
  .object({ name: z.string(), description: z.string(), tools: z.array(z.string()) })
  .meta({ id: 'Toolkit' });

const modelView = z
  .object({
    name: z.string(),
    provider: z.string().describe("Name of the organisation's account, or operator."),
    contextTokens: z.number().optional(),
    inputUsdPerM: z.number().optional(),
    outputUsdPerM: z.number().optional(),
    default: z.boolean().describe('Used where an agent names none.'),
  })
  .meta({ id: 'Model' });

export const systemRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/health',
    operationId: 'getHealth',
    summary: 'Answers once everything does; it reads the table.',
    tag: 'System',
    scope: 'public',
    responses: { 200: z.object({ status: z.literal('ok') }) },
    handler: async ({ deps }) => {
      await deps.table.get(keys.apiKeyLookup('health')); // no such row: the read itself is the question
      return { body: { status: 'ok' } };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/ingest/{sourceId}',
    operationId: 'ingest',
    summary: 'Where sources deliver. The provider signs; no key is needed.',
    tag: 'System',
    scope: 'public',
    body: z.unknown(),
    responses: { 202: null },
    problems: [404],
    handler: async () => {
      throw notFound('source');
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/status',
    operationId: 'getStatus',
    summary: 'How the chains and queues of the organisation stand.',
    tag: 'System',
    scope: 'read',
    responses: { 200: statusReport },
    handler: async ({ deps, principal }) => ({ body: await deps.executions.status(principal.orgId) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/tools',
    operationId: 'listTools',
    summary: 'The tools an agent can be given.',
    tag: 'System',
    scope: 'read',
    responses: { 200: z.object({ items: z.array(toolView) }) },
    handler: async ({ deps }) => ({ body: { items: deps.tools } }),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/toolkits',
    operationId: 'listToolkits',
    summary: 'The same tools in groups.',
    tag: 'System',
    scope: 'read',
    responses: { 200: z.object({ items: z.array(toolkitView) }) },
    handler: async () => ({ body: { items: TOOLKITS } }),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/models',
    operationId: 'listModels',
    summary: 'The models an agent can be given, with what is known of their prices.',
    tag: 'System',
    scope: 'read',
    responses: { 200: z.object({ items: z.array(modelView) }) },
    handler: async ({ deps, principal }) => ({ body: { items: await listModels(deps, principal.orgId) } }),
  }),
];
