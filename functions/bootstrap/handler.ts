import middy from '@middy/core';
import { clock, ids, log, metrics, table } from '../../lib/compose/core.ts';
import { logContext } from '../../lib/middleware/log-context.ts';
import { type Bootstrapped, bootstrap } from '../../lib/tenancy/bootstrap.ts';

interface BootstrapEvent {
  readonly organisation?: unknown;
  readonly apiKey?: unknown;
}

/** Whoever may invoke this function, through IAM, may make an organisation. Errors reach the caller as they are. */
export const handler = middy<BootstrapEvent | null, Bootstrapped>()
  .use(logContext(log, metrics))
  .handler((event) =>
    bootstrap({ table: table(), ids, clock }, { organisation: event?.organisation, apiKey: event?.apiKey }),
  );
