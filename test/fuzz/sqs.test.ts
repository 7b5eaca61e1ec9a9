import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { buryEffect } from '../../lib/effect/deliver.ts';
import { effectMessageSchema } from '../../lib/effect/effect.ts';
import { judgeDeadLetter } from '../../lib/execution/dead-letter.ts';
import { stepMessageSchema } from '../../lib/execution/message.ts';
import { processStep } from '../../lib/execution/step/process.ts';
import { sqsHandler } from '../../lib/middleware/sqs-handler.ts';
import { makeMemoryLog, makeMemoryMetrics } from '../support/memory-log.ts';
import { type Engine, makeTenantEngine, ORG } from './support/engine.ts';
import { runs, TEST_MS } from './support/runs.ts';

const context = { awsRequestId: 'request', getRemainingTimeInMillis: () => 900_000 } as unknown as Context;
const deadSchema = z.union([stepMessageSchema, effectMessageSchema]);

/** The step handler and the dead-letter handler as `functions/` puts them together, over ports in memory. */
const handlers = (engine: Engine, broken: boolean) => {
  const log = makeMemoryLog();
  const metrics = makeMemoryMetrics();
  const blobs = () => (broken ? { ...engine.blobs, put: () => Promise.reject(new Error('busy')) } : engine.blobs);
  const common = { log, metrics, blobs };
  const handled: string[] = [];
  const step = sqsHandler({
    ...common,
    parse: (body) => stepMessageSchema.parse(JSON.parse(body)),
    handle: async (message, record) => {
      handled.push(record.messageId);
      const { messageId, receiptHandle } = record;
      const receiveCount = Number(record.attributes.ApproximateReceiveCount);
      await processStep(engine.stepDeps(), message, { messageId, receiptHandle, receiveCount }, () => 840_000);
    },
  });
  const dead = sqsHandler({
    ...common,
    parse: (body) => deadSchema.parse(JSON.parse(body)),
    handle: async (message, record) => {
      handled.push(record.messageId);
      if ('effectId' in message) await buryEffect(engine.executionDeps(), message);
      else await judgeDeadLetter(engine.executionDeps(), message, record.messageId);
    },
  });
  return { step, dead, handled, metrics, log };
};

const id = fc.oneof(
  fc.constant(ORG),
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.constantFrom('#', 'a#EXEC#b', '\u0000', 'ü'),
);
const nearMessage = fc.record(
  {
    orgId: fc.oneof(id as fc.Arbitrary<unknown>, fc.constantFrom<unknown>('', 1, null)),
    executionId: fc.oneof(id as fc.Arbitrary<unknown>, fc.constantFrom<unknown>('', [], undefined)),
    seq: fc.oneof(fc.nat() as fc.Arbitrary<unknown>, fc.constantFrom<unknown>(0, -1, 1.5, '1', 1e300, 2 ** 53)),
    effectId: id,
    from: fc.integer(),
    summary: fc.integer(),
    more: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({ orgId: id, executionId: id, seq: fc.integer({ min: 1 }) })
      .map((value) => JSON.stringify(value)),
  },
  { weight: 2, arbitrary: fc.record({ orgId: id, effectId: id }).map((value) => JSON.stringify(value)) },
  { weight: 3, arbitrary: nearMessage.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  { weight: 1, arbitrary: fc.constantFrom('', '{', '[]', 'null', '['.repeat(10_000), '{"__proto__":{"orgId":"x"}}') },
);

const recordsOf = (bodies: readonly string[]): SQSRecord[] =>
  bodies.map(
    (text, n) =>
      ({
        messageId: `m${n}`,
        receiptHandle: `r${n}`,
        body: text,
        attributes: { ApproximateReceiveCount: '1' },
        messageAttributes: {},
        md5OfBody: '',
        eventSource: 'aws:sqs',
        eventSourceARN: 'arn:aws:sqs:eu-central-1:000000000000:steps',
        awsRegion: 'eu-central-1',
      }) as unknown as SQSRecord,
  );

const isGood = (schema: z.ZodType, text: string): boolean => {
  try {
    return schema.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
};

const parkedIds = (engine: Engine): string[] => engine.blobs.keys().map((key) => key.split('/').at(-1) ?? '');

describe.each(['step', 'dead'] as const)('the %s handler', (which) => {
  const schema = which === 'step' ? stepMessageSchema : deadSchema;

  it('parks what cannot be read and acks it; what names nothing is acked', { timeout: TEST_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(body, { maxLength: 10 }), async (bodies) => {
        const engine = await makeTenantEngine();
        const before = engine.table.dump();
        const { [which]: handler, handled, metrics } = handlers(engine, false);
        const records = recordsOf(bodies);
        const answer = (await handler({ Records: records } as SQSEvent, context)) as SQSBatchResponse;
        expect(answer.batchItemFailures).toEqual([]);
        const good = records.filter((record) => isGood(schema, record.body)).map(({ messageId }) => messageId);
        const bad = records.filter((record) => !isGood(schema, record.body)).map(({ messageId }) => messageId);
        expect(handled.toSorted()).toEqual(good.toSorted());
        expect(parkedIds(engine).toSorted()).toEqual(bad.toSorted());
        expect(metrics.flushed.reduce((sum, one) => sum + (one.MessagesParked ?? Object.values(one)[0] ?? 0), 0)).toBe(
          bad.length,
        );
        expect(engine.table.dump()).toEqual(before);
        expect(engine.queued()).toBe(0);
        for (const key of engine.blobs.keys()) {
          const bytes = await engine.blobs.get(key);
          const parked = JSON.parse(new TextDecoder().decode(bytes)) as { messageId: string; body: string };
          const record = records.find(({ messageId }) => messageId === parked.messageId);
          expect(parked.body.toWellFormed()).toBe(record?.body.toWellFormed());
        }
      }),
      runs(120),
    );
  });

  it('keeps what could not be parked: each identifier comes back once', { timeout: TEST_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(body, { maxLength: 10 }), async (bodies) => {
        const engine = await makeTenantEngine();
        const { [which]: handler } = handlers(engine, true);
        const records = recordsOf(bodies);
        const answer = (await handler({ Records: records } as SQSEvent, context)) as SQSBatchResponse;
        const bad = records.filter((record) => !isGood(schema, record.body)).map(({ messageId }) => messageId);
        expect(answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual(bad);
      }),
      runs(60),
    );
  });
});
