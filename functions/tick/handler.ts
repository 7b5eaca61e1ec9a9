import middy from '@middy/core';
import { log, metrics } from '../../lib/compose/core.ts';
import { executionDeps } from '../../lib/compose/executions.ts';
import { visitTick } from '../../lib/compose/tick.ts';
import { eachDue, TICK_HORIZON_MS } from '../../lib/execution/clock.ts';
import { logContext } from '../../lib/middleware/log-context.ts';

export const handler = middy()
  .use(logContext(log, metrics))
  .handler(async () => {
    const deps = executionDeps();
    await eachDue(deps, 'tick', deps.clock.now() + TICK_HORIZON_MS, visitTick);
  });
