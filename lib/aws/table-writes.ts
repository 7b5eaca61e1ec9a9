import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Condition, Key, Write } from '../kernel/table.ts';
import { checkKey, storableItem } from './attribute-values.ts';
import { conditionExpression, makePlaceholders, type Placeholders, updateExpression } from './expression.ts';

/** The key alone, checked: callers may pass a whole item where a key is asked for. */
export const keyOf = (key: Key): { pk: string; sk: string } => {
  checkKey(key);
  return { pk: key.pk, sk: key.sk };
};

/**
 * The guard's parameters, and those of what shares its placeholders. A refusal answers the item as it stands, so that
 * the caller can judge it without another read.
 */
export const guarded = <More extends object = object>(
  condition: Condition | undefined,
  more?: (to: Placeholders) => More,
) => {
  const to = makePlaceholders();
  const rest = more?.(to);
  const guard =
    condition === undefined
      ? {}
      : {
          ConditionExpression: conditionExpression(condition, to),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
        };
  return { ...(rest as More), ...guard, ...to.parameters() };
};

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** One write of a transaction, which names its table like a request of its own. */
export const transactItem = (write: Write, TableName: string): TransactItem => {
  if ('put' in write) return { Put: { TableName, Item: storableItem(write.put), ...guarded(write.if) } };
  if ('update' in write) {
    const update = guarded(write.if, (to) => ({ UpdateExpression: updateExpression(write.changes, to) }));
    return { Update: { TableName, Key: keyOf(write.update), ...update } };
  }
  if ('delete' in write) return { Delete: { TableName, Key: keyOf(write.delete), ...guarded(write.if) } };
  return { ConditionCheck: { TableName, Key: keyOf(write.check), ...check(write.if) } };
};

/** A check is nothing but its guard, and the SDK's type wants the expression there for sure. */
const check = (condition: Condition) => {
  const to = makePlaceholders();
  return {
    ConditionExpression: conditionExpression(condition, to),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    ...to.parameters(),
  };
};
