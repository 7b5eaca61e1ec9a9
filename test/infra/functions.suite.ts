import { describe, expect, it } from 'vitest';
import { GRANTS, type GrantResource } from '../../cdk/grants.ts';
import { ENV, FUNCTIONS, type FunctionName } from '../../lib/names.ts';
import { app, Synthesized } from './synthesized.ts';

const variables = (name: FunctionName): Record<string, unknown> =>
  app.fn(name).properties.Environment?.Variables as unknown as Record<string, unknown>;

describe('functions', () => {
  it('are the ones lib/names.ts lists, and no other', () => {
    const names = app.of('AWS::Lambda::Function').map(([, { Properties }]) => Properties.FunctionName);
    expect(names.toSorted()).toEqual(FUNCTIONS.map((name) => `baton-dev-${name}`).toSorted());
  });

  it.each(FUNCTIONS)(
    '%s runs on Node 24, arm64, as index.handler, and logs JSON to its own group, without lines that Lambda adds to what went well',
    (name) => {
      const group = app.named('AWS::Logs::LogGroup', 'LogGroupName', `/aws/lambda/baton-dev-${name}`);
      expect(group.properties.RetentionInDays).toBe(30);
      expect(app.fn(name).properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
        LoggingConfig: { LogFormat: 'JSON', SystemLogLevel: 'WARN', LogGroup: { Ref: group.id } },
      });
    },
  );

  it.each([
    ['api', 512, 30],
    ['step', 256, 900],
    ['effect', 256, 60],
    ['tick', 256, 60],
    ['sweep', 256, 120],
    ['dead-letter', 256, 60],
    ['run-agent', 256, 30],
    ['fire', 256, 30],
    ['bootstrap', 256, 30],
    ['ingest', 512, 10],
    ['resolve', 256, 60],
    ['assess', 256, 300],
  ] as const)('%s has %i MB and %i s', (name, memory, timeout) => {
    expect(app.fn(name).properties).toMatchObject({ MemorySize: memory, Timeout: timeout });
  });

  it('allow their own loop where they send to the queue they consume, and nowhere else', () => {
    const allowing = FUNCTIONS.filter((name) => app.fn(name).properties.RecursiveLoop !== undefined);
    expect(allowing.map((name) => [name, String(app.fn(name).properties.RecursiveLoop)])).toEqual([
      ['step', 'Allow'],
      ['effect', 'Allow'],
      ['fire', 'Allow'],
      ['assess', 'Allow'],
    ]);
    const looping = FUNCTIONS.filter((name) =>
      Object.values(GRANTS[name]).some(
        (actions) => actions.includes('sqs:SendMessage') && actions.includes('sqs:ReceiveMessage'),
      ),
    );
    expect(allowing).toEqual(looping);
  });

  it('have no reserved concurrency: new accounts have ten invocations at once in all', () => {
    for (const name of FUNCTIONS) {
      expect(app.fn(name).properties.ReservedConcurrentExecutions).toBeUndefined();
    }
  });
});

describe('environment', () => {
  it('of every function says stage and table, and turns source maps on', () => {
    const table = app.named('AWS::DynamoDB::GlobalTable', 'TableName', 'baton-dev').id;
    for (const name of FUNCTIONS) {
      expect(variables(name)).toMatchObject({
        [ENV.stage]: 'dev',
        [ENV.table]: { Ref: table },
        NODE_OPTIONS: '--enable-source-maps',
        POWERTOOLS_SERVICE_NAME: 'baton-dev',
      });
    }
  });

  it('of the step function points at the queues, the bucket and the parameters', () => {
    expect(variables('step')).toMatchObject({
      [ENV.stepQueueUrl]: { Ref: app.queue('steps').id },
      [ENV.effectQueueUrl]: { Ref: app.queue('effects').id },
      [ENV.bucket]: { Ref: app.of('AWS::S3::Bucket')[0]?.[0] },
      [ENV.stepDelaySeconds]: '2',
      [ENV.leaseSeconds]: '30',
      [ENV.egressAllow]: '',
      [ENV.modelParameter]: '/baton/dev/model',
      [ENV.secretPrefix]: '/baton/dev',
    });
  });

  it('names what the role reaches', () => {
    const names: [resource: GrantResource, action: string, variable: string][] = [
      ['stepQueue', 'sqs:SendMessage', ENV.stepQueueUrl],
      ['effectQueue', 'sqs:SendMessage', ENV.effectQueueUrl],
      ['fireQueue', 'sqs:SendMessage', ENV.fireQueueUrl],
      ['inboxQueue', 'sqs:SendMessage', ENV.inboxQueueUrl],
      ['inboxQueue', 'sqs:ChangeMessageVisibility', ENV.inboxQueueUrl],
      ['assessQueue', 'sqs:SendMessage', ENV.assessQueueUrl],
      ['assessQueue', 'sqs:ChangeMessageVisibility', ENV.assessQueueUrl],
      ['stepQueue', 'sqs:ChangeMessageVisibility', ENV.stepQueueUrl],
      ['effectQueue', 'sqs:ChangeMessageVisibility', ENV.effectQueueUrl],
      ['bucket/org/*', 's3:GetObject', ENV.bucket],
      ['bucket/org/*/source/*', 's3:PutObject', ENV.bucket],
      ['bucket/org/*/source/*', 's3:GetObject', ENV.bucket],
      ['bucket/parked/*', 's3:PutObject', ENV.bucket],
      ['bus', 'events:PutEvents', ENV.bus],
      ['parameter/model', 'ssm:GetParameter', ENV.modelParameter],
      ['parameter/org/*', 'ssm:GetParameter', ENV.secretPrefix],
      ['parameter/org/*/provider/*', 'ssm:GetParameter', ENV.secretPrefix],
      ['parameter/org/*/webhook/*', 'ssm:GetParameter', ENV.secretPrefix],
      ['parameter/org/*/source/*', 'ssm:GetParameter', ENV.secretPrefix],
    ];
    for (const name of FUNCTIONS) {
      const granted: { readonly [resource in GrantResource]?: readonly string[] } = GRANTS[name];
      const needed = names.filter(([resource, action]) => granted[resource]?.includes(action));
      expect([name, ...Object.keys(variables(name))]).toEqual(
        expect.arrayContaining([name, ...needed.map(([, , variable]) => variable)]),
      );
    }
  });

  it('holds names of secrets and no secret', () => {
    for (const name of FUNCTIONS) {
      const known = new Set<string>([...Object.values(ENV), 'NODE_OPTIONS', 'POWERTOOLS_SERVICE_NAME']);
      expect(Object.keys(variables(name)).filter((variable) => !known.has(variable))).toEqual([]);
    }
    const text = JSON.stringify(app.resources);
    expect(text).not.toMatch(/resolve:(secretsmanager|ssm)/);
    expect(app.of('AWS::SSM::Parameter')).toEqual([]);
    expect(app.of('AWS::SecretsManager::Secret')).toEqual([]);
  });

  it('follows the stage configuration', () => {
    const other = new Synthesized({
      context: { stepDelaySeconds: '0', leaseSeconds: 45, egressAllow: '10.0.0.5:8080' },
    });
    expect(other.fn('step').properties.Environment?.Variables).toMatchObject({
      [ENV.stepDelaySeconds]: '0',
      [ENV.leaseSeconds]: '45',
      [ENV.egressAllow]: '10.0.0.5:8080',
    });
  });
});
