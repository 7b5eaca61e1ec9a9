import { type Parsed, validations } from '../dynalite.ts';
import { validationError } from '../errors.ts';
import { project } from '../expressions/projection.ts';
import { parseRequest, withOnFailure } from '../requests.ts';
import { checkKey, rowKeyOf } from '../store/keys.ts';
import type { Attributes } from '../values/values.ts';
import { consumedMember, type ReturnConsumedCapacity, readUnits } from './capacity.ts';
import type { Operation } from './operation.ts';
import { carryOut, planWrite, type WritePlan } from './write-plan.ts';

interface SingleWrite extends Pick<Parsed, '_condition' | '_updates'> {
  readonly TableName: string;
  readonly Item: Attributes;
  readonly Key: Attributes;
  readonly ReturnValues?: 'NONE' | 'ALL_OLD' | 'UPDATED_OLD' | 'ALL_NEW' | 'UPDATED_NEW';
  readonly ReturnConsumedCapacity?: ReturnConsumedCapacity;
  readonly ReturnValuesOnConditionCheckFailure?: 'ALL_OLD' | 'NONE';
}

const singleWrite = (kind: 'put' | 'update' | 'delete'): Operation => {
  const validation = withOnFailure(validations[`${kind}Item`]);
  return ({ store }, body) => {
    const request = parseRequest<SingleWrite>(body, validation);
    if (kind === 'delete' && !['NONE', 'ALL_OLD', undefined].includes(request.ReturnValues)) {
      throw validationError('ReturnValues can only be ALL_OLD or NONE');
    }
    const table = store.table(request.TableName);
    const plan = store.sqlite.transaction(() => {
      const planned = planWrite(store, table, { ...request, kind });
      carryOut(store, planned);
      return planned;
    });
    const attributes = returned(request, plan);
    return {
      ...(attributes === undefined ? {} : { Attributes: attributes }),
      ...consumedMember(request.ReturnConsumedCapacity, table.name, plan.units),
    };
  };
};

/** What `ReturnValues` asks for. */
function returned(request: SingleWrite, { before, after }: WritePlan): Attributes | undefined {
  const paths = request._updates?.paths ?? [];
  switch (request.ReturnValues) {
    case 'ALL_OLD':
      return before?.item;
    case 'ALL_NEW':
      return after?.item;
    case 'UPDATED_OLD':
      return before && project(before.item, paths);
    case 'UPDATED_NEW':
      return after && project(after.item, paths);
    default:
      return undefined;
  }
}

export const putItem = singleWrite('put');
export const updateItem = singleWrite('update');
export const deleteItem = singleWrite('delete');

interface GetItem extends Pick<Parsed, '_projection'> {
  readonly TableName: string;
  readonly Key: Attributes;
  readonly ConsistentRead?: boolean;
  readonly ReturnConsumedCapacity?: ReturnConsumedCapacity;
}

export const getItem: Operation = ({ store }, body) => {
  const request = parseRequest<GetItem>(body, validations.getItem);
  const table = store.table(request.TableName);
  checkKey(request.Key, table);
  const found = store.getItem(table, rowKeyOf(request.Key, table));
  const units = readUnits(found?.size ?? 0, request.ConsistentRead === true ? 'consistent' : 'eventual');
  return {
    ...(found === undefined
      ? {}
      : { Item: request._projection ? project(found.item, request._projection.paths) : found.item }),
    ...consumedMember(request.ReturnConsumedCapacity, table.name, { table: units, indexes: {} }),
  };
};
