import { customCheck, type Parsed, validations } from '../dynalite.ts';
import { DynamoDbError, transactionCanceled, validationError } from '../errors.ts';
import { project } from '../expressions/projection.ts';
import { consumedByTable, type ReturnConsumedCapacity, readUnits } from '../operations/capacity.ts';
import type { Operation } from '../operations/operation.ts';
import { checkMembers, guarded, parseRequest } from '../requests.ts';
import { checkKey, rowKeyOf } from '../store/keys.ts';
import { MAX_TRANSACTION_BYTES } from '../values/item-size.ts';
import type { Attributes } from '../values/values.ts';
import { TRANSACT_ITEMS } from './transact-actions.ts';
import { placeOf, reasonOf } from './transact-write.ts';

const { TableName, Key, ExpressionAttributeNames, ProjectionExpression } = validations.getItem.types;

const VALIDATION = {
  types: {
    ReturnConsumedCapacity: { type: 'String', enum: ['INDEXES', 'TOTAL', 'NONE'] },
    TransactItems: {
      ...TRANSACT_ITEMS,
      children: {
        type: 'ValueStruct<TransactGetItem>',
        children: {
          Get: {
            type: 'FieldStruct<Get>',
            notNull: true,
            children: { TableName, Key, ExpressionAttributeNames, ProjectionExpression },
          },
        },
      },
    },
  },
};

type Get = Pick<Parsed, '_projection'> & { readonly TableName: string; readonly Key: Attributes };

interface TransactGet {
  readonly TransactItems: readonly { readonly Get: Get }[];
  readonly ReturnConsumedCapacity?: ReturnConsumedCapacity;
}

/** One consistent picture of up to 100 items: nothing else runs while this does. Missing items answer `{}`. */
export const transactGetItems: Operation = ({ store }, body) => {
  const request = parseRequest<TransactGet>(body, VALIDATION);
  const gets = request.TransactItems.map(({ Get }) => {
    checkMembers({ ...Get });
    const problem = guarded(() => customCheck(Get as { [member: string]: unknown } & Get, validations.getItem));
    if (problem !== undefined) throw validationError(problem);
    return { get: Get, table: store.table(Get.TableName) };
  });
  const refusals = gets.map(({ get, table }) => {
    try {
      checkKey(get.Key, table);
      return undefined;
    } catch (error) {
      if (error instanceof DynamoDbError) return error;
      throw error;
    }
  });
  if (refusals.some((refusal) => refusal !== undefined)) throw transactionCanceled(refusals.map(reasonOf));
  const places = new Set(gets.map(({ get, table }) => placeOf(table, rowKeyOf(get.Key, table))));
  if (places.size < gets.length) {
    throw validationError('Transaction request cannot include multiple operations on one item');
  }
  const found = gets.map(({ get, table }) => ({ get, table, stored: store.getItem(table, rowKeyOf(get.Key, table)) }));
  const bytes = found.reduce((sum, { stored }) => sum + (stored?.size ?? 0), 0);
  if (bytes > MAX_TRANSACTION_BYTES) {
    throw validationError(
      `The items of a transaction may be ${MAX_TRANSACTION_BYTES} bytes in sum; these are ${bytes}`,
    );
  }
  const parts = found.map(({ table, stored }) => ({
    table: table.name,
    units: { table: readUnits(stored?.size ?? 0, 'transactional'), indexes: {} },
  }));
  return {
    Responses: found.map(({ get, stored }) => {
      if (stored === undefined) return {};
      return { Item: get._projection ? project(stored.item, get._projection.paths) : stored.item };
    }),
    ...consumedByTable(request.ReturnConsumedCapacity, parts, 'ReadCapacityUnits'),
  };
};
