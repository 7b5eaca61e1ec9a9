/** The one place where ports meet adapters: environment in, dependencies out, each made once and when first needed. */
import { randomBytes } from 'node:crypto';
import { makeBlobs } from './aws/blobs.ts';
import { makeBus } from './aws/bus.ts';
import { cachedSecrets } from './aws/cached.ts';
import { dynamoDb, eventBridge, s3, sqs, ssm } from './aws/clients.ts';
import { makeQueue } from './aws/queue.ts';
import { makeSecrets } from './aws/secrets.ts';
import { makeTable } from './aws/table.ts';
import type { EffectDeps } from './effect/deliver.ts';
import type { EffectMessage } from './effect/effect.ts';
import { statusEvents } from './effect/status-events.ts';
import type { StepMessage } from './execution/message.ts';
import type { ExecutionDeps, ResolvedModel, StepDeps } from './execution/step/deps.ts';
import type { ApiDeps } from './http/deps.ts';
import { makeExecutionService } from './http/executions/service.ts';
import { type Ids, makeIds } from './kernel/ids.ts';
import type { Blobs, Clock } from './kernel/ports.ts';
import { priceOf } from './model/prices.ts';
import { ENV } from './names.ts';
import { makeGuardedFetch } from './net/guarded-fetch.ts';
import { makeLog } from './observe/logger.ts';
import { makeMetrics } from './observe/metrics.ts';
import { makeModelClient } from './openai/model-client.ts';
import { makeFiles } from './resource/files.ts';
import { makeAuthenticator } from './tenancy/authenticate.ts';
import { resolveModel } from './tenancy/resolve-model.ts';
import { toolSpec } from './tools/spec.ts';
import { allTools } from './tools/toolkit.ts';

const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

/** @throws Error naming the variable that the template should have set */
const env = (name: string): string => {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`The environment variable ${name} is missing.`);
  return value;
};

const numberEnv = (name: string): number => {
  const value = Number(env(name));
  if (!Number.isFinite(value) || value < 0)
    throw new Error(`The environment variable ${name} is not a number from 0 up.`);
  return value;
};

const clock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal?.addEventListener('abort', end);
    }),
};

export const log = makeLog();
export const metrics = makeMetrics();
const ids: Ids = makeIds();

const table = once(() => makeTable({ client: dynamoDb(), tableName: env(ENV.table) }));
export const blobs = once((): Blobs => makeBlobs({ client: s3(), bucket: env(ENV.bucket) }));
const steps = once(() => makeQueue<StepMessage>({ client: sqs(), queueUrl: env(ENV.stepQueueUrl) }));
const effects = once(() => makeQueue<EffectMessage>({ client: sqs(), queueUrl: env(ENV.effectQueueUrl) }));
const secrets = once(() => cachedSecrets(makeSecrets({ client: ssm(), prefix: env(ENV.secretPrefix) }), clock));
const guardedFetch = once(() => {
  const allow = (process.env[ENV.egressAllow] ?? '').split(',').map((entry) => entry.trim());
  return makeGuardedFetch({ allow: allow.filter((entry) => entry !== '') });
});

const RESOLVED_FOR_MS = 30_000;

/** Which model answers, remembered for half a minute: every step asks. */
const models = once(() => {
  const remembered = new Map<string, { readonly until: number; readonly value: Promise<ResolvedModel | undefined> }>();
  const look = async (orgId: string, name: string | undefined): Promise<ResolvedModel | undefined> => {
    const found = await resolveModel({ table: table(), secrets: secrets() }, orgId, name);
    return found && { account: found.account, model: found.model, price: priceOf(found.model, found.overrides) };
  };
  return async (
    orgId: string,
    name: string | undefined,
    options: { readonly fresh?: boolean } = {},
  ): Promise<ResolvedModel | undefined> => {
    const key = `${orgId} ${name ?? ''}`;
    if (options.fresh === true) {
      secrets().forgetAll();
      remembered.delete(key);
    }
    const known = remembered.get(key);
    if (known !== undefined && known.until > clock.now()) return known.value;
    const value = look(orgId, name);
    if (remembered.size > 1_000) remembered.clear();
    remembered.set(key, { until: clock.now() + RESOLVED_FOR_MS, value });
    // A failed or empty answer is asked again.
    value.then((found) => found ?? remembered.delete(key)).catch(() => remembered.delete(key));
    return value;
  };
});

const filesOf = (orgId: string, executionId: string) =>
  makeFiles({ table: table(), blobs: blobs(), clock, orgId, executionId });

const upper = once(() => statusEvents({ effects: effects(), log }));

/** What the clock and the dead letters need: no model, no tools, no bucket. */
export const executionDeps = once((): ExecutionDeps & { readonly effects: EffectDeps['effects'] } => ({
  table: table(),
  steps: steps(),
  effects: effects(),
  clock,
  log,
  metrics,
  upper: upper(),
}));

export const startDeps = once(() => ({ ...executionDeps(), ids, resolveModel: models() }));

export const stepDeps = once((): StepDeps => {
  return {
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
      maxWaitMs: 3_600_000,
    },
  };
});

export const effectDeps = once(
  (): EffectDeps => ({
    table: table(),
    clock,
    log,
    effects: effects(),
    bus: makeBus({ client: eventBridge(), busName: env(ENV.bus) }),
  }),
);

export const bootstrapDeps = once(() => ({ table: table(), ids, clock }));

export const apiDeps = once((): ApiDeps => {
  const executions = makeExecutionService({
    ...startDeps(),
    blobs: blobs(),
    filesOf,
    modelConfigured: async (orgId) => (await models()(orgId, undefined)) !== undefined,
  });
  return {
    table: table(),
    secrets: secrets(),
    clock,
    ids,
    log,
    authenticator: makeAuthenticator({ table: table(), clock }),
    executions,
    tools: allTools.map((tool) => ({ ...toolSpec(tool), effect: describedEffect(tool.name) })),
    workflows: ['goal'],
  };
});

const describedEffect = (name: string): ApiDeps['tools'][number]['effect'] => {
  const tool = allTools.find((each) => each.name === name);
  if (tool === undefined || name === 'http_request') return 'depends';
  return tool.effect({}, {});
};
