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
  | 'inboxQueue'
  | 'inboxDeadQueue'
  | 'assessQueue'
  | 'assessDeadQueue'
  | 'eventDeadQueue'
  | 'bucket'
  | 'bucket/org/*'
  | 'bucket/org/*/source/*'
  | 'bucket/parked/*'
  | 'bus'
  | 'parameter/model'
  | 'parameter/org/*'
  | 'parameter/org/*/provider/*'
  | 'parameter/org/*/webhook/*'
  | 'parameter/org/*/source/*';

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
    // BatchGetItem: a worker's page of what is going on, with the index below.
    table: [
      'dynamodb:GetItem',
      'dynamodb:BatchGetItem',
      'dynamodb:Query',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'dynamodb:ConditionCheckItem',
    ],
    'table/index/byOwner': ['dynamodb:Query'],
    stepQueue: ['sqs:SendMessage', ...CONSUME, 'sqs:ChangeMessageVisibility'],
    effectQueue: ['sqs:SendMessage'],
    // The end of a scheduled run wakes its schedule.
    fireQueue: ['sqs:SendMessage'],
    bucket: TELL_MISSING,
    'bucket/org/*': ['s3:GetObject', 's3:PutObject'],
    'bucket/parked/*': ['s3:PutObject'],
    'parameter/model': ['ssm:GetParameter'],
    'parameter/org/*/provider/*': ['ssm:GetParameter'],
    // A worker reads a repository in its source's name.
    'parameter/org/*/source/*': ['ssm:GetParameter'],
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
    // A policy change is told to the tickets, page by page.
    'table/index/byOwner': ['dynamodb:Query'],
    // An event becomes a message for each webhook, and a failed attempt the message of the next one (docs/adr/0035).
    effectQueue: ['sqs:SendMessage', ...CONSUME, 'sqs:ChangeMessageVisibility'],
    // The end of a run wakes the run that started it.
    stepQueue: ['sqs:SendMessage'],
    'parameter/org/*/webhook/*': ['ssm:GetParameter'],
    // A message that joins a ticket may start its next run: the price of the model has to be known.
    'parameter/model': ['ssm:GetParameter'],
    'parameter/org/*/provider/*': ['ssm:GetParameter'],
    // A posting goes out in its source's name.
    'parameter/org/*/source/*': ['ssm:GetParameter'],
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
    // PutItem: it asks for the repair of an organisation's places.
    table: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
    'table/index/due': ['dynamodb:Query'],
    stepQueue: ['sqs:SendMessage'],
    effectQueue: ['sqs:SendMessage'],
    inboxQueue: ['sqs:SendMessage'],
    assessQueue: ['sqs:SendMessage'],
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
    inboxDeadQueue: CONSUME,
    assessDeadQueue: CONSUME,
    'bucket/parked/*': ['s3:PutObject'],
  },
  'run-agent': {
    table: ['dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:PutItem', 'dynamodb:ConditionCheckItem'],
    stepQueue: ['sqs:SendMessage'],
    effectQueue: ['sqs:SendMessage'],
    // A run reserves its first call, so the price of its model has to be known.
    'parameter/model': ['ssm:GetParameter'],
    'parameter/org/*/provider/*': ['ssm:GetParameter'],
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
    'parameter/org/*/provider/*': ['ssm:GetParameter'],
  },
  ingest: {
    // UpdateItem: refused deliveries are counted.
    table: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
    // The raw body, before anybody judges it.
    'bucket/org/*/source/*': ['s3:PutObject'],
    inboxQueue: ['sqs:SendMessage'],
    'parameter/org/*/source/*': ['ssm:GetParameter'],
  },
  resolve: {
    // A Trigger goes straight to the tickets that subscribe to its Thread, and a listed person's "stop" ends them: all
    // that an input, the end of a run and its revival write.
    table: [
      'dynamodb:GetItem',
      'dynamodb:BatchGetItem',
      'dynamodb:Query',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'dynamodb:DeleteItem',
      'dynamodb:ConditionCheckItem',
    ],
    bucket: TELL_MISSING,
    'bucket/org/*/source/*': ['s3:GetObject'],
    'bucket/parked/*': ['s3:PutObject'],
    inboxQueue: [...CONSUME, 'sqs:ChangeMessageVisibility'],
    assessQueue: ['sqs:SendMessage'],
    stepQueue: ['sqs:SendMessage'],
    effectQueue: ['sqs:SendMessage'],
    // A revival reserves the first call of its run, so the price of the model has to be known.
    'parameter/model': ['ssm:GetParameter'],
    'parameter/org/*/provider/*': ['ssm:GetParameter'],
    // What a provider has told of is asked for in the source's name.
    'parameter/org/*/source/*': ['ssm:GetParameter'],
  },
  assess: {
    table: [
      'dynamodb:GetItem',
      'dynamodb:BatchGetItem',
      'dynamodb:Query',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'dynamodb:DeleteItem',
      'dynamodb:ConditionCheckItem',
    ],
    // The tickets that a page shows.
    'table/index/byOwner': ['dynamodb:Query'],
    'bucket/parked/*': ['s3:PutObject'],
    assessQueue: ['sqs:SendMessage', ...CONSUME, 'sqs:ChangeMessageVisibility'],
    // An acceptance starts a run, a message for a ticket wakes one, and both have postings.
    stepQueue: ['sqs:SendMessage'],
    effectQueue: ['sqs:SendMessage'],
    'parameter/model': ['ssm:GetParameter'],
    'parameter/org/*/provider/*': ['ssm:GetParameter'],
  },
  bootstrap: { table: ['dynamodb:GetItem', 'dynamodb:PutItem'] },
};
