import { randomBytes } from 'node:crypto';
import type { StepDeps } from '../execution/step/deps.ts';
import { ENV } from '../names.ts';
import { makeGuardedFetch } from '../net/guarded-fetch.ts';
import { makeModelClient } from '../openai/model-client.ts';
import { allTools } from '../tools/toolkit.ts';
import { blobs, filesOf } from './bucket.ts';
import { log, numberEnv, once } from './core.ts';
import { executionDeps } from './executions.ts';
import { models } from './models.ts';

const guardedFetch = once(() => {
  const allow = (process.env[ENV.egressAllow] ?? '').split(',').map((entry) => entry.trim());
  return makeGuardedFetch({ allow: allow.filter((entry) => entry !== '') });
});

/** All waits for the model of one step together; above it a person is asked. */
const MAX_WAIT_MS = 3_600_000;

export const stepDeps = once(
  (): StepDeps => ({
    ...executionDeps(),
    blobs: blobs(),
    models: makeModelClient({ guarded: guardedFetch(), log }),
    resolveModel: models(),
    tools: new Map(allTools.map((tool) => [tool.name, tool] as const)),
    filesOf,
    fetch: guardedFetch(),
    newOwner: () => randomBytes(9).toString('base64url'),
    random: Math.random,
    settings: {
      leaseMs: numberEnv(ENV.leaseSeconds) * 1000,
      stepDelaySeconds: numberEnv(ENV.stepDelaySeconds),
      maxWaitMs: MAX_WAIT_MS,
    },
  }),
);
