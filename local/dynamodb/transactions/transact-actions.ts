import { customCheck, type Validation, validations } from '../dynalite.ts';
import { validationError } from '../errors.ts';
import type { WriteRequest } from '../operations/write-plan.ts';
import { checkMembers, guarded } from '../requests.ts';
import { itemSize, MAX_ITEM_BYTES } from '../values/item-size.ts';

/** At most 100 actions a transaction, reads as well as writes. */
export const TRANSACT_ITEMS = {
  type: 'List',
  notNull: true,
  lengthGreaterThanOrEqual: 1,
  lengthLessThanOrEqual: 100,
};

export type Action = WriteRequest & { readonly TableName: string };

interface ActionType {
  readonly kind: WriteRequest['kind'];
  readonly validation: Validation;
  readonly types: { readonly [member: string]: unknown };
}

const TEXT = { type: 'String' };
const REQUIRED_TEXT = { type: 'String', notNull: true };

function actionType(kind: WriteRequest['kind'], validation: Validation, own: ActionType['types']): ActionType {
  const { TableName, ExpressionAttributeNames, ExpressionAttributeValues } = validation.types;
  return {
    kind,
    validation,
    types: {
      TableName,
      ConditionExpression: TEXT,
      ExpressionAttributeNames,
      ExpressionAttributeValues,
      ReturnValuesOnConditionCheckFailure: { type: 'String', enum: ['ALL_OLD', 'NONE'] },
      ...own,
    },
  };
}

const { putItem, updateItem, deleteItem } = validations;
const Key = deleteItem.types.Key;

const ACTIONS: { readonly [name: string]: ActionType } = {
  Put: actionType('put', putItem, { Item: putItem.types.Item }),
  Update: actionType('update', updateItem, { Key, UpdateExpression: REQUIRED_TEXT }),
  Delete: actionType('delete', deleteItem, { Key }),
  ConditionCheck: actionType('check', deleteItem, { Key, ConditionExpression: REQUIRED_TEXT }),
};

/** The member `TransactItems` of TransactWriteItems. */
export const WRITE_ACTIONS = {
  ...TRANSACT_ITEMS,
  children: {
    type: 'ValueStruct<TransactWriteItem>',
    children: Object.fromEntries(
      Object.entries(ACTIONS).map(([name, { types }]) => [name, { type: `FieldStruct<${name}>`, children: types }]),
    ),
  },
};

/** One typed member of `TransactItems` as a write, its expressions parsed. @throws ValidationException */
export function actionOf(item: { readonly [name: string]: { [member: string]: unknown } }): Action {
  const [[name, data] = ['', undefined], ...more] = Object.entries(item);
  const type = ACTIONS[name];
  if (type === undefined || data === undefined || more.length > 0) {
    throw validationError('TransactItems can only contain one of Check, Put, Update or Delete');
  }
  checkMembers(data);
  const problem = guarded(() => customCheck(data, type.validation));
  if (problem !== undefined) throw validationError(problem);
  const action = { ...data, kind: type.kind } as Action;
  if (action.kind === 'put' && itemSize(action.Item) > MAX_ITEM_BYTES) {
    throw validationError('Item size has exceeded the maximum allowed size');
  }
  return action;
}
