/** What every function starts from: environment in, the ports that all of them use out. Each is made once and when first needed. */
import { dynamoDb, sqs } from '../aws/clients.ts';
import { makeQueue } from '../aws/queue.ts';
import { makeTable } from '../aws/table.ts';
import type { EffectMessage } from '../effect/effect.ts';
import type { StepMessage } from '../execution/message.ts';
import { type Ids, makeIds } from '../kernel/ids.ts';
import type { Clock } from '../kernel/ports.ts';
import { ENV } from '../names.ts';
import { makeLog } from '../observe/logger.ts';
import { makeMetrics } from '../observe/metrics.ts';
import type { AssessMessage, InboxMessage, PostingMessage } from '../router/message.ts';
import type { FireMessage } from '../schedule/message.ts';
import type { WebhookMessage } from '../webhook/message.ts';

export const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

/** @throws Error naming the variable that the template should have set */
export const env = (name: string): string => {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`The environment variable ${name} is missing.`);
  return value;
};

/** @throws Error naming the variable */
export const numberEnv = (name: string): number => {
  const value = Number(env(name));
  if (!Number.isFinite(value) || value < 0) {
    throw new Error(`The environment variable ${name} is not a number from 0 up.`);
  }
  return value;
};

export const clock: Clock = {
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
export const ids: Ids = makeIds();

export const table = once(() => makeTable({ client: dynamoDb(), tableName: env(ENV.table) }));
export const steps = once(() => makeQueue<StepMessage>({ client: sqs(), queueUrl: env(ENV.stepQueueUrl) }));
export const effects = once(() => makeQueue<EffectMessage>({ client: sqs(), queueUrl: env(ENV.effectQueueUrl) }));
/** Messages about webhooks, on the effect queue too. */
export const webhooks = once(() => makeQueue<WebhookMessage>({ client: sqs(), queueUrl: env(ENV.effectQueueUrl) }));
export const fires = once(() => makeQueue<FireMessage>({ client: sqs(), queueUrl: env(ENV.fireQueueUrl) }));
/** What wants to go out in discussions, on the effect queue too. */
export const postings = once(() => makeQueue<PostingMessage>({ client: sqs(), queueUrl: env(ENV.effectQueueUrl) }));
/** Deliveries of providers that wait for the resolver. */
export const inbox = once(() => makeQueue<InboxMessage>({ client: sqs(), queueUrl: env(ENV.inboxQueueUrl) }));
/** Threads with Triggers that wait for an Eval. */
export const assess = once(() => makeQueue<AssessMessage>({ client: sqs(), queueUrl: env(ENV.assessQueueUrl) }));
