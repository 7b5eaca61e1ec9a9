import { orderedBytes } from '../values/key-order.ts';
import { type Attributes, type AttributeValue, type Path, sameValue, typeOf, valueAt } from '../values/values.ts';

/** What dynalite's condition parser makes of a ConditionExpression or FilterExpression. Values are already filled in. */
export interface Expression {
  readonly type: string;
  /** For `type: 'function'`. */
  readonly name?: string;
  readonly args: readonly Operand[];
}

export type Operand = Path | AttributeValue | Expression;

const isPath = (operand: Operand): operand is Path => Array.isArray(operand);

export const isExpression = (operand: Operand): operand is Expression =>
  !isPath(operand) && 'type' in operand && 'args' in operand;

/** Whether the item (or `{}` for a missing one) fulfils the expression. */
export function holds(expression: Expression, item: Attributes): boolean {
  const { type, args } = expression;
  switch (type) {
    case 'and':
      return args.every((each) => isExpression(each) && holds(each, item));
    case 'or':
      return args.some((each) => isExpression(each) && holds(each, item));
    case 'not':
      return !args.some((each) => isExpression(each) && holds(each, item));
  }
  const [first, ...rest] = args.map((each) => resolve(each, item));
  return type === 'function' ? call(expression.name ?? '', first, rest[0]) : compare(type, first, rest);
}

function resolve(operand: Operand, item: Attributes): AttributeValue | undefined {
  if (isPath(operand)) return valueAt(item, operand);
  if (!isExpression(operand)) return operand;
  const [subject] = operand.args;
  const length = subject === undefined ? undefined : sizeOf(resolve(subject, item));
  return length === undefined ? undefined : { N: String(length) };
}

/** The function `size`: characters of a string, bytes of binary, members of the rest; nothing for other types. */
function sizeOf(value: AttributeValue | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (value.B !== undefined) return Buffer.byteLength(value.B, 'base64');
  if (value.M !== undefined) return Object.keys(value.M).length;
  return (value.S ?? value.SS ?? value.NS ?? value.BS ?? value.L)?.length;
}

type Value = AttributeValue | undefined;

function compare(operator: string, one: Value, others: readonly Value[]): boolean {
  const [other, third] = others;
  if (operator === '<>') return one === undefined || other === undefined || !sameValue(one, other);
  if (one === undefined) return false;
  switch (operator) {
    case '=':
      return other !== undefined && sameValue(one, other);
    case 'in':
      return others.some((each) => each !== undefined && sameValue(one, each));
    case 'between':
      return ordered(one, other, (sign) => sign >= 0) && ordered(one, third, (sign) => sign <= 0);
    case '<':
      return ordered(one, other, (sign) => sign < 0);
    case '<=':
      return ordered(one, other, (sign) => sign <= 0);
    case '>':
      return ordered(one, other, (sign) => sign > 0);
    case '>=':
      return ordered(one, other, (sign) => sign >= 0);
    default:
      throw new Error(`Unknown comparison ${operator}`);
  }
}

/** Values of different types, and types without an order, never compare. */
function ordered(one: AttributeValue, other: Value, accepts: (sign: number) => boolean): boolean {
  if (other === undefined || typeOf(one) !== typeOf(other)) return false;
  const [a, b] = [orderedBytes(one), orderedBytes(other)];
  return a !== undefined && b !== undefined && accepts(Buffer.compare(a, b));
}

function call(name: string, subject: Value, argument: Value): boolean {
  switch (name) {
    case 'attribute_exists':
      return subject !== undefined;
    case 'attribute_not_exists':
      return subject === undefined;
    case 'attribute_type':
      return subject !== undefined && typeOf(subject) === argument?.S;
    case 'begins_with':
      return subject !== undefined && argument !== undefined && beginsWith(subject, argument);
    case 'contains':
      return subject !== undefined && argument !== undefined && contains(subject, argument);
    default:
      throw new Error(`Unknown function ${name}`);
  }
}

function beginsWith(subject: AttributeValue, prefix: AttributeValue): boolean {
  if (subject.S !== undefined && prefix.S !== undefined) return subject.S.startsWith(prefix.S);
  if (subject.B === undefined || prefix.B === undefined) return false;
  const start = Buffer.from(prefix.B, 'base64');
  return Buffer.from(subject.B, 'base64').subarray(0, start.length).equals(start);
}

function contains(subject: AttributeValue, part: AttributeValue): boolean {
  if (subject.L !== undefined) return subject.L.some((each) => sameValue(each, part));
  if (part.S !== undefined) return subject.S?.includes(part.S) ?? subject.SS?.includes(part.S) ?? false;
  if (part.N !== undefined) return subject.NS?.includes(part.N) ?? false;
  if (part.B === undefined) return false;
  if (subject.B === undefined) return subject.BS?.includes(part.B) ?? false;
  return Buffer.from(subject.B, 'base64').includes(Buffer.from(part.B, 'base64'));
}
