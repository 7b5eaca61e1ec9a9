import { STATUS_CODES } from 'node:http';
import * as z from 'zod';
import { SCOPES } from '../tenancy/scope.ts';
import { ID_PARAMS, idPattern, type Route } from './define-route.ts';
import { detailView, problemView } from './problem.ts';

type Json = { [member: string]: unknown };

/** Problems that every route, or every route with a key, can answer. */
const ALWAYS = [400, 500, 503];
const WITH_KEY = [401, 403];

/**
 * OpenAPI 3.1 from the route table. The same table gives the same text, so that drift can be told by comparing.
 */
export const openApi = (routes: readonly Route[]): Json => {
  const components: Json = {};
  const schema = (type: z.ZodType, io: 'input' | 'output'): Json => {
    const { $schema: _, $defs, ...rest } = z.toJSONSchema(type, { io, target: 'draft-2020-12' }) as Json;
    for (const [id, one] of Object.entries(($defs as Json | undefined) ?? {})) components[id] ??= relinked(one);
    return relinked(rest) as Json;
  };
  const problem = { 'application/problem+json': { schema: schema(problemView, 'output') } };
  const detail = { 'application/json': { schema: schema(detailView, 'output') } };

  const paths: { [path: string]: Json } = {};
  for (const route of routes) {
    const path = route.path.replace('+}', '}');
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: operation(route, schema, route.errors === 'detail' ? detail : problem),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Baton',
      version: '1',
      description:
        'Autonomous agents that need no server. Scopes are a ladder: ' +
        `${SCOPES.join(', ')}; each includes those before it. Unknown fields are refused. Another organisation's id is a 404.`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    security: [{ bearer: [] }, { apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
      schemas: sorted(components),
    },
  };
};

type ToSchema = (type: z.ZodType, io: 'input' | 'output') => Json;

const operation = (route: Route, schema: ToSchema, problem: Json): Json => {
  const isPublic = route.scope === 'public';
  return {
    operationId: route.operationId,
    summary: route.summary,
    tags: [route.tag],
    ...(isPublic ? { security: [] } : { description: `Needs the scope \`${route.scope}\`.`, 'x-scope': route.scope }),
    ...parametersOf(route, schema),
    ...(route.body === undefined
      ? {}
      : { requestBody: { content: { 'application/json': { schema: schema(route.body, 'input') } } } }),
    responses: { ...good(route, schema), ...bad(route, problem) },
  };
};

const good = (route: Route, schema: ToSchema): Json =>
  Object.fromEntries(
    Object.entries(route.responses).map(([status, body]) => {
      const description = STATUS_CODES[status] ?? 'OK';
      if (body === null) return [status, { description }];
      const content =
        body === 'raw' ? { '*/*': { schema: {} } } : { 'application/json': { schema: schema(body, 'output') } };
      return [status, { description, content }];
    }),
  );

const bad = (route: Route, problem: Json): Json => {
  const statuses = new Set([
    ...ALWAYS,
    ...(route.scope === 'public' ? [] : WITH_KEY),
    ...(route.body === undefined ? [] : [413]),
    ...(route.idempotent ? [409, 422] : []),
    ...(route.problems ?? []),
  ]);
  const entries = [...statuses].sort((a, b) => a - b);
  return Object.fromEntries(entries.map((status) => [status, { description: STATUS_CODES[status], content: problem }]));
};

const parametersOf = (route: Route, schema: ToSchema): Json => {
  const inPath = [...route.path.matchAll(/\{(\w+)\+?\}/g)].map(([, name = '']) => {
    const id = ID_PARAMS[name];
    const pattern = id === undefined ? {} : { pattern: idPattern(id) };
    return { name, in: 'path', required: true, schema: { type: 'string', ...pattern } };
  });
  const query = route.query === undefined ? {} : schema(route.query, 'output');
  const inQuery = Object.entries((query.properties as Json | undefined) ?? {}).map(([name, one]) => ({
    name,
    in: 'query',
    schema: one,
  }));
  const inHeader = route.idempotent
    ? [{ name: 'Idempotency-Key', in: 'header', schema: { type: 'string', minLength: 1, maxLength: 255 } }]
    : [];
  const parameters = [...inPath, ...inQuery, ...inHeader];
  return parameters.length === 0 ? {} : { parameters };
};

/** JSON Schema puts shared parts under `$defs`; an OpenAPI document keeps them in `components`. */
const relinked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(relinked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key === '$ref' && typeof inner === 'string'
        ? [key, inner.replace('#/$defs/', '#/components/schemas/')]
        : [key, relinked(inner)],
    ),
  );
};

const sorted = (members: Json): Json =>
  Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
