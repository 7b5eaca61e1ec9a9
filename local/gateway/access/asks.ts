import { LOCAL } from '../../names.ts';
import type { AwsRequest } from '../aws-request.ts';
import { listOf, objectOf, stringOf } from '../json.ts';
import { arnOf, queueNameOf, toArn } from './arns.ts';
import { dynamoDbAsks, type LeadingKeys } from './asks-dynamodb.ts';
import { s3Asks } from './asks-s3.ts';
import type { Ask } from './policy.ts';

/** A batch of SQS needs the permission of the single call. */
const SQS_BATCHES: { readonly [operation: string]: string } = {
  SendMessageBatch: 'SendMessage',
  DeleteMessageBatch: 'DeleteMessage',
  ChangeMessageVisibilityBatch: 'ChangeMessageVisibility',
};

/** Everything a request asks for: one entry for each action and resource, all of which must be allowed. */
export function asksOf(request: AwsRequest, principalArn: string, leading: LeadingKeys): Ask[] {
  // The gateway stands for AWS's TLS endpoints: on this machine the hop is loopback, and a policy that demands TLS
  // must not fail here for what it would never see on AWS.
  const base = new Map<string, readonly string[]>([
    ['aws:securetransport', ['true']],
    ['aws:principalarn', [principalArn]],
    ['aws:requestedregion', [LOCAL.region]],
    ['aws:principalaccount', [LOCAL.account]],
    ['aws:resourceaccount', [LOCAL.account]],
  ]);
  const { service, operation, input } = request;
  const one = (action: string, resource: string): Ask => ({ action, resource, context: base });
  switch (service) {
    case 'dynamodb':
      return dynamoDbAsks(request, leading, base);
    case 's3':
      return s3Asks(request, base);
    case 'sqs': {
      const name = stringOf(input.QueueName) ?? queueNameOf(stringOf(input.QueueUrl) ?? '');
      return [one(`sqs:${SQS_BATCHES[operation] ?? operation}`, arnOf('sqs', operation === 'ListQueues' ? '*' : name))];
    }
    case 'ssm': {
      const names =
        operation === 'GetParameters' || operation === 'DeleteParameters' ? listOf(input.Names) : [input.Name];
      return names.map((name) => one(`ssm:${operation}`, parameterArn(stringOf(name) ?? '')));
    }
    case 'events': {
      const buses = new Set(listOf(input.Entries).map((entry) => stringOf(objectOf(entry).EventBusName) ?? 'default'));
      return [...buses].map((bus) => one(`events:${operation}`, toArn('events', 'event-bus/', bus)));
    }
    case 'lambda':
      return [one('lambda:InvokeFunction', arnOf('lambda', `function:${functionNameOf(request.path)}`))];
  }
}

/** `/a/b` → `…:parameter/a/b`, `a` → `…:parameter/a`. */
const parameterArn = (name: string): string => toArn('ssm', name.startsWith('/') ? 'parameter' : 'parameter/', name);

/** The name in `/2015-03-31/functions/{name}/invocations`, which may be a whole or a partial ARN. */
export function functionNameOf(path: string): string {
  const [, encoded = ''] = /^\/2015-03-31\/functions\/([^/]+)\/invocations\/?$/.exec(path) ?? [];
  const given = decodeURIComponent(encoded);
  const [, name = given] = /(?:^|:)function:([^:]+)/.exec(given) ?? [];
  return name;
}
