import { describe, expect, it } from 'vitest';
import { FUNCTION_SPECS } from '../../cdk/functions.ts';
import { app, Synthesized } from './synthesized.ts';

const DAY = 86_400;

describe('queues', () => {
  it('are five with their dead letters, and one for events that failed', () => {
    const names = app.of('AWS::SQS::Queue').map(([, { Properties }]) => Properties.QueueName);
    expect(names.toSorted()).toEqual(
      [
        'assess',
        'assess-dead',
        'effects',
        'effects-dead',
        'events-dead',
        'fires',
        'fires-dead',
        'inbox',
        'inbox-dead',
        'steps',
        'steps-dead',
      ].map((name) => `baton-dev-${name}`),
    );
  });

  it.each([
    ['steps', 'step'],
    ['effects', 'effect'],
    ['fires', 'fire'],
    ['inbox', 'resolve'],
    ['assess', 'assess'],
  ] as const)(
    '%s hides a message for six times the time-out of %s, keeps it four days and gives up after 20',
    (name, fn) => {
      expect(app.queue(name).properties).toMatchObject({
        VisibilityTimeout: 6 * FUNCTION_SPECS[fn].timeoutSeconds,
        MessageRetentionPeriod: 4 * DAY,
        RedrivePolicy: {
          maxReceiveCount: 20,
          deadLetterTargetArn: { 'Fn::GetAtt': [app.queue(`${name}-dead`).id, 'Arn'] },
        },
      });
    },
  );

  it.each(['steps-dead', 'effects-dead', 'fires-dead', 'inbox-dead', 'assess-dead'] as const)(
    '%s keeps a message 14 days and has no dead letters of its own',
    (name) => {
      expect(app.queue(name).properties).toMatchObject({
        VisibilityTimeout: 6 * FUNCTION_SPECS['dead-letter'].timeoutSeconds,
        MessageRetentionPeriod: 14 * DAY,
      });
      expect(app.queue(name).properties.RedrivePolicy).toBeUndefined();
    },
  );

  it('are standard ones: a first-in-first-out queue knows no delay of a single message', () => {
    for (const [, { Properties }] of app.of('AWS::SQS::Queue')) expect(Properties.FifoQueue).toBeUndefined();
  });

  it('are encrypted and refuse plain HTTP', () => {
    for (const [id, { Properties }] of app.of('AWS::SQS::Queue')) {
      expect(Properties.SqsManagedSseEnabled).toBe(true);
      const policy = app
        .of('AWS::SQS::QueuePolicy')
        .find(([, { Properties: p }]) => JSON.stringify(p.Queues).includes(id));
      const statements = policy?.[1].Properties.PolicyDocument?.Statement as unknown as Record<string, unknown>[];
      expect(statements[0]).toMatchObject({
        Effect: 'Deny',
        Action: 'sqs:*',
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      });
    }
  });
});

describe('event sources', () => {
  const source = (queue: string, fn: 'step' | 'effect' | 'fire' | 'resolve' | 'assess' | 'dead-letter') =>
    app
      .of('AWS::Lambda::EventSourceMapping')
      .filter(
        ([, { Properties }]) =>
          JSON.stringify(Properties.EventSourceArn) ===
            JSON.stringify({ 'Fn::GetAtt': [app.queue(queue).id, 'Arn'] }) &&
          JSON.stringify(Properties.FunctionName) === JSON.stringify({ Ref: app.fn(fn).id }),
      );

  it('are ten', () => {
    expect(app.of('AWS::Lambda::EventSourceMapping')).toHaveLength(10);
  });

  it.each([
    ['steps', 'step', 1, 10],
    ['effects', 'effect', 1, 5],
    ['fires', 'fire', 50, 5],
    ['inbox', 'resolve', 1, 5],
    ['assess', 'assess', 1, 5],
    ['steps-dead', 'dead-letter', 1, 2],
    ['effects-dead', 'dead-letter', 1, 2],
    ['fires-dead', 'dead-letter', 1, 2],
    ['inbox-dead', 'dead-letter', 1, 2],
    ['assess-dead', 'dead-letter', 1, 2],
  ] as const)(
    '%s feeds %s at most %i messages at a time, at most %i times at once, with partial failures',
    (queue, fn, batch, concurrency) => {
      const found = source(queue, fn);
      expect(found).toHaveLength(1);
      expect(found[0]?.[1].Properties).toMatchObject({
        BatchSize: batch,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency: concurrency },
      });
      expect(found[0]?.[1].Properties.Enabled).toBeUndefined();
    },
  );

  it('gather fires for a second, and nothing else', () => {
    const windows = app
      .of('AWS::Lambda::EventSourceMapping')
      .map(([, m]) => m.Properties.MaximumBatchingWindowInSeconds);
    expect(windows.filter((window) => window !== undefined)).toEqual([1]);
    expect(source('fires', 'fire')[0]?.[1].Properties.MaximumBatchingWindowInSeconds).toBe(1);
  });

  it('wait for the role that may receive', () => {
    for (const [, mapping] of app.of('AWS::Lambda::EventSourceMapping')) {
      const policies = (mapping.DependsOn ?? []).filter((id) => app.resources[id]?.Type === 'AWS::IAM::Policy');
      expect(policies).toHaveLength(1);
    }
  });

  it('follow the stage configuration', () => {
    const other = new Synthesized({ context: { stepConcurrency: '2', effectConcurrency: '1000' } });
    const caps = other.of('AWS::Lambda::EventSourceMapping').map(([, m]) => m.Properties.ScalingConfig);
    expect(caps).toEqual(expect.arrayContaining([{ MaximumConcurrency: 2 }, { MaximumConcurrency: 1_000 }]));
  });
});
