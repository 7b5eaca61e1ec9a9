import type { MiddlewareObj } from '@middy/core';
import type { RequestLog } from '../observe/logger.ts';
import type { RequestMetrics } from '../observe/metrics.ts';

/**
 * Begins each invocation with a clean log context that carries Lambda's request id, and ends it, well or not, by
 * flushing the metrics. Put it first: its end then runs last.
 */
export const logContext = (log: RequestLog, metrics: RequestMetrics): MiddlewareObj<unknown, unknown> => {
  const end = (): void => {
    metrics.flush();
    log.clear();
  };
  return {
    before({ context }) {
      log.clear(); // an invocation that ran into its time-out never reached its end
      log.append({ requestId: context.awsRequestId });
    },
    after: end,
    onError: end,
  };
};
