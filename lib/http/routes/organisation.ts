import * as z from 'zod';
import { getOrganisation, resumeOrganisation, stopOrganisation } from '../../tenancy/organisation.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { time } from './fields.ts';

const organisationView = z
  .object({
    id: z.string(),
    name: z.string(),
    createdAt: time,
    defaultProjectId: z.string(),
    stopped: z.object({ at: time, by: z.string() }).optional().describe('Everything is held since then.'),
  })
  .meta({ id: 'Organisation' });

export const organisationRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/v1/organisation',
    operationId: 'getOrganisation',
    summary: 'Get the organisation of the key.',
    tag: 'Organisation',
    scope: 'read',
    responses: { 200: organisationView },
    handler: async ({ deps, principal }) => ({ body: await getOrganisation(deps.table, principal.orgId) }),
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/organisation/stop',
    operationId: 'stopOrganisation',
    summary: 'Hold everything: steps, Evals and effects. What comes in is still stored.',
    tag: 'Organisation',
    scope: 'admin',
    responses: { 200: organisationView },
    handler: async ({ deps, principal: { orgId, keyId }, now }) => ({
      body: await stopOrganisation(deps.table, orgId, keyId, now),
    }),
  }),
  defineRoute({
    method: 'POST',
    path: '/v1/organisation/resume',
    operationId: 'resumeOrganisation',
    summary: 'Let everything go on where it stood.',
    tag: 'Organisation',
    scope: 'admin',
    responses: { 200: organisationView },
    handler: async ({ deps, principal }) => ({
      body: await resumeOrganisation(deps.table, principal.orgId, (orgId) => deps.executions.wakeOrganisation(orgId)),
    }),
  }),
];
