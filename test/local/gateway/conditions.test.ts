import { describe, expect, it } from 'vitest';
import { compileConditions } from '../../../local/gateway/access/conditions.ts';
import { arnLike, wildcard } from '../../../local/gateway/access/patterns.ts';
import { Policy } from '../../../local/gateway/access/policy.ts';
import { mergeUsage, Usage } from '../../../local/gateway/access/usage.ts';
import { allow, deny } from './cloud.ts';

describe('wildcards', () => {
  it.each([
    ['*', 'anything:/at\nall', true],
    ['arn:aws:s3:::b/*', 'arn:aws:s3:::b/a/b', true],
    ['arn:aws:s3:::b/*', 'arn:aws:s3:::b', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['a.c', 'abc', false],
    ['(a|b)+', 'a', false],
    ['', 'a', false],
  ])('%s against %s: %s', (pattern, text, expected) => {
    expect(wildcard(pattern)(text)).toBe(expected);
  });

  it('a star of ArnLike stays within its part', () => {
    const matches = arnLike('arn:aws:sqs:*:000000000000:work*');
    expect(matches('arn:aws:sqs:us-east-1:000000000000:work-a:b')).toBe(true);
    expect(matches('arn:aws:sqs:us-east-1:111111111111:000000000000:work')).toBe(false);
  });
});

describe('conditions', () => {
  const judge = (conditions: Parameters<typeof compileConditions>[0], context: { [key: string]: string[] }) =>
    compileConditions(conditions)(new Map(Object.entries(context)));
  const prefix = (operator: string, ...values: string[]) => ({ [operator]: { 's3:Prefix': values } });

  it.each([
    ['StringEquals', ['a', 'b'], ['b'], true],
    ['StringEquals', ['a'], ['A'], false],
    ['StringEquals', ['a'], [], false],
    ['StringEqualsIgnoreCase', ['a'], ['A'], true],
    ['StringNotEquals', ['a'], ['b'], true],
    ['StringNotEquals', ['a', 'b'], ['b'], false],
    ['StringNotEquals', ['a'], [], true],
    ['StringLike', ['a*'], ['abc'], true],
    ['StringNotLike', ['a*'], ['abc'], false],
    ['StringEqualsIfExists', ['a'], [], true],
    ['StringEqualsIfExists', ['a'], ['b'], false],
    ['ForAllValues:StringEquals', ['a', 'b'], ['a', 'b'], true],
    ['ForAllValues:StringEquals', ['a'], ['a', 'b'], false],
    ['ForAllValues:StringEquals', ['a'], [], true],
    ['ForAnyValue:StringEquals', ['a'], ['a', 'b'], true],
    ['ForAnyValue:StringEquals', ['a'], [], false],
    ['Null', ['true'], [], true],
    ['Null', ['false'], [], false],
    ['Null', ['false'], ['a'], true],
    ['Bool', ['TRUE'], ['true'], true],
    ['ArnEquals', ['arn:aws:s3:::*'], ['arn:aws:s3:::b'], true],
    ['NumericLessThan', ['5'], ['3'], undefined],
    ['toString', ['5'], ['3'], undefined],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a policy variable of IAM
    ['StringEquals', ['${aws:username}'], ['a'], undefined],
  ])('%s %j against %j: %s', (operator, values, given, expected) => {
    expect(judge(prefix(operator, ...values), given.length === 0 ? {} : { 's3:prefix': given })).toBe(expected);
  });

  it('a key that the gateway does not fill in cannot be judged', () => {
    expect(judge({ StringEquals: { 'aws:SourceIp': ['127.0.0.1'] } }, {})).toBeUndefined();
  });

  it('all operators must hold; one that fails settles it', () => {
    const both = { StringLike: { 's3:prefix': ['a*'] }, StringNotEquals: { 's3:prefix': ['ab'] } };
    expect(judge(both, { 's3:prefix': ['ac'] })).toBe(true);
    expect(judge(both, { 's3:prefix': ['ab'] })).toBe(false);
  });
});

describe('policies', () => {
  const ask = { action: 'sqs:SendMessage', resource: 'arn:q', context: new Map<string, string[]>() };
  const unknown = { NumericLessThan: { 's3:max-keys': ['5'] } };

  it('what cannot be judged fails closed on both sides', () => {
    expect(new Policy([allow(['sqs:*'], ['*'], unknown)]).decide(ask)).toEqual({ allowed: false, explicit: false });
    const policy = new Policy([allow(['sqs:*'], ['*']), deny(['sqs:*'], ['*'], unknown)]);
    expect(policy.decide(ask)).toEqual({ allowed: false, explicit: true });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a policy variable of IAM
    const variable = new Policy([allow(['sqs:*'], ['arn:${aws:username}'])]);
    expect(variable.decide(ask).allowed).toBe(false);
  });

  it('actions are matched whatever their case, resources are not', () => {
    expect(new Policy([allow(['SQS:sendmessage'], ['arn:q'])]).decide(ask).allowed).toBe(true);
    expect(new Policy([allow(['sqs:SendMessage'], ['ARN:q'])]).decide(ask).allowed).toBe(false);
  });

  it('a decision under conditions is made anew for each context', () => {
    const policy = new Policy([allow(['s3:ListBucket'], ['b'], { StringEquals: { 's3:prefix': ['a'] } })]);
    const list = (prefix: string) => ({
      action: 's3:ListBucket',
      resource: 'b',
      context: new Map([['s3:prefix', [prefix]]]),
    });
    expect(policy.decide(list('a')).allowed).toBe(true);
    expect(policy.decide(list('b')).allowed).toBe(false);
    expect(policy.decide(list('a')).allowed).toBe(true);
  });
});

describe('usage over several runs', () => {
  const run = (actions: string[], used: string[]) => {
    const usage = new Usage();
    usage.add('R', [allow(actions, ['arn:q'])]);
    usage.add('operator', 'everything');
    for (const action of used) usage.granted('R', [{ statement: 0, action }]);
    usage.refused('R', { action: 'sqs:PurgeQueue', resource: 'arn:q', context: new Map() });
    return usage.report();
  };

  it('adds up, through JSON, and forgets what is no longer granted', () => {
    const first = JSON.parse(JSON.stringify(run(['sqs:SendMessage', 'sqs:DeleteMessage'], ['sqs:SendMessage'])));
    const merged = mergeUsage(first, run(['sqs:SendMessage', 'sqs:ReceiveMessage'], ['sqs:SendMessage']));
    expect(merged.grants.map(({ action, calls }) => [action, calls])).toEqual([
      ['sqs:SendMessage', 2],
      ['sqs:ReceiveMessage', 0],
    ]);
    expect(merged.neverUsed.map(({ action }) => action)).toEqual(['sqs:ReceiveMessage']);
    expect(merged.refused).toEqual([{ role: 'R', action: 'sqs:PurgeQueue', resource: 'arn:q', calls: 2 }]);
  });

  it('does not complain of grants it cannot see in use', () => {
    expect(run(['logs:PutLogEvents', 'sqs:SendMessage'], []).neverUsed.map(({ action }) => action)).toEqual([
      'sqs:SendMessage',
    ]);
  });
});
