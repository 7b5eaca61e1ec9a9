import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { problemErrors } from '../middleware/problem-errors.ts';
import type { ApiDeps } from './deps.ts';
import { detailErrors } from './detail-errors.ts';
import { answerHeaders, busyErrors } from './problem.ts';
import { makeRouter } from './router.ts';
import { ROUTES } from './routes/all.ts';

/** The HTTP API as one function. Middlewares see errors from the last to the first, so `busyErrors` comes first there. */
export const makeApi = (deps: ApiDeps) =>
  middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
    .use(answerHeaders())
    .use(detailErrors(ROUTES))
    .use(problemErrors(deps.log))
    .use(busyErrors())
    .handler(makeRouter(ROUTES, deps));
