import * as z from 'zod';
import { checkConfig } from '../../agent/config.ts';
import { CONFIG_SCHEMAS, type ConfigEntries } from '../../agent/config-keys.ts';
import { badRequest } from '../../kernel/errors.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { executionView, statusSchema } from '../execution-views.ts';
import { listBody, listOf, pageQuery } from '../paging.ts';
import { configView, name } from './fields.ts';

const { maxIterations, maxSteps, maxTokens, maxCostUsd, maxSeconds } = CONFIG_SCHEMAS;

const startBody = z.strictObject({
  name: name.optional(),
  goals: CONFIG_SCHEMAS.goals.optional().describe('Stand in place of those of the agent and of config.'),
  instructions: CONFIG_SCHEMAS.instructions.optional().describe('As goals.'),
  config: configView.optional().describe('Overrides key by key, for this run only.'),
});

/** Goals and instructions are configuration keys too; given on their own they win. */
const overridesOf = (body: z.output<typeof startBody>, tools: readonly string[]): ConfigEntries => {
  checkConfig(body.config ?? {}, tools);
  return {
    ...body.config,
    ...(body.goals === undefined ? {} : { goals: body.goals }),
    ...(body.instructions === undefined ? {} : { instructions: body.instructions }),
  };
};

const control = (verb: 'pause' | 'resume' | 'terminate', summary: string): Route =>
  defineRoute({
    method: 'POST',
    path: `/v1/executions/{executionId}/${verb}`,
    operationId: `${verb}Execution`,
    summary,
    tag: 'Executions',
    scope: 'run',
    responses: { 200: executionView },
    problems: [404, 409],
    handler: async ({ deps, principal: { orgId, keyId }, params: { executionId } }) => ({
      body: await deps.executions[verb]({ orgId, executionId }, keyId),
    }),
  });

export const executionRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/v1/agents/{agentId}/executions',
    operationId: 'startExecution',
    summary: 'Start a run of an agent. Its configuration is pinned.',
    tag: 'Executions',
    scope: 'run',
    body: startBody,
    responses: { 202: executionView },
    problems: [404, 409],
    idempotent: true,
    handler: async ({ deps, principal, params, body, record }) => {
      const tools = deps.tools.map((tool) => tool.name);
      const given = { orgId: principal.orgId, agentId: params.agentId, actor: principal.keyId, name: body.name };
      const config = overridesOf(body, tools);
      return { body: await deps.executions.start({ ...given, config, alongside: record }) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/executions',
    operationId: 'listExecutions',
    summary: 'List executions, newest first.',
    tag: 'Executions',
    scope: 'read',
    query: z.strictObject({ ...pageQuery, agentId: z.string().optional(), status: statusSchema.optional() }),
    responses: { 200: listOf(executionView) },
    handler: async ({ deps, principal, query: { agentId, status }, page }) => {
      const at = page(`executions?agentId=${agentId ?? ''}&status=${status ?? ''}`);
      return { body: listBody(at, await deps.executions.list(principal.orgId, { agentId, status }, at)) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/executions/{executionId}',
    operationId: 'getExecution',
    summary: 'Get an execution.',
    tag: 'Executions',
    scope: 'read',
    responses: { 200: executionView },
    problems: [404],
    handler: async ({ deps, principal: { orgId }, params: { executionId } }) => ({
      body: await deps.executions.get({ orgId, executionId }),
    }),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/v1/executions/{executionId}',
    operationId: 'changeLimits',
    summary: 'Change the limits of an execution that has not ended.',
    tag: 'Executions',
    scope: 'run',
    body: z.strictObject({
      maxIterations: maxIterations.optional(),
      maxSteps: maxSteps.optional().describe('Steps of a workflow in a row that call no model.'),
      maxTokens: maxTokens.optional(),
      maxCostUsd: maxCostUsd.optional(),
      maxSeconds: maxSeconds.optional(),
    }),
    responses: { 200: executionView },
    problems: [404, 409],
    handler: async ({ deps, principal: { orgId, keyId }, params: { executionId }, body }) => {
      if (Object.keys(body).length === 0) {
        const expected = 'at least one of maxIterations, maxSteps, maxTokens, maxCostUsd, maxSeconds';
        throw badRequest('No limit is given.', [{ field: 'body', received: 'object without fields', expected }]);
      }
      return { body: await deps.executions.patchLimits({ orgId, executionId }, body, keyId) };
    },
  }),
  control('pause', 'Pause an execution. A step under way may still finish the job.'),
  control('resume', 'Resume an execution that is paused, mended, or stopped by a limit that is higher now.'),
  control('terminate', 'End an execution for good.'),
  defineRoute({
    method: 'POST',
    path: '/v1/executions/{executionId}/input',
    operationId: 'giveInput',
    summary: 'Answer a question, or add a message that the next step reads.',
    tag: 'Executions',
    scope: 'run',
    body: z.strictObject({ content: z.string().min(1).max(100_000) }),
    responses: { 202: executionView },
    problems: [404, 409],
    idempotent: true,
    handler: async ({ deps, principal: { orgId, keyId }, params: { executionId }, body, record }) => ({
      body: await deps.executions.input({ orgId, executionId, content: body.content, actor: keyId, alongside: record }),
    }),
  }),
];
