import { MetricUnit, Metrics as PowertoolsMetrics } from '@aws-lambda-powertools/metrics';
import type { Metrics } from '../kernel/ports.ts';
import { METRICS } from '../names.ts';

export interface RequestMetrics extends Metrics {
  /** Writes what was counted since the last flush as one line of EMF, from which CloudWatch makes the metrics. */
  flush(): void;
}

/**
 * Counters in the namespace that the alarms watch, with one dimension: `service`, from `POWERTOOLS_SERVICE_NAME`. No
 * tenant or execution is a dimension: each value of a dimension is a metric of its own, and each is paid for.
 */
export const makeMetrics = (
  metrics: PowertoolsMetrics = new PowertoolsMetrics({ namespace: METRICS.namespace }),
): RequestMetrics => ({
  count(name, value = 1) {
    metrics.addMetric(name, MetricUnit.Count, value);
  },
  flush() {
    if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics(); // it warns about having nothing to publish
  },
});
