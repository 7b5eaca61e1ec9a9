import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { ConditionFailed, type Item, TransactionRefused } from '../kernel/table.ts';
import { fromAttributes } from './attribute-values.ts';

/**
 * What DynamoDB's errors mean to the port. Errors are told apart by `name`: a bundle may hold two copies of an SDK class.
 */

/** Reasons that say "not now" about a transaction; nothing is wrong with the writes themselves. */
const PASSING_REASONS: ReadonlySet<string> = new Set([
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);

/** Errors that say the same. The SDK retries throttles by itself, but not these two. */
const PASSING_ERRORS: ReadonlySet<string> = new Set(['TransactionConflictException', 'TransactionInProgressException']);

interface Reason {
  readonly Code?: string;
  readonly Item?: { readonly [name: string]: AttributeValue };
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');

/** One reason for each write, in order; `None` where that write was fine. */
const reasonsOf = (error: unknown): readonly Reason[] =>
  nameOf(error) === 'TransactionCanceledException'
    ? ((error as { readonly CancellationReasons?: readonly Reason[] }).CancellationReasons ?? [])
    : [];

const isFine = ({ Code }: Reason): boolean => Code === undefined || Code === 'None';

const wasRefused = ({ Code }: Reason): boolean => Code === 'ConditionalCheckFailed';

/** True for conflicts with another transaction and for throttles inside one: the same request may succeed in a moment. */
export const isPassing = (error: unknown): boolean => {
  if (PASSING_ERRORS.has(nameOf(error))) return true;
  const reasons = reasonsOf(error).filter((reason) => !isFine(reason));
  return reasons.length > 0 && reasons.every(({ Code }) => PASSING_REASONS.has(Code ?? ''));
};

const itemOf = (item: { readonly [name: string]: AttributeValue } | undefined): Item | undefined =>
  item !== undefined && Object.keys(item).length > 0 ? fromAttributes(item) : undefined;

/** The port's error for an SDK error; any other error as it is. */
export const translated = (error: unknown): unknown => {
  if (nameOf(error) === 'ConditionalCheckFailedException') {
    return new ConditionFailed(itemOf((error as { readonly Item?: { readonly [name: string]: AttributeValue } }).Item));
  }
  const reasons = reasonsOf(error);
  if (!reasons.some(wasRefused)) return error;
  return new TransactionRefused(
    reasons.map(wasRefused),
    reasons.map((reason) => (wasRefused(reason) ? itemOf(reason.Item) : undefined)),
  );
};
