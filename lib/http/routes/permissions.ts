import * as z from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { permissionView } from '../execution-views.ts';
import { listBody, listOf, pageQuery } from '../paging.ts';

export const permissionRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/v1/permissions',
    operationId: 'listPermissions',
    summary: 'List what agents asked permission for, newest first.',
    tag: 'Permissions',
    scope: 'read',
    query: z.strictObject({
      ...pageQuery,
      status: permissionView.shape.status.optional(),
      executionId: z.string().optional(),
    }),
    responses: { 200: listOf(permissionView) },
    handler: async ({ deps, principal, query: { status, executionId }, page }) => {
      const at = page(`permissions?status=${status ?? ''}&executionId=${executionId ?? ''}`);
      const found = await deps.executions.listPermissions(principal.orgId, { status, executionId }, at);
      return { body: listBody(at, found) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/permissions/{permissionId}',
    operationId: 'getPermission',
    summary: 'Get a permission.',
    tag: 'Permissions',
    scope: 'read',
    responses: { 200: permissionView },
    problems: [404],
    handler: async ({ deps, principal: { orgId }, params: { permissionId } }) => ({
      body: await deps.executions.getPermission(orgId, permissionId),
    }),
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/permissions/{permissionId}/decision',
    operationId: 'decidePermission',
    summary: 'Approve or reject; the second decision is refused, and one at or after `expiresAt`.',
    tag: 'Permissions',
    scope: 'run',
    body: z.strictObject({
      decision: z.enum(['approve', 'reject']),
      feedback: z.string().max(20_000).optional().describe('Reaches the model with the outcome of the call.'),
      argumentsHash: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'a SHA-256 in 64 hex digits')
        .optional()
        .describe('Of the call that was decided about; another one is a 409.'),
    }),
    responses: { 200: permissionView },
    problems: [404, 409],
    handler: async ({ deps, principal: { orgId, keyId }, params: { permissionId }, body }) => ({
      body: await deps.executions.decide({ orgId, permissionId, ...body, actor: keyId }),
    }),
  }),
];
