import type { ApiDeps } from '../http/deps.ts';
import { makeExecutionService } from '../http/executions/service.ts';
import { ENV } from '../names.ts';
import { notifyPolicyChange } from '../router/ticket/policy-notice.ts';
import { makeAuthenticator } from '../tenancy/authenticate.ts';
import { toolSpec } from '../tools/spec.ts';
import type { Tool } from '../tools/tool.ts';
import { allTools } from '../tools/toolkit.ts';
import { BUILT_IN_NAMES } from '../workflow/built-ins.ts';
import { blobs, filesOf } from './bucket.ts';
import { namesUs } from './channels.ts';
import { clock, fires, ids, log, numberEnv, once, postings, table, webhooks } from './core.ts';
import { judgeWebhookUrl } from './egress.ts';
import { startDeps } from './executions.ts';
import { modelClient, models, secrets } from './models.ts';
import { providerFor } from './providers.ts';
import { ticketDeps } from './tickets.ts';

/** What `GET /v1/tools` says of a tool whose effect its arguments decide. */
const describedEffect = (tool: Tool): ApiDeps['tools'][number]['effect'] =>
  tool.name === 'http_request' ? 'depends' : tool.effect({}, {});

export const apiDeps = once(
  (): ApiDeps => ({
    table: table(),
    secrets: secrets(),
    models: modelClient(),
    clock,
    ids,
    log,
    fires: fires(),
    auditDays: numberEnv(ENV.auditDays),
    webhooks: { webhooks: webhooks(), judgeUrl: judgeWebhookUrl },
    authenticator: makeAuthenticator({ table: table(), clock }),
    executions: makeExecutionService({
      ...startDeps(),
      blobs: blobs(),
      filesOf,
      modelConfigured: async (orgId) => (await models()(orgId, undefined)) !== undefined,
    }),
    tools: allTools.map((tool) => ({ ...toolSpec(tool), effect: describedEffect(tool) })),
    workflows: BUILT_IN_NAMES,
    postings: postings(),
    names: namesUs,
    provider: providerFor,
    tickets: ticketDeps(),
    notifyPolicyChange: notifyPolicyChange(ticketDeps()),
  }),
);
