import middy from '@middy/core';
import { composeApi } from '../../lib/compose.ts';
import { makeApi } from '../../lib/http/api.ts';
import { logContext } from '../../lib/middleware/log-context.ts';

const { deps, log, metrics } = composeApi();

export const handler = middy().use(logContext(log, metrics)).handler(makeApi(deps));
