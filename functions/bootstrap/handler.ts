import middy from '@middy/core';
import { composeBootstrap } from '../../lib/compose.ts';
import { logContext } from '../../lib/middleware/log-context.ts';
import { bootstrap } from '../../lib/tenancy/bootstrap.ts';

const { deps, log, metrics } = composeBootstrap();

/** Whoever may invoke this function, through IAM, may make an organisation. Errors reach the caller as they are. */
export const handler = middy()
  .use(logContext(log, metrics))
  .handler((event: { readonly organisation?: unknown; readonly apiKey?: unknown } | null) =>
    bootstrap(deps, { organisation: event?.organisation, apiKey: event?.apiKey }),
  );
