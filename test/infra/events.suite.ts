import { describe, expect, it } from 'vitest';
import { BUS, RULES } from '../../lib/names.ts';
import { app } from './synthesized.ts';

const rule = (name: string) => app.named('AWS::Events::Rule', 'Name', `baton-dev-${name}`);
const arnOf = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });

describe('the clock', () => {
  it.each([
    [RULES.tick, 'tick', 'rate(1 minute)'],
    [RULES.sweep, 'sweep', 'rate(5 minutes)'],
  ] as const)('rule %s calls %s at %s and does not make up for missed rounds', (name, fn, schedule) => {
    expect(rule(name).properties).toMatchObject({
      ScheduleExpression: schedule,
      State: 'ENABLED',
      Targets: [{ Arn: arnOf(app.fn(fn).id), RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 } }],
    });
    const async = app
      .of('AWS::Lambda::EventInvokeConfig')
      .find(([, { Properties }]) => JSON.stringify(Properties.FunctionName).includes(app.fn(fn).id));
    expect(async?.[1].Properties).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 });
  });

  it('has two rules and the bus one', () => {
    expect(app.of('AWS::Events::Rule')).toHaveLength(3);
  });
});

describe('the bus', () => {
  const bus = app.named('AWS::Events::EventBus', 'Name', 'baton-dev').id;

  it('hands events of type "Run Agent" from any source to run-agent, with dead letters', () => {
    const { properties } = rule('run-agent');
    expect(properties.EventPattern).toEqual({ 'detail-type': [BUS.runAgent] });
    expect(properties).toMatchObject({
      EventBusName: { Ref: bus },
      State: 'ENABLED',
      Targets: [{ Arn: arnOf(app.fn('run-agent').id), DeadLetterConfig: { Arn: arnOf(app.queue('events-dead').id) } }],
    });
  });

  it('keeps what the function itself failed on', () => {
    const config = app
      .of('AWS::Lambda::EventInvokeConfig')
      .find(([, { Properties }]) => JSON.stringify(Properties.FunctionName).includes(app.fn('run-agent').id));
    expect(config?.[1].Properties).toMatchObject({
      Qualifier: '$LATEST',
      MaximumRetryAttempts: 2,
      DestinationConfig: { OnFailure: { Destination: arnOf(app.queue('events-dead').id) } },
    });
  });

  it('lets only its own rule write dead letters', () => {
    const policy = app
      .of('AWS::SQS::QueuePolicy')
      .find(([, { Properties }]) => JSON.stringify(Properties.Queues).includes(app.queue('events-dead').id));
    const statements = policy?.[1].Properties.PolicyDocument?.Statement as unknown as { Effect: string }[];
    expect(statements.filter(({ Effect }) => Effect === 'Allow')).toMatchObject([
      {
        Action: 'sqs:SendMessage',
        Principal: { Service: 'events.amazonaws.com' },
        Condition: { ArnEquals: { 'aws:SourceArn': arnOf(rule('run-agent').id) } },
      },
    ]);
  });
});

describe('who may invoke which function', () => {
  const permissions = app.of('AWS::Lambda::Permission').map(([, { Properties }]) => Properties);

  it.each(['tick', 'sweep', 'run-agent'] as const)('EventBridge may invoke %s, by its own rule only', (fn) => {
    const own = permissions.filter((p) => JSON.stringify(p.FunctionName).includes(`"${app.fn(fn).id}"`));
    expect(own).toMatchObject([
      { Action: 'lambda:InvokeFunction', Principal: 'events.amazonaws.com', SourceArn: arnOf(rule(fn).id) },
    ]);
  });

  it.each(['step', 'effect', 'dead-letter', 'bootstrap', 'resolve', 'assess'] as const)(
    'nobody but the account may invoke %s',
    (fn) => {
      expect(permissions.filter((p) => JSON.stringify(p.FunctionName).includes(`"${app.fn(fn).id}"`))).toEqual([]);
    },
  );

  it('every permission names its source', () => {
    expect(permissions.length).toBeGreaterThan(5);
    for (const permission of permissions) expect(permission.SourceArn).toBeDefined();
  });
});
