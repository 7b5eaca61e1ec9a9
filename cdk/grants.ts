/**
 * What each function may do, and nothing else: no wildcard actions, no Scan, an index only where it is used. A row is
 * `resource: actions`; `cdk/constructs/grant.ts` turns rows into statements, `test/infra/grants.test.ts` compares them with
 * the template role by role. Transactions need the actions of the items they hold (TransactWriteItems has none of its own).
 * Lambda itself receives and deletes messages with the consumer's role.
 */
import type { FunctionName } from '../lib/names.ts';

export type GrantResource =
  | 'table'
  | 'table/index/byOwner'
  | 'table/index/due'
  | 'stepQueue'
  | 'effectQueue'
  | 'stepDeadQueue'
  | 'effectDeadQueue'
  | 'eventDeadQueue'
  | 'bucket'
  | 'bucket/org/*'
  | 'bucket/parked/*'
  | 'bus'
  | 'parameter/model'
  | 'parameter/org/*';

export type Grants = { readonly [resource in GrantResource]?: readonly `${string}:${string}`[] };

/** S3 says "no such object" only to those who may list the bucket; to others it says that access is denied. */
const TELL_MISSING = ['s3:ListBucket'] as const;
const CONSUME = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'] as const;

export const GRANTS: { readonly [name in FunctionName]: Grants } = {
  api: {
    table: [
      'dynamodb:GetItem',
      'dynamodb:BatchGetItem',
      'dynamodb:Query',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'dynamodb:DeleteItem',
      'dynamodb:ConditionCheckItem',
    ],
    'table/index/byOwner': ['dynamodb:Query'],
    stepQueue: ['sqs:SendMessage'],
    effectQueue: ['sqs:SendMessage'],
    bucket: TELL_MISSING,
    'bucket/org/*': ['s3:GetObject'],
    'parameter/model': ['ssm:GetParameter'],
    'parameter/org/*': ['ssm:GetParameter', 'ssm:PutParameter', 'ssm:DeleteParameter'],
  },
  step: {
    table: ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
    stepQueue: ['sqs:SendMessage', ...CONSUME, 'sqs:ChangeMessageVisibility'],
    effectQueue: ['sqs:SendMessage'],
    bucket: TELL_MISSING,
    'bucket/org/*': ['s3:GetObject', 's3:PutObject'],
    'bucket/parked/*': ['s3:PutObject'],
    'parameter/model': ['ssm:GetParameter'],
    'parameter/org/*': ['ssm:GetParameter'],
  },
  effect: {
    table: ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
    // It waits by visibility and sends nothing to its own queue.
    effectQueue: [...CONSUME, 'sqs:ChangeMessageVisibility'],
    'bucket/parked/*': ['s3:PutObject'],
    bus: ['events:PutEvents'],
  },
  tick: {
    table: ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
    'table/index/due': ['dynamodb:Query'],
    stepQueue: ['sqs:SendMessage'],
  },
  sweep: {
    table: ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
    'table/index/due': ['dynamodb:Query'],
    stepQueue: ['sqs:SendMessage'],
    effectQueue: ['sqs:SendMessage'],
  },
  'dead-letter': {
    // PutItem: a change of status writes its effects in the same transaction.
    table: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
    stepQueue: ['sqs:SendMessage'],
    effectQueue: ['sqs:SendMessage'],
    stepDeadQueue: CONSUME,
    effectDeadQueue: CONSUME,
    'bucket/parked/*': ['s3:PutObject'],
  },
  'run-agent': {
    table: ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:PutItem', 'dynamodb:ConditionCheckItem'],
    stepQueue: ['sqs:SendMessage'],
    effectQueue: ['sqs:SendMessage'],
    // A run reserves its first call, so the price of its model has to be known.
    'parameter/model': ['ssm:GetParameter'],
    'parameter/org/*': ['ssm:GetParameter'],
    // Where Lambda puts an event that this function failed on three times.
    eventDeadQueue: ['sqs:SendMessage'],
  },
  bootstrap: { table: ['dynamodb:GetItem', 'dynamodb:PutItem'] },
};
