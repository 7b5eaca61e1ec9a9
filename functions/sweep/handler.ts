import middy from '@middy/core';
import { log, metrics } from '../../lib/compose/core.ts';
import { executionDeps } from '../../lib/compose/executions.ts';
import { sweepEffect } from '../../lib/effect/deliver.ts';
import { parseEffectPk } from '../../lib/effect/effect.ts';
import { eachDue, sweepExecution } from '../../lib/execution/clock.ts';
import { logContext } from '../../lib/middleware/log-context.ts';

export const handler = middy()
  .use(logContext(log, metrics))
  .handler(async () => {
    const deps = executionDeps();
    await eachDue(deps, 'sweep', deps.clock.now(), (found) =>
      parseEffectPk(found.pk) === undefined ? sweepExecution(deps, found) : sweepEffect(deps, found),
    );
  });
