import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import type * as z from 'zod';
import { AUDIT_DAYS, auditAsked, auditSettled, type Settled } from '../tenancy/audit.ts';
import { demandScope, type Principal } from '../tenancy/authenticate.ts';
import { auditDetails, auditSubject, settledBy, settledByError } from './audit-entry.ts';
import { apiKeyOf, type Headers, lowerCased } from './auth.ts';
import type { Answer, Call, RawBody, Route } from './define-route.ts';
import type { ApiDeps } from './deps.ts';
import { firstAnswer, type IdempotentRequest, idempotentRequest, recordOf } from './idempotency.ts';
import { checkIds, type Match, matchRoute } from './match.ts';
import { makePage } from './paging.ts';
import { nothing, parsePart, readBody, readQuery } from './read-request.ts';

type Result = APIGatewayProxyStructuredResultV2;

const NOBODY: Principal = { orgId: '', keyId: '', scopes: [] };

/**
 * One request, one answer: find the route, authenticate, check the scope, parse, call the use case, parse what it answers.
 * In this order, so that nobody without a key learns what a body should look like.
 * Throws AppErrors (and what else goes wrong); a middleware turns them into problem documents.
 */
export const makeRouter =
  (routes: readonly Route[], deps: ApiDeps) =>
  async (event: APIGatewayProxyEventV2, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<Result> => {
    const { method } = event.requestContext.http;
    const match = matchRoute(routes, method, event.rawPath);
    const headers = lowerCased(event.headers);
    const isPublic = match.route.scope === 'public';
    const principal = isPublic ? NOBODY : await deps.authenticator.authenticate(apiKeyOf(headers));
    deps.log.append({ orgId: principal.orgId, keyId: principal.keyId, operation: match.route.operationId });
    const used = isPublic ? Promise.resolve() : deps.authenticator.noteUse(principal);
    try {
      const result = await answer(match, { event, headers, principal, deps, context });
      return method === 'HEAD' ? withoutBody(result) : result;
    } finally {
      await used; // it never fails; left alone it would be frozen with the function
    }
  };

interface Request {
  readonly event: APIGatewayProxyEventV2;
  readonly headers: Headers;
  readonly principal: Principal;
  readonly deps: ApiDeps;
  readonly context: Pick<Context, 'getRemainingTimeInMillis'>;
}

const answer = async ({ route, params }: Match, request: Request): Promise<Result> => {
  const { deps, principal, event } = request;
  if (route.scope !== 'public') demandScope(principal, route.scope);
  checkIds(params);
  const query = parsePart(route.query ?? nothing, readQuery(event), 'query') as { readonly [name: string]: unknown };
  const given = route.method === 'GET' || route.method === 'DELETE' ? {} : readBody(event);
  const body = parsePart(route.body ?? nothing, given, 'body');
  const now = deps.clock.now();

  const idempotent = route.idempotent
    ? idempotentRequest(principal.orgId, `${route.method} ${event.rawPath}`, request.headers['idempotency-key'], given)
    : undefined;
  const first = idempotent === undefined ? undefined : await firstAnswer(deps.table, idempotent, now);
  if (first !== undefined) return json(first.status, first.text, { 'idempotent-replayed': 'true' });

  const call: Call<unknown, unknown, unknown> = {
    deps,
    principal,
    params,
    query,
    body,
    now,
    remainingMs: () => request.context.getRemainingTimeInMillis(),
    origin: originOf(request.headers),
    record: (created) => (idempotent === undefined ? [] : [recordCreated(route, idempotent, created, now)]),
    page: makePage(principal.orgId, query),
  };
  const audit = await audited(route, params, request, body, now);
  try {
    const given = await route.handler(call);
    const result = written(route, given);
    await audit(settledBy(route, given));
    return result;
  } catch (error) {
    await audit(settledByError(error));
    // The same key at the same moment: whoever was refused answers what the other one made.
    const other = idempotent === undefined ? undefined : await firstAnswer(deps.table, idempotent, now);
    if (other === undefined) throw error;
    return json(other.status, other.text, { 'idempotent-replayed': 'true' });
  }
};

/** The row of a request that may change something, written before it does. @returns writes what became of it */
const audited = async (
  route: Route,
  params: Match['params'],
  { deps, principal }: Request,
  body: unknown,
  now: number,
): Promise<(settled: Settled) => Promise<void>> => {
  if (route.method === 'GET' || route.scope === 'public') return async () => undefined;
  const { orgId, keyId: actor } = principal;
  const asked = {
    orgId,
    actor,
    action: route.operationId,
    subject: auditSubject(route, params, principal),
    details: auditDetails(params, body),
    days: deps.auditDays ?? AUDIT_DAYS,
  };
  const auditId = await auditAsked(deps, asked, now);
  return (settled) => auditSettled(deps, orgId, auditId, settled);
};

/** API Gateway says by which scheme it was reached; the local cloud is reached by plain HTTP. */
const originOf = (headers: Headers): string => {
  const scheme = headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';
  return `${scheme}://${headers.host ?? 'localhost'}`;
};

const goodStatus = (route: Route): number => Number(Object.keys(route.responses)[0]);

const recordCreated = (route: Route, request: IdempotentRequest, created: unknown, now: number) => {
  const status = goodStatus(route);
  const secret = route.idempotent === 'secret';
  const text = secret ? '' : textOf(route, status, created);
  return recordOf(request, { status, text, secret, id: (created as { readonly id?: string }).id }, now);
};

/** Parsed by the schema of the answer, so that no field leaves that the contract does not name. */
const textOf = (route: Route, status: number, body: unknown): string => {
  const schema = route.responses[status];
  if (schema === undefined || schema === null || schema === 'raw') {
    throw new Error(`${route.operationId} has no schema for an answer ${status}.`);
  }
  return JSON.stringify((schema as z.ZodType).parse(body));
};

const written = (route: Route, given: Answer): Result => {
  const status = given.status ?? goodStatus(route);
  if (given.raw !== undefined) return raw(status, given.raw);
  return route.responses[status] === null ? { statusCode: status } : json(status, textOf(route, status, given.body));
};

const json = (statusCode: number, body: string, headers: { readonly [name: string]: string } = {}): Result => ({
  statusCode,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body,
});

/** Always as a download: a file that a model wrote must not run as a page of this origin. */
const raw = (statusCode: number, { bytes, contentType, fileName }: RawBody): Result => ({
  statusCode,
  headers: {
    'content-type': contentType,
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(fileName.toWellFormed()).replace(/['()*]/g, percent)}`,
  },
  body: Buffer.from(bytes).toString('base64'),
  isBase64Encoded: true,
});

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

const withoutBody = ({ body: _, isBase64Encoded: __, ...rest }: Result): Result => rest;
