import middy from '@middy/core';
import { log, metrics, webhooks } from '../../lib/compose/core.ts';
import { executionDeps } from '../../lib/compose/executions.ts';
import { sweepEffect } from '../../lib/effect/deliver.ts';
import { parseEffectPk } from '../../lib/effect/effect.ts';
import { eachDue, sweepExecution } from '../../lib/execution/clock.ts';
import { logContext } from '../../lib/middleware/log-context.ts';
import { wakeWebhook } from '../../lib/webhook/deliver.ts';
import { parseWebhookKey } from '../../lib/webhook/message.ts';

export const handler = middy()
  .use(logContext(log, metrics))
  .handler(async () => {
    const deps = executionDeps();
    await eachDue(deps, 'sweep', deps.clock.now(), (found) => {
      if (parseEffectPk(found.pk) !== undefined) return sweepEffect(deps, found);
      if (parseWebhookKey(found.pk, found.sk) !== undefined)
        return wakeWebhook({ ...deps, webhooks: webhooks() }, found);
      return sweepExecution(deps, found);
    });
  });
