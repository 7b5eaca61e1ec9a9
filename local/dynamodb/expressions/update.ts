import { checkValue } from '../dynalite.ts';
import { validationError } from '../errors.ts';
import { addNumbers } from '../values/numbers.ts';
import {
  type Attributes,
  type AttributeValue,
  attributeOf,
  copyOfValue,
  type Path,
  typeOf,
  valueAt,
} from '../values/values.ts';

/** The right-hand side of a SET as dynalite's update parser gives it. */
export type Operand = Path | AttributeValue | Computed;

interface Computed {
  readonly type: 'add' | 'subtract' | 'function';
  /** `if_not_exists` or `list_append`, for `type: 'function'`. */
  readonly name?: string;
  readonly args: readonly [Operand, Operand];
}

/** One clause of an UpdateExpression. */
export type Clause =
  | { readonly type: 'set'; readonly path: Path; readonly val: Operand }
  | { readonly type: 'remove'; readonly path: Path }
  | { readonly type: 'add' | 'delete'; readonly path: Path; readonly val: AttributeValue };

const WRONG_TYPE = 'An operand in the update expression has an incorrect data type';

/**
 * Applies the clauses to `item`, which the caller owns (it is changed). Every right-hand side sees the item as it was
 * before, and list positions mean those of before, so that values are computed first and lists close up last.
 * @throws ValidationException for missing attributes, wrong types and impossible paths.
 */
export function applyUpdate(clauses: readonly Clause[], item: Attributes): void {
  const values = clauses.map((clause) =>
    clause.type === 'set' ? copyOfValue(operandValue(clause.val, item)) : undefined,
  );
  const lists = new Set<(AttributeValue | undefined)[]>();
  clauses.forEach((clause, i) => {
    const slot = slotAt(item, clause.path, lists);
    if (clause.type === 'remove') slot.set(undefined);
    else if (clause.type === 'set') slot.set(values[i]);
    else slot.set(clause.type === 'add' ? added(slot.get(), clause.val) : deleted(slot.get(), clause.val));
  });
  for (const list of lists) closeUp(list);
}

interface Slot {
  get(): AttributeValue | undefined;
  /** `undefined` removes. */
  set(value: AttributeValue | undefined): void;
}

function slotAt(item: Attributes, path: Path, lists: Set<(AttributeValue | undefined)[]>): Slot {
  const parent = valueAt(item, path.slice(0, -1));
  const last = path.at(-1);
  if (typeof last === 'number' && parent?.L !== undefined) {
    const list: (AttributeValue | undefined)[] = parent.L;
    lists.add(list);
    const length = list.length;
    return {
      get: () => list[last],
      set: (value) => {
        // Removing a position past the end is no error and changes nothing; setting one appends.
        if (value !== undefined || last < length) list[last] = value;
      },
    };
  }
  if (typeof last === 'string' && parent?.M !== undefined) {
    const map = parent.M;
    return {
      get: () => attributeOf(map, last),
      set: (value) => {
        if (value === undefined) delete map[last];
        else map[last] = value;
      },
    };
  }
  throw validationError('The document path provided in the update expression is invalid for update');
}

function closeUp(list: (AttributeValue | undefined)[]): void {
  const kept = list.filter((each) => each !== undefined);
  list.splice(0, list.length, ...kept);
}

const isPath = (operand: Operand): operand is Path => Array.isArray(operand);
const isComputed = (operand: Operand): operand is Computed => !isPath(operand) && 'args' in operand;

function operandValue(operand: Operand, item: Attributes): AttributeValue {
  if (isPath(operand)) {
    const value = valueAt(item, operand);
    if (value !== undefined) return value;
    throw validationError('The provided expression refers to an attribute that does not exist in the item');
  }
  if (!isComputed(operand)) return operand;
  const [left, right] = operand.args;
  if (operand.name === 'if_not_exists') {
    const existing = isPath(left) ? valueAt(item, left) : undefined;
    return existing ?? operandValue(right, item);
  }
  const [one, other] = [operandValue(left, item), operandValue(right, item)];
  if (operand.name === 'list_append') {
    if (one.L === undefined || other.L === undefined) throw validationError(WRONG_TYPE);
    return { L: [...one.L, ...other.L] };
  }
  return sumOf(one, other, operand.type === 'subtract' ? -1 : 1);
}

function sumOf(one: AttributeValue, other: AttributeValue, sign: 1 | -1): AttributeValue {
  if (one.N === undefined || other.N === undefined) throw validationError(WRONG_TYPE);
  const sum = { N: addNumbers(one.N, other.N, sign) };
  const problem = checkValue(sum);
  if (problem !== undefined) throw validationError(problem);
  return sum;
}

const SETS = ['SS', 'NS', 'BS'] as const;
const setTypeOf = (value: AttributeValue): (typeof SETS)[number] | undefined =>
  SETS.find((type) => value[type] !== undefined);

/** ADD: to a number, or members to a set; a missing attribute counts as 0 or as the empty set. */
function added(existing: AttributeValue | undefined, value: AttributeValue): AttributeValue {
  if (existing !== undefined && typeOf(existing) !== typeOf(value)) throw validationError(WRONG_TYPE);
  const type = setTypeOf(value);
  if (type === undefined) return sumOf(existing ?? { N: '0' }, value, 1);
  return { [type]: [...new Set([...(existing?.[type] ?? []), ...(value[type] ?? [])])] };
}

/** DELETE: members from a set; an emptied set is removed, since DynamoDB has no empty sets. */
function deleted(existing: AttributeValue | undefined, value: AttributeValue): AttributeValue | undefined {
  if (existing === undefined) return undefined;
  const type = setTypeOf(value);
  if (type === undefined || typeOf(existing) !== type) throw validationError(WRONG_TYPE);
  const gone = new Set(value[type]);
  const left = (existing[type] ?? []).filter((member) => !gone.has(member));
  return left.length === 0 ? undefined : { [type]: left };
}
