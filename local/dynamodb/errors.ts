import type { Attributes } from './values/values.ts';

const SERVICE = 'com.amazonaws.dynamodb.v20120810#';
const VALIDATE = 'com.amazon.coral.validate#';
const CORAL = 'com.amazon.coral.service#';

/** Why one action of a transaction was refused; `None` for those that were fine. */
export interface CancellationReason {
  readonly Code: 'None' | 'ConditionalCheckFailed' | 'ValidationError';
  readonly Message?: string;
  readonly Item?: Attributes;
}

/** A refusal that the client is meant to see; `body` is the answer as it goes over the wire. */
export class DynamoDbError extends Error {
  override readonly name = 'DynamoDbError';
  readonly status: number;
  readonly body: { readonly __type: string; readonly message: string; readonly [member: string]: unknown };

  constructor(type: string, message: string, more: { readonly [member: string]: unknown } = {}, status = 400) {
    super(message);
    this.status = status;
    this.body = { __type: type, message, ...more };
  }

  is(shortType: string): boolean {
    return this.body.__type.endsWith(`#${shortType}`);
  }
}

export const validationError = (message: string): DynamoDbError =>
  new DynamoDbError(`${VALIDATE}ValidationException`, message);

export const serializationError = (message: string): DynamoDbError =>
  new DynamoDbError(`${CORAL}SerializationException`, message);

export const unknownOperation = (operation: string): DynamoDbError =>
  new DynamoDbError(`${CORAL}UnknownOperationException`, `The local DynamoDB knows no operation "${operation}".`);

export const tableNotFound = (name: string, described = false): DynamoDbError =>
  new DynamoDbError(
    `${SERVICE}ResourceNotFoundException`,
    described ? `Requested resource not found: Table: ${name} not found` : 'Requested resource not found',
  );

export const tableInUse = (name: string): DynamoDbError =>
  new DynamoDbError(`${SERVICE}ResourceInUseException`, `Table already exists: ${name}`);

export const conditionFailed = (item: Attributes | undefined): DynamoDbError =>
  new DynamoDbError(
    `${SERVICE}ConditionalCheckFailedException`,
    'The conditional request failed',
    item === undefined ? {} : { Item: item },
  );

export const transactionCanceled = (reasons: readonly CancellationReason[]): DynamoDbError =>
  new DynamoDbError(
    `${SERVICE}TransactionCanceledException`,
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${reasons.map((reason) => reason.Code).join(', ')}]`,
    { CancellationReasons: reasons },
  );

export const idempotentParameterMismatch = (): DynamoDbError =>
  new DynamoDbError(
    `${SERVICE}IdempotentParameterMismatchException`,
    'The client request token was used within the last ten minutes with other parameters.',
  );

/** A fault of this program, not of the client. */
export const internalError = (message: string): DynamoDbError =>
  new DynamoDbError(`${SERVICE}InternalServerError`, message, {}, 500);
