import { compareUtf8 } from '../../lib/aws/utf8-order.ts';
import type { Condition, Item } from '../../lib/kernel/table.ts';
import { invalid, operand } from './memory-value.ts';

/**
 * Judges a guard as DynamoDB does. A comparison with a missing attribute is false (`<>` too: the adapter writes it so),
 * values of different types are never equal nor ordered, text is ordered by UTF-8 bytes.
 * @throws ValidationException for a guard that DynamoDB would refuse, whatever the item
 */
export const holds = (condition: Condition, item: Item | undefined): boolean => {
  switch (condition.op) {
    case 'exists':
      return item?.[condition.path] !== undefined;
    case 'missing':
      return item?.[condition.path] === undefined;
    case 'not':
      return !holds(condition.not, item);
    case 'and':
    case 'or': {
      if (condition.all.length === 0) throw invalid(`"${condition.op}" has no parts.`);
      const verdicts = condition.all.map((part) => holds(part, item)); // every part, so that a bad one is always refused
      return condition.op === 'and' ? verdicts.every(Boolean) : verdicts.some(Boolean);
    }
    case 'in': {
      if (condition.values.length === 0 || condition.values.length > 100) {
        throw invalid(`"in" takes 1 to 100 values, not ${condition.values.length}.`);
      }
      const value = item?.[condition.path];
      return condition.values.map((one) => operand(one, condition.path)).some((one) => one === value);
    }
    case '=':
      return item?.[condition.path] === operand(condition.value, condition.path);
    case '<>': {
      const value = operand(condition.value, condition.path);
      return item?.[condition.path] !== undefined && item[condition.path] !== value;
    }
    default:
      return compares(condition.op, item?.[condition.path], operand(condition.value, condition.path));
  }
};

const compares = (op: '<' | '<=' | '>' | '>=', left: unknown, right: string | number | boolean): boolean => {
  if (typeof right === 'boolean') throw invalid(`Incorrect operand type for operator ${op}: BOOL`);
  let order: number;
  if (typeof left === 'number' && typeof right === 'number') order = left - right;
  else if (typeof left === 'string' && typeof right === 'string') order = compareUtf8(left, right);
  else return false;
  if (op === '<') return order < 0;
  if (op === '<=') return order <= 0;
  if (op === '>') return order > 0;
  return order >= 0;
};
