import * as z from 'zod';
import { createProject, getProject, listProjects } from '../../tenancy/project.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { listBody, listOf, pageQuery } from '../paging.ts';
import { description, name, time } from './fields.ts';

const projectView = z
  .object({ id: z.string(), name: z.string(), description: z.string().optional(), createdAt: time })
  .meta({ id: 'Project' });

export const projectRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/v1/projects',
    operationId: 'createProject',
    summary: 'Make a project. A default project exists already.',
    tag: 'Projects',
    scope: 'write',
    body: z.strictObject({ name, description: description.optional() }),
    responses: { 201: projectView },
    idempotent: true,
    handler: async ({ deps, principal: { orgId }, body, now, record }) => ({
      body: await createProject(deps, { orgId, ...body, alongside: record }, now),
    }),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/projects',
    operationId: 'listProjects',
    summary: 'List projects, newest first.',
    tag: 'Projects',
    scope: 'read',
    query: z.strictObject(pageQuery),
    responses: { 200: listOf(projectView) },
    handler: async ({ deps, principal, page }) => {
      const at = page('projects');
      return { body: listBody(at, await listProjects(deps.table, principal.orgId, at)) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/projects/{projectId}',
    operationId: 'getProject',
    summary: 'Get a project.',
    tag: 'Projects',
    scope: 'read',
    responses: { 200: projectView },
    problems: [404],
    handler: async ({ deps, principal, params }) => ({
      body: await getProject(deps.table, principal.orgId, params.projectId),
    }),
  }),
];
