import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Query } from '../kernel/table.ts';
import { TABLE } from '../names.ts';
import { makePlaceholders, type Placeholders } from './expression.ts';
import { compareUtf8 } from './utf8-order.ts';

/** True for a range that holds nothing (`from` above `to`): DynamoDB refuses such a BETWEEN instead of answering nothing. */
export const isEmptyRange = ({ from, to }: Query): boolean =>
  from !== undefined && to !== undefined && compareUtf8(from, to) > 0;

/**
 * The request for one page. DynamoDB takes one condition on the sort key, so a prefix and a range exclude each other.
 * @throws TypeError naming what is wrong with the query
 */
export const queryInput = (query: Query, tableName: string): QueryCommandInput => {
  check(query);
  const keys = query.index === undefined ? TABLE : TABLE[query.index];
  const to = makePlaceholders();
  const partition = `${to.name(keys.pk)} = ${to.value(query.pk, 'pk')}`;
  const range = sortCondition(query, keys.sk, to);
  return {
    TableName: tableName,
    KeyConditionExpression: range === undefined ? partition : `${partition} AND ${range}`,
    ...to.parameters(),
    ...(query.index === undefined
      ? { ConsistentRead: query.consistent ?? false }
      : { IndexName: TABLE[query.index].index }),
    ...(query.limit === undefined ? {} : { Limit: query.limit }),
    ...(query.after === undefined ? {} : { ExclusiveStartKey: query.after as { [name: string]: string } }),
    ScanIndexForward: !query.newestFirst,
  };
};

/** Names the sort key only where it is used: DynamoDB refuses a placeholder that no expression holds. */
const sortCondition = ({ prefix, from, to }: Query, path: string, at: Placeholders): string | undefined => {
  if (prefix !== undefined) return `begins_with(${at.name(path)}, ${at.value(prefix, path)})`;
  if (from !== undefined && to !== undefined) {
    return `${at.name(path)} BETWEEN ${at.value(from, path)} AND ${at.value(to, path)}`;
  }
  if (from !== undefined) return `${at.name(path)} >= ${at.value(from, path)}`;
  return to === undefined ? undefined : `${at.name(path)} <= ${at.value(to, path)}`;
};

const check = ({ pk, from, to, prefix, index, consistent, limit, after }: Query): void => {
  for (const [name, text] of Object.entries({ pk, from, to, prefix })) {
    if (text === '') throw new TypeError(`${name} of a query is empty.`);
  }
  if (prefix !== undefined && (from !== undefined || to !== undefined)) {
    throw new TypeError('A query takes a prefix or a range, not both.');
  }
  if (index !== undefined && consistent) throw new TypeError(`The index ${index} has no consistent reads.`);
  if (limit !== undefined && (!Number.isInteger(limit) || limit < 1)) {
    throw new TypeError(`limit is ${limit}; expected a whole number from 1.`);
  }
  if (after !== undefined && !isCursor(after)) throw new TypeError('after is not the `next` of an earlier page.');
};

const isCursor = (after: unknown): boolean =>
  typeof after === 'object' && after !== null && Object.values(after).every((part) => typeof part === 'string');
