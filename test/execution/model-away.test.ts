import { expect, test } from 'vitest';
import type { ModelClient, ModelOutcome } from '../../lib/model/model.ts';
import { AGENT, makeTenantEngine, ORG } from '../fuzz/support/engine.ts';

const HOUR = 3_600_000;

/** Never answers. */
const away = (outcome: Extract<ModelOutcome, { kind: 'retry' }>) => {
  let asked = 0;
  const client: ModelClient = {
    complete: async () => {
      asked++;
      return outcome;
    },
  };
  return { client, asked: () => asked };
};

test('a model that never answers is waited for an hour in all, by few calls; then the run stops with what it said last', async () => {
  const engine = await makeTenantEngine();
  const model = away({ kind: 'retry', code: 'model_unavailable', message: 'HTTP 503: overloaded', billed: false });
  const id = await engine.start(ORG, AGENT, { goals: ['Never mind.'], maxIterations: 1_000_000 });
  const began = engine.now();
  expect(await engine.drain(model.client)).toEqual([]);
  const stopped = await engine.execution(ORG, id);
  expect(stopped).toMatchObject({ status: 'ERROR_PAUSED', reason: 'model_unavailable', calls: 0, cost: 0 });
  expect(stopped.errorMessage).toMatch(/did not answer for 3\d{3} s of waiting; last: HTTP 503: overloaded/);
  expect(engine.now() - began).toBeGreaterThan(0.8 * HOUR);
  expect(engine.now() - began).toBeLessThan(1.2 * HOUR);
  expect(model.asked()).toBeLessThan(60);
  expect(engine.queued()).toBe(0);
});

test('a used-up quota is no outage: the run stops at the first answer', async () => {
  const engine = await makeTenantEngine();
  let asked = 0;
  const client: ModelClient = {
    complete: async () => {
      asked++;
      return { kind: 'stop', code: 'model_quota_exhausted', message: 'The quota is used up.' };
    },
  };
  const id = await engine.start(ORG, AGENT);
  await engine.drain(client);
  expect(await engine.execution(ORG, id)).toMatchObject({ status: 'ERROR_PAUSED', reason: 'model_quota_exhausted' });
  expect(asked).toBe(1);
});
