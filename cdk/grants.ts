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
  | 'fireQueue'
  | 'fireDeadQueue'
  | 'eventDeadQueue'
  | 'bucket'
  | 'bucket/org/*'
  | 'bucket/parked/*'
  | 'bus'
  | 'parameter/model'
  | 'parameter/org/*'
  | 'parameter/org/*/webhook/*';

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
    fireQueue: ['sqs:SendMessage'],
    bucket: TELL_MISSING,
    'bucket/org/*': ['s3:GetObject'],
    'parameter/model': ['ssm:GetParameter'],
    'parameter/org/*': ['ssm:GetParameter', 'ssm:PutParameter', 'ssm:DeleteParameter'],
  },
  step: {
    // ConditionCheckItem: a run that a call starts needs its agent, and its parent sleeps only while it is open.
    table: [
      'dynamodb:GetItem',
      'dynamodb:Query',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'dynamodb:ConditionCheckItem',
    ],
    stepQueue: ['sqs:SendMessage', ...CONSUME, 'sqs:ChangeMessageVisibility'],
    effectQueue: ['sqs:SendMessage'],
    // The end of a scheduled run wakes its schedule.
    fireQueue: ['sqs:SendMessage'],
    bucket: TELL_MISSING,
    'bucket/org/*': ['s3:GetObject', 's3:PutObject'],
    'bucket/parked/*': ['s3:PutObject'],
    'parameter/model': ['ssm:GetParameter'],
    'parameter/org/*': ['ssm:GetParameter'],
  },
  effect: {
    table: [
      'dynamodb:GetItem',
      'dynamodb:BatchGetItem',
      'dynamodb:Query',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'dynamodb:DeleteItem',
      'dynamodb:ConditionCheckItem',
    ],
    // An event becomes a message for each webhook, and a failed attempt the message of the next one (docs/adr/0035).
    effectQueue: ['sqs:SendMessage', ...CONSUME, 'sqs:ChangeMessageVisibility'],
    // The end of a run wakes the run that started it.
    stepQueue: ['sqs:SendMessage'],
    'parameter/org/*/webhook/*': ['ssm:GetParameter'],
    'bucket/parked/*': ['s3:PutObject'],
    bus: ['events:PutEvents'],
  },
  tick: {
    // PutItem and DeleteItem: a permission that expires moves its run, which writes effects and closes attention items.
    table: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'],
    'table/index/due': ['dynamodb:Query'],
    stepQueue: ['sqs:SendMessage'],
    fireQueue: ['sqs:SendMessage'],
    effectQueue: ['sqs:SendMessage'],
  },
  sweep: {
    table: ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
    'table/index/due': ['dynamodb:Query'],
    stepQueue: ['sqs:SendMessage'],
    effectQueue: ['sqs:SendMessage'],
  },
  'dead-letter': {
    // PutItem: a change of status writes its effects in the same transaction.
    // DeleteItem: it closes attention items, and takes what it gives up from behind a webhook's gate.
    table: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'],
    stepQueue: ['sqs:SendMessage'],
    effectQueue: ['sqs:SendMessage'],
    fireQueue: ['sqs:SendMessage'],
    stepDeadQueue: CONSUME,
    effectDeadQueue: CONSUME,
    fireDeadQueue: CONSUME,
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
  fire: {
    table: [
      'dynamodb:GetItem',
      'dynamodb:Query',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'dynamodb:ConditionCheckItem',
    ],
    stepQueue: ['sqs:SendMessage'],
    effectQueue: ['sqs:SendMessage'],
    fireQueue: ['sqs:SendMessage', ...CONSUME, 'sqs:ChangeMessageVisibility'],
    'bucket/parked/*': ['s3:PutObject'],
    // As for run-agent: the price of the model has to be known.
    'parameter/model': ['ssm:GetParameter'],
    'parameter/org/*': ['ssm:GetParameter'],
  },
  bootstrap: { table: ['dynamodb:GetItem', 'dynamodb:PutItem'] },
};
