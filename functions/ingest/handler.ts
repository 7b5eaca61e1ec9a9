import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { log, metrics } from '../../lib/compose/core.ts';
import { ingestDeps } from '../../lib/compose/ingest.ts';
import { makeIngest } from '../../lib/http/ingest.ts';
import { logContext } from '../../lib/middleware/log-context.ts';

export const handler = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>()
  .use(logContext(log, metrics))
  .handler(makeIngest(ingestDeps()));
