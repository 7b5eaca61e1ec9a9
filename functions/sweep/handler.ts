import middy from '@middy/core';
import { log, metrics } from '../../lib/compose/core.ts';
import { executionDeps } from '../../lib/compose/executions.ts';
import { visitSweep } from '../../lib/compose/sweep.ts';
import { eachDue } from '../../lib/execution/clock.ts';
import { logContext } from '../../lib/middleware/log-context.ts';

export const handler = middy()
  .use(logContext(log, metrics))
  .handler(async () => {
    const deps = executionDeps();
    await eachDue(deps, 'sweep', deps.clock.now(), visitSweep);
  });
