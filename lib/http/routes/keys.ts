import * as z from 'zod';
import { badRequest } from '../../kernel/errors.ts';
import { createApiKey, listApiKeys, revokeApiKey } from '../../tenancy/api-keys.ts';
import { SCOPES } from '../../tenancy/scope.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { listBody, listOf, pageQuery } from '../paging.ts';
import { moment, name, time } from './fields.ts';

const scopes = z
  .array(z.enum(SCOPES))
  .min(1)
  .max(SCOPES.length)
  .describe('A ladder: each of read, run, write, admin includes those before it.');

const keyView = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes,
    createdAt: time,
    createdBy: z.string().optional(),
    expiresAt: time.optional(),
    revokedAt: time.optional(),
    lastUsedAt: time.optional().describe('Coarse: kept at most once an hour.'),
  })
  .meta({ id: 'ApiKey' });

export const keyRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/v1/keys',
    operationId: 'createKey',
    summary: 'Make an API key. The key itself is in this answer and never shown again.',
    tag: 'Keys',
    scope: 'admin',
    body: z.strictObject({ name, scopes, expiresAt: moment.optional() }),
    responses: { 201: keyView.extend({ apiKey: z.string() }).meta({ id: 'NewApiKey' }) },
    idempotent: 'secret',
    handler: async ({ deps, principal: { orgId, keyId }, body, now, record }) => {
      const expiresAt = body.expiresAt === undefined ? undefined : new Date(body.expiresAt).toISOString();
      if (body.expiresAt !== undefined && body.expiresAt <= now) {
        const error = { field: 'expiresAt', received: String(expiresAt), expected: 'a time to come' };
        throw badRequest('The key would have expired already.', [error]);
      }
      const given = {
        orgId,
        ...body,
        expiresAt,
        scopes: [...new Set(body.scopes)],
        createdBy: keyId,
        alongside: record,
      };
      return { body: await createApiKey(deps, given, now) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/keys',
    operationId: 'listKeys',
    summary: 'List API keys, newest first, revoked ones too. No key is shown.',
    tag: 'Keys',
    scope: 'admin',
    query: z.strictObject(pageQuery),
    responses: { 200: listOf(keyView) },
    handler: async ({ deps, principal, page }) => {
      const at = page('keys');
      return { body: listBody(at, await listApiKeys(deps.table, principal.orgId, at)) };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/keys/{keyId}',
    operationId: 'revokeKey',
    summary: 'Revoke an API key; effective everywhere within 30 seconds. The last admin key cannot be revoked.',
    tag: 'Keys',
    scope: 'admin',
    responses: { 204: null },
    problems: [404, 409],
    handler: async ({ deps, principal, params, now }) => {
      deps.authenticator.forget(await revokeApiKey(deps.table, principal.orgId, params.keyId, now));
      return {};
    },
  }),
];
