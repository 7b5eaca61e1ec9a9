import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Route } from './define-route.ts';
import { matchRoute } from './match.ts';

const shapeOf = (routes: readonly Route[], event: APIGatewayProxyEventV2): Route['errors'] => {
  try {
    return matchRoute(routes, event.requestContext.http.method, event.rawPath).route.errors;
  } catch {
    return undefined;
  }
};

/** Turns the problem document of a route that says so into `{"detail": …}`. Runs after the document is made. */
export const detailErrors = (
  routes: readonly Route[],
): MiddlewareObj<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2> => ({
  onError({ event, response }) {
    if (response?.body === undefined || shapeOf(routes, event) !== 'detail') return;
    const { detail, errorId } = JSON.parse(response.body) as { readonly detail: string; readonly errorId?: string };
    response.body = JSON.stringify({ detail: errorId === undefined ? detail : `${detail} ${errorId}` });
    response.headers = { ...response.headers, 'content-type': 'application/json' };
  },
});
