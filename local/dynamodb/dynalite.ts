import { createRequire } from 'node:module';
import type { Expression } from './expressions/condition.ts';
import type { Clause } from './expressions/update.ts';
import type { AttributeValue, Path } from './values/values.ts';

/**
 * The parts of dynalite (pinned) that the local DynamoDB stands on: the shape tables and checks of its requests, with
 * DynamoDB's own wording, and its expression parsers. Its server, its LevelDB layout and its actions are not used: the
 * actions size strings by UTF-16 units, leave indexes out of capacity, compare lists and maps by identity, splice list
 * positions one after the other and know neither transactions nor ALL_OLD.
 */

/** A shape table: member name → type with constraints. */
export type Shape = { readonly [member: string]: unknown };

/** Checks across members; answers the message of the ValidationException, or nothing. Adds the parsed expressions. */
type Custom = (data: { [member: string]: unknown }, store: DynaliteStore) => string | undefined;

export interface Validation {
  readonly types: Shape;
  readonly custom?: Custom;
}

/** What the expression parsers leave on a request. */
export interface Parsed {
  readonly _condition?: { readonly expression: Expression };
  readonly _filter?: {
    readonly expression: Expression;
    readonly pathHeads: { readonly [name: string]: true };
  };
  readonly _projection?: { readonly paths: readonly Path[] };
  readonly _updates?: {
    readonly sections: readonly Clause[];
    readonly paths: readonly Path[];
    readonly nestedPaths: { readonly [name: string]: true };
  };
  readonly KeyConditions?: { readonly [attribute: string]: KeyCondition };
}

export interface KeyCondition {
  readonly ComparisonOperator: 'EQ' | 'LT' | 'LE' | 'GT' | 'GE' | 'BETWEEN' | 'BEGINS_WITH';
  readonly AttributeValueList: readonly AttributeValue[];
}

interface DynaliteStore {
  readonly options: { readonly maxItemSize: number };
}

interface Core {
  checkTypes(data: { [member: string]: unknown }, types: Shape): { [member: string]: unknown };
  checkValidations(data: unknown, types: Shape, custom: Custom | undefined, store: DynaliteStore): void;
  validateAttributeValue(value: AttributeValue): string | undefined;
}

const require = createRequire(import.meta.url);
const core: Core = require('dynalite/validations/index.js');

// Item sizes are judged here in UTF-8 bytes; dynalite's own judgement is switched off by a limit nothing reaches.
const STORE: DynaliteStore = { options: { maxItemSize: Number.POSITIVE_INFINITY } };

/** dynalite's validation of one operation. */
export const validations = {
  putItem: require('dynalite/validations/putItem.js') as Validation,
  updateItem: require('dynalite/validations/updateItem.js') as Validation,
  deleteItem: require('dynalite/validations/deleteItem.js') as Validation,
  getItem: require('dynalite/validations/getItem.js') as Validation,
  batchGetItem: require('dynalite/validations/batchGetItem.js') as Validation,
  batchWriteItem: require('dynalite/validations/batchWriteItem.js') as Validation,
  query: require('dynalite/validations/query.js') as Validation,
  scan: require('dynalite/validations/scan.js') as Validation,
  createTable: require('dynalite/validations/createTable.js') as Validation,
  describeTable: require('dynalite/validations/describeTable.js') as Validation,
  deleteTable: require('dynalite/validations/deleteTable.js') as Validation,
  listTables: require('dynalite/validations/listTables.js') as Validation,
};

/**
 * Types first, then constraints, then what holds between members, as DynamoDB does it. Unknown members are dropped.
 * @throws whatever dynalite throws: an error with `statusCode` and `body`.
 */
export function validate(data: { [member: string]: unknown }, validation: Validation): { [member: string]: unknown } {
  const typed = core.checkTypes(data, validation.types);
  core.checkValidations(typed, validation.types, validation.custom, STORE);
  return typed;
}

/** The cross-member checks of one operation alone; they also parse its expressions. */
export const customCheck = (data: { [member: string]: unknown }, validation: Validation): string | undefined =>
  validation.custom?.(data, STORE);

/** What is wrong with a value, if anything; numbers in it are brought into plain form. */
export const checkValue = (value: AttributeValue): string | undefined => core.validateAttributeValue(value);
