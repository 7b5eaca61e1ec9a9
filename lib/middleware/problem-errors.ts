import { randomUUID } from 'node:crypto';
import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { AppError, UnreadableRow } from '../kernel/errors.ts';
import type { Log } from '../kernel/ports.ts';

/** An RFC 9457 document. `code` is stable and part of the contract; further members are the error's details. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly instance: string;
  readonly [member: string]: unknown;
}

/**
 * Answers every error of an HTTP handler as `application/problem+json`. What a user may be told is an `AppError`; of
 * anything else only an id leaves, under which the log holds the error with its stack.
 */
export const problemErrors = (log: Log): MiddlewareObj<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2> => ({
  onError(request) {
    request.response = problemResponse(request.error, request.event.rawPath ?? '/', log);
  },
});

/** @param instance path of the request */
export const problemResponse = (error: unknown, instance: string, log: Log): APIGatewayProxyStructuredResultV2 => {
  const problem = problemOf(error, instance, log);
  const retryAfter = problem.retryAfter;
  return {
    statusCode: problem.status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...(typeof retryAfter === 'number' ? { 'retry-after': String(Math.ceil(retryAfter)) } : {}),
    },
    body: JSON.stringify(problem),
  };
};

const problemOf = (error: unknown, instance: string, log: Log): Problem => {
  if (error instanceof AppError) {
    if (error.status >= 500) log.error('A request failed.', { error, route: instance });
    return {
      ...error.details, // first, so that no detail can stand in for a member of the document itself
      ...common(error.code, error.status),
      detail: error.message,
      instance,
    };
  }
  const errorId = randomUUID();
  log.error('A request failed.', { error: asError(error), errorId, route: instance });
  const code = error instanceof UnreadableRow ? 'unreadable_row' : 'internal_error';
  const detail =
    error instanceof UnreadableRow
      ? 'A stored row was written by a newer version or is damaged. It was left as it is.'
      : 'Something went wrong here. The id names the entry in the log.';
  return { ...common(code, 500), detail, instance, errorId };
};

/** No page describes the codes, so the type is RFC 9457's own "about:blank" and the title the status's phrase. */
const common = (code: string, status: number) => ({
  type: 'about:blank',
  title: TITLES[status] ?? (status >= 500 ? 'Server Error' : 'Request Refused'),
  status,
  code,
});

const TITLES: { readonly [status: number]: string } = {
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  423: 'Locked',
  428: 'Precondition Required',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(`Thrown: ${typeof error}`));
