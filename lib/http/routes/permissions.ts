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
    query: z.strictObject({ ...pageQuery, status: permissionView.shape.status.optional() }),
    responses: { 200: listOf(permissionView) },
    handler: async ({ deps, principal, query: { status }, page }) => {
      const at = page(`permissions?status=${status ?? ''}`);
      return { body: listBody(at, await deps.executions.listPermissions(principal.orgId, { status }, at)) };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/permissions/{permissionId}/decision',
    operationId: 'decidePermission',
    summary: 'Approve or reject; the second decision is refused.',
    tag: 'Permissions',
    scope: 'run',
    body: z.strictObject({ decision: z.enum(['approve', 'reject']), feedback: z.string().max(20_000).optional() }),
    responses: { 200: permissionView },
    problems: [404, 409],
    handler: async ({ deps, principal: { orgId, keyId }, params: { permissionId }, body }) => ({
      body: await deps.executions.decide({ orgId, permissionId, ...body, actor: keyId }),
    }),
  }),
];
