import { AwsError } from './aws-error.ts';
import type { AwsRequest } from './aws-request.ts';
import type { Chaos } from './chaos.ts';
import { listOf } from './json.ts';

const SINGLE_WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem']);
const TRANSACTIONS = new Set(['TransactWriteItems', 'TransactGetItems']);

/**
 * The fault that this call meets before it is applied, if any.
 * @returns the error to answer with, in the words of the service
 */
export function callFault(chaos: Chaos, request: AwsRequest): AwsError | undefined {
  if (chaos.throttles()) return throttled(request);
  const { service, operation } = request;
  if (service !== 'dynamodb') return undefined;
  if (SINGLE_WRITES.has(operation) && chaos.conflicts()) {
    return new AwsError('TransactionConflictException', 'Transaction is ongoing for the item');
  }
  if (TRANSACTIONS.has(operation) && chaos.conflicts()) return conflicted(chaos, request);
  return undefined;
}

function throttled({ service }: AwsRequest): AwsError {
  switch (service) {
    case 'dynamodb':
      return new AwsError(
        'ProvisionedThroughputExceededException',
        'The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.',
      );
    case 'sqs':
      return new AwsError('RequestThrottled', 'Request is throttled.', { status: 403 });
    case 's3':
      return new AwsError('SlowDown', 'Please reduce your request rate.', { status: 503 });
    case 'lambda':
      return new AwsError('TooManyRequestsException', 'Rate Exceeded.', { status: 429 });
    case 'ssm':
    case 'events':
      return new AwsError('ThrottlingException', 'Rate exceeded');
  }
}

function conflicted(chaos: Chaos, request: AwsRequest): AwsError {
  const count = listOf(request.input.TransactItems).length;
  const hit = chaos.pick(Math.max(count, 1));
  const codes = Array.from({ length: count }, (_, i) => (i === hit ? 'TransactionConflict' : 'None'));
  const reasons = codes.map((code) =>
    code === 'None' ? { Code: code } : { Code: code, Message: 'Transaction is ongoing for the item' },
  );
  return new AwsError(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`,
    { details: { CancellationReasons: reasons } },
  );
}
