import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import * as z from 'zod';
import { AppError } from '../kernel/errors.ts';

/** RFC 9457, as the OpenAPI document describes it. `code` is stable; further members depend on it. */
export const problemView = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string().describe('Stable: programs may rely on it.'),
    detail: z.string(),
    instance: z.string(),
    errors: z
      .array(z.object({ field: z.string(), received: z.string(), expected: z.string() }))
      .optional()
      .describe('One entry for each field that does not fit.'),
  })
  .meta({ id: 'Problem' });

/** The errors of routes that speak for another server. */
export const detailView = z.object({ detail: z.string() }).meta({ id: 'Detail' });

type HttpMiddleware = MiddlewareObj<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>;

/**
 * Names of errors that say "not now": the table is busy beyond what its adapter waits for, or others were faster each time
 * that a use case tried.
 */
const BUSY: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'TransactionConflictException',
  'TransactionCanceledException',
  'TransactionInProgressException',
  'TransactionRefused',
  'ConditionFailed',
]);

/** Turns "not now" of the table into a 503 that says when to come back. */
export const busyErrors = (): HttpMiddleware => ({
  onError(request) {
    if (request.error === null || request.error === undefined || !BUSY.has(request.error.name)) return;
    const message = 'Too much is going on at once: try again in a moment.';
    request.error = new AppError(503, 'busy', message, { retryAfter: 1 }, request.error);
  },
});

/** Headers of every answer, and those that a refusal's status asks for. Runs after the answer is made. */
export const answerHeaders = (): HttpMiddleware => {
  const add = (response: APIGatewayProxyStructuredResultV2 | null | undefined, error: unknown): void => {
    if (response === null || response === undefined) return;
    response.headers = {
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...response.headers,
      ...(error instanceof AppError ? headersOf(error) : {}),
    };
  };
  return {
    after: ({ response }) => add(response, undefined),
    onError: ({ response, error }) => add(response, error),
  };
};

const headersOf = ({ status, code, details }: AppError): { readonly [name: string]: string } => {
  const headers: { [name: string]: string } = {};
  if (status === 401) headers['www-authenticate'] = challenge(code === 'missing_key' ? undefined : 'invalid_token');
  if (status === 403) headers['www-authenticate'] = challenge('insufficient_scope', details.neededScope);
  if (Array.isArray(details.allow)) headers.allow = details.allow.join(', ');
  return headers;
};

/** RFC 6750: no error code when no key was sent at all. */
const challenge = (error: string | undefined, scope?: unknown): string =>
  [
    'Bearer realm="baton"',
    ...(error === undefined ? [] : [`error="${error}"`]),
    ...(typeof scope === 'string' ? [`scope="${scope}"`] : []),
  ].join(', ');
