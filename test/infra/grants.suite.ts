import { describe, expect, it } from 'vitest';
import { GRANTS, type GrantResource } from '../../cdk/grants.ts';
import { FUNCTIONS, type FunctionName } from '../../lib/names.ts';
import { app, flat, list, Synthesized } from './synthesized.ts';

const table = app.named('AWS::DynamoDB::GlobalTable', 'TableName', 'baton-dev').id;
const bucket = app.of('AWS::S3::Bucket')[0]?.[0];
const bus = app.named('AWS::Events::EventBus', 'Name', 'baton-dev').id;
const parameter = (name: string) =>
  `arn:<AWS::Partition>:ssm:<AWS::Region>:<AWS::AccountId>:parameter/baton/dev/${name}`;

/** Written out here, apart from the code that makes the ARNs. */
const ARNS: { readonly [resource in GrantResource]: string } = {
  table: `<${table}.Arn>`,
  'table/index/byOwner': `<${table}.Arn>/index/byOwner`,
  'table/index/due': `<${table}.Arn>/index/due`,
  stepQueue: `<${app.queue('steps').id}.Arn>`,
  effectQueue: `<${app.queue('effects').id}.Arn>`,
  stepDeadQueue: `<${app.queue('steps-dead').id}.Arn>`,
  effectDeadQueue: `<${app.queue('effects-dead').id}.Arn>`,
  fireQueue: `<${app.queue('fires').id}.Arn>`,
  fireDeadQueue: `<${app.queue('fires-dead').id}.Arn>`,
  inboxQueue: `<${app.queue('inbox').id}.Arn>`,
  inboxDeadQueue: `<${app.queue('inbox-dead').id}.Arn>`,
  assessQueue: `<${app.queue('assess').id}.Arn>`,
  assessDeadQueue: `<${app.queue('assess-dead').id}.Arn>`,
  eventDeadQueue: `<${app.queue('events-dead').id}.Arn>`,
  bucket: `<${bucket}.Arn>`,
  'bucket/org/*': `<${bucket}.Arn>/org/*`,
  'bucket/org/*/source/*': `<${bucket}.Arn>/org/*/source/*`,
  'bucket/parked/*': `<${bucket}.Arn>/parked/*`,
  bus: `<${bus}.Arn>`,
  'parameter/model': parameter('model'),
  'parameter/org/*': parameter('org/*'),
  'parameter/org/*/provider/*': parameter('org/*/provider/*'),
  'parameter/org/*/webhook/*': parameter('org/*/webhook/*'),
  'parameter/org/*/source/*': parameter('org/*/source/*'),
};

interface Statement {
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource: unknown;
}

function statementsOf(name: FunctionName): Statement[] {
  const role = flat(app.fn(name).properties.Role).replace(/^<(.*)\.Arn>$/, '$1');
  expect(app.resources[role]?.Type).toBe('AWS::IAM::Role');
  expect(app.resources[role]?.Properties.ManagedPolicyArns).toBeUndefined();
  expect(app.resources[role]?.Properties.Policies).toBeUndefined();
  return app
    .of('AWS::IAM::Policy')
    .filter(([, policy]) => list(policy.Properties.Roles).map(flat).includes(`<${role}>`))
    .flatMap(([, policy]) => list(policy.Properties.PolicyDocument?.Statement) as Statement[]);
}

const pairs = (statement: Statement): string[] =>
  list(statement.Action).flatMap((action) =>
    list(statement.Resource).map((resource) => `${action} on ${flat(resource)}`),
  );

describe('roles', () => {
  it.each(FUNCTIONS)('%s may do what the grant table says, write its own log, and nothing else', (name) => {
    const statements = statementsOf(name);
    expect(statements.map(({ Effect }) => Effect)).toEqual(statements.map(() => 'Allow'));
    const log = app.named('AWS::Logs::LogGroup', 'LogGroupName', `/aws/lambda/baton-dev-${name}`).id;
    const rows = Object.entries(GRANTS[name]) as [GrantResource, readonly string[]][];
    const granted = rows.flatMap(([resource, actions]) => actions.map((action) => `${action} on ${ARNS[resource]}`));
    expect(statements.flatMap(pairs).toSorted()).toEqual(
      [`logs:CreateLogStream on <${log}.Arn>`, `logs:PutLogEvents on <${log}.Arn>`, ...granted].toSorted(),
    );
  });

  it('are one a function', () => {
    const roles = FUNCTIONS.map((name) => flat(app.fn(name).properties.Role));
    expect(new Set(roles).size).toBe(FUNCTIONS.length);
    expect(app.of('AWS::IAM::Role')).toHaveLength(FUNCTIONS.length);
  });

  it('take away one grant and exactly that one is gone from the template', () => {
    const without = new Synthesized({
      grants: { ...GRANTS, effect: { ...GRANTS.effect, bus: [] } },
    });
    const puts = JSON.stringify(without.of('AWS::IAM::Policy')).match(/events:PutEvents/g);
    expect(puts).toBeNull();
    expect(JSON.stringify(app.of('AWS::IAM::Policy')).match(/events:PutEvents/g)).toHaveLength(1);
  });
});

describe('every policy of the stack', () => {
  const all = app
    .of('AWS::IAM::Policy')
    .flatMap(([, policy]) => list(policy.Properties.PolicyDocument?.Statement) as Statement[]);

  it('names its actions', () => {
    const actions = all.flatMap(({ Action }) => list(Action) as string[]);
    expect(actions.length).toBeGreaterThan(30);
    expect(actions.filter((action) => action.includes('*'))).toEqual([]);
    expect(actions.filter((action) => /Scan|PartiQL|Batch(Write)|DeleteTable|PassRole/.test(action))).toEqual([]);
  });

  it('names its resources but for the seven prefixes', () => {
    const wild = new Set(all.flatMap(({ Resource }) => list(Resource).map(flat)).filter((arn) => arn.includes('*')));
    expect([...wild].toSorted()).toEqual(
      [
        ARNS['bucket/org/*'],
        ARNS['bucket/org/*/source/*'],
        ARNS['bucket/parked/*'],
        ARNS['parameter/org/*'],
        ARNS['parameter/org/*/provider/*'],
        ARNS['parameter/org/*/webhook/*'],
        ARNS['parameter/org/*/source/*'],
      ].toSorted(),
    );
  });

  it('gives an index to those who query it, and only to query', () => {
    const indexed = all.filter(({ Resource }) => list(Resource).some((arn) => flat(arn).includes('/index/')));
    expect(indexed.flatMap(({ Action }) => list(Action))).toEqual(indexed.map(() => 'dynamodb:Query'));
  });

  it('lets nobody delete objects, and list the bucket only those who read from it', () => {
    expect(JSON.stringify(all)).not.toMatch(/s3:Delete/);
    const may = (action: string) => FUNCTIONS.filter((name) => JSON.stringify(statementsOf(name)).includes(action));
    expect(may('s3:ListBucket')).toEqual(may('s3:GetObject'));
    expect(may('s3:ListBucket')).toEqual(['api', 'step', 'resolve']);
  });
});
