import type { ApiDeps } from '../http/deps.ts';
import { makeExecutionService } from '../http/executions/service.ts';
import { makeAuthenticator } from '../tenancy/authenticate.ts';
import { toolSpec } from '../tools/spec.ts';
import type { Tool } from '../tools/tool.ts';
import { allTools } from '../tools/toolkit.ts';
import { blobs, filesOf } from './bucket.ts';
import { clock, ids, log, once, table } from './core.ts';
import { startDeps } from './executions.ts';
import { models, secrets } from './models.ts';

/** What `GET /v1/tools` says of a tool whose effect its arguments decide. */
const describedEffect = (tool: Tool): ApiDeps['tools'][number]['effect'] =>
  tool.name === 'http_request' ? 'depends' : tool.effect({}, {});

export const apiDeps = once(
  (): ApiDeps => ({
    table: table(),
    secrets: secrets(),
    clock,
    ids,
    log,
    authenticator: makeAuthenticator({ table: table(), clock }),
    executions: makeExecutionService({
      ...startDeps(),
      blobs: blobs(),
      filesOf,
      modelConfigured: async (orgId) => (await models()(orgId, undefined)) !== undefined,
    }),
    tools: allTools.map((tool) => ({ ...toolSpec(tool), effect: describedEffect(tool) })),
    workflows: ['goal'],
  }),
);
