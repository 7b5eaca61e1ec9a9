import { randomBytes } from 'node:crypto';
import { makeCrowd } from '../execution/step/crowd.ts';
import type { StepDeps } from '../execution/step/deps.ts';
import { makeRowMemory } from '../execution/step/row-memory.ts';
import { ENV } from '../names.ts';
import { repositoryTools } from '../router/repository/tools.ts';
import { workerToolkit } from '../router/ticket/tools/all.ts';
import { allTools } from '../tools/toolkit.ts';
import { blobs, filesOf } from './bucket.ts';
import { clock, log, numberEnv, once, table } from './core.ts';
import { guardedFetch } from './egress.ts';
import { executionDeps } from './executions.ts';
import { modelClient, models } from './models.ts';
import { providerFor } from './providers.ts';
import { ticketDeps } from './tickets.ts';

/** A process wakes one after the other: ten of them see thirty in a second. */
const WAKES = { many: 3, withinMs: 1_000 };

/** All waits for the model of one step together; above it a person is asked. */
const MAX_WAIT_MS = 3_600_000;

export const stepDeps = once(
  (): StepDeps => ({
    ...executionDeps(),
    blobs: blobs(),
    memory: makeRowMemory(),
    crowd: makeCrowd(WAKES.many, WAKES.withinMs),
    models: modelClient(),
    resolveModel: models(),
    tools: new Map(
      [
        ...allTools,
        ...workerToolkit(ticketDeps()),
        ...repositoryTools({ table: table(), clock, log, provider: providerFor }),
      ].map((tool) => [tool.name, tool] as const),
    ),
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
