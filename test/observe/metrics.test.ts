import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeMetrics } from '../../lib/observe/metrics.ts';
import { captureOutput } from '../support/captured-output.ts';

describe('metrics', () => {
  let output: ReturnType<typeof captureOutput>;

  beforeEach(() => {
    vi.stubEnv('POWERTOOLS_SERVICE_NAME', 'baton-test');
    vi.stubEnv('POWERTOOLS_DEV', '');
    output = captureOutput();
  });
  afterEach(() => {
    output.restore();
    vi.unstubAllEnvs();
  });

  it('are written as one line of EMF at the flush, in the namespace and dimension that the alarms watch', () => {
    const metrics = makeMetrics();
    metrics.count('StepsCommitted');
    metrics.count('StalledChains', 3);
    expect(output.lines).toEqual([]);
    metrics.flush();
    expect(output.lines).toHaveLength(1);
    expect(output.lines[0]).toMatchObject({
      service: 'baton-test',
      StepsCommitted: 1,
      StalledChains: 3,
      _aws: {
        CloudWatchMetrics: [
          {
            Namespace: 'Baton',
            Dimensions: [['service']],
            Metrics: [
              { Name: 'StepsCommitted', Unit: 'Count' },
              { Name: 'StalledChains', Unit: 'Count' },
            ],
          },
        ],
      },
    });
  });

  it('are counted anew after a flush, and nothing counted is nothing written', () => {
    const metrics = makeMetrics();
    metrics.count('StepsCommitted');
    metrics.flush();
    metrics.flush();
    expect(output.lines).toHaveLength(1);
  });
});
