import middy from '@middy/core';
import type { EventBridgeEvent } from 'aws-lambda';
import { log, metrics } from '../../lib/compose/core.ts';
import { startDeps } from '../../lib/compose/executions.ts';
import { runAgentDetailSchema, startForEvent } from '../../lib/execution/run-agent-event.ts';
import { logContext } from '../../lib/middleware/log-context.ts';

export const handler = middy<EventBridgeEvent<string, unknown>, void>()
  .use(logContext(log, metrics))
  .handler(async (event) => {
    const parsed = runAgentDetailSchema.safeParse(event.detail);
    if (!parsed.success) {
      // No retry mends it; the event's own sender reads this line.
      log.error('A "Run Agent" event does not fit and starts nothing.', {
        eventId: event.id,
        issues: parsed.error.issues,
      });
      return;
    }
    log.append({ orgId: parsed.data.organisationId });
    const executionId = await startForEvent(startDeps(), event.id, parsed.data);
    log.info(executionId === undefined ? 'The event was handled before.' : 'An event started a run.', { executionId });
  });
