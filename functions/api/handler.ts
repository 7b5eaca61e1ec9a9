import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { apiDeps } from '../../lib/compose/api.ts';
import { log, metrics } from '../../lib/compose/core.ts';
import { makeApi } from '../../lib/http/api.ts';
import { logContext } from '../../lib/middleware/log-context.ts';

export const handler = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
  .use(logContext(log, metrics))
  .handler(makeApi(apiDeps()));
