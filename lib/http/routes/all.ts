import * as z from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { openApi } from '../openapi.ts';
import { agentConfigRoutes } from './agent-config.ts';
import { agentRoutes } from './agents.ts';
import { attentionRoutes } from './attention.ts';
import { auditRoutes } from './audit.ts';
import { effectRoutes } from './effects.ts';
import { executionRecordRoutes } from './execution-records.ts';
import { executionRoutes } from './executions.ts';
import { keyRoutes } from './keys.ts';
import { organisationRoutes } from './organisation.ts';
import { permissionRoutes } from './permissions.ts';
import { policyRoutes } from './policy.ts';
import { projectRoutes } from './projects.ts';
import { providerRoutes } from './providers.ts';
import { scheduleRoutes } from './schedules.ts';
import { sourceRoutes } from './sources.ts';
import { superagiRoutes } from './superagi.ts';
import { systemRoutes } from './system.ts';
import { templateRoutes } from './templates.ts';
import { threadRoutes } from './threads.ts';
import { ticketRoutes } from './tickets.ts';
import { usageRoutes } from './usage.ts';
import { webhookRoutes } from './webhooks.ts';
import { workflowRoutes } from './workflows.ts';

let document: { readonly [member: string]: unknown } | undefined;

const openApiRoute = defineRoute({
  method: 'GET',
  path: '/openapi.json',
  operationId: 'getOpenApi',
  summary: 'This description.',
  tag: 'System',
  scope: 'public',
  responses: { 200: z.record(z.string(), z.unknown()) },
  handler: async () => {
    document ??= openApi(ROUTES);
    return { body: document };
  },
});

/** The route table. */
export const ROUTES: readonly Route[] = [
  ...systemRoutes,
  openApiRoute,
  ...organisationRoutes,
  ...keyRoutes,
  ...projectRoutes,
  ...providerRoutes,
  ...agentRoutes,
  ...agentConfigRoutes,
  ...executionRoutes,
  ...executionRecordRoutes,
  ...permissionRoutes,
  ...scheduleRoutes,
  ...attentionRoutes,
  ...usageRoutes,
  ...auditRoutes,
  ...workflowRoutes,
  ...templateRoutes,
  ...webhookRoutes,
  ...sourceRoutes,
  ...policyRoutes,
  ...threadRoutes,
  ...effectRoutes,
  ...ticketRoutes,
  ...superagiRoutes,
];
