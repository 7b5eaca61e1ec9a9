import type { Change, Condition, Value } from '../kernel/table.ts';
import { storable } from './attribute-values.ts';

/**
 * The placeholders of one request: every name and value of its expressions, each once. Names always go through
 * placeholders, because DynamoDB reserves 573 words (`status`, `name`, `ttl`, …) and splits names at dots.
 */
export interface Placeholders {
  name(path: string): string;
  value(value: Value, path: string): string;
  /** The parameters of a command; left out when empty, which DynamoDB refuses. */
  parameters(): Parameters;
}

interface Parameters {
  ExpressionAttributeNames?: { [placeholder: string]: string };
  ExpressionAttributeValues?: { [placeholder: string]: Value };
}

export const makePlaceholders = (): Placeholders => {
  const names = new Map<string, string>();
  const values: [string, Value][] = [];
  return {
    name(path) {
      const known = names.get(path);
      if (known !== undefined) return known;
      if (path === '') throw new TypeError('The path of a condition or change is empty.');
      const placeholder = `#n${names.size}`;
      names.set(path, placeholder);
      return placeholder;
    },
    value(value, path) {
      const placeholder = `:v${values.length}`;
      values.push([placeholder, storable(value, path)]);
      return placeholder;
    },
    parameters: () => ({
      ...(names.size > 0
        ? { ExpressionAttributeNames: Object.fromEntries([...names].map(([path, placeholder]) => [placeholder, path])) }
        : {}),
      ...(values.length > 0 ? { ExpressionAttributeValues: Object.fromEntries(values) } : {}),
    }),
  };
};

/**
 * Compiles a guard. Limits: an expression of 4 KB, 300 operators, 100 values in an `in`.
 * A comparison with a missing attribute is false. DynamoDB itself says true for `<>`, so that one names its attribute's
 * existence too; `or(missing(p), ne(p, v))` is the way to say "missing or different".
 * @throws TypeError for a guard that DynamoDB would refuse
 */
export const conditionExpression = (condition: Condition, to: Placeholders): string => {
  switch (condition.op) {
    case 'exists':
      return `attribute_exists(${to.name(condition.path)})`;
    case 'missing':
      return `attribute_not_exists(${to.name(condition.path)})`;
    case 'not':
      return `NOT (${conditionExpression(condition.not, to)})`;
    case 'and':
    case 'or': {
      if (condition.all.length === 0) throw new TypeError(`"${condition.op}" has no parts.`);
      const [only] = condition.all;
      if (condition.all.length === 1 && only !== undefined) return conditionExpression(only, to);
      return condition.all.map((part) => nested(part, to)).join(condition.op === 'and' ? ' AND ' : ' OR ');
    }
    case 'in': {
      const { path, values } = condition;
      if (values.length === 0 || values.length > 100) {
        throw new TypeError(`"in" of ${path} has ${values.length} values; expected 1 to 100.`);
      }
      return `${to.name(path)} IN (${values.map((value) => to.value(value, path)).join(', ')})`;
    }
    case '<>': {
      const name = to.name(condition.path);
      return `attribute_exists(${name}) AND ${name} <> ${to.value(condition.value, condition.path)}`;
    }
    default: {
      const { op, path, value } = condition;
      if (op !== '=' && typeof value === 'boolean')
        throw new TypeError(`${path} ${op} ${value}: booleans have no order.`);
      return `${to.name(path)} ${op} ${to.value(value, path)}`;
    }
  }
};

/** A part of an "and" or "or": in parentheses where it needs them, and only there, as DynamoDB refuses redundant ones. */
const nested = (part: Condition, to: Placeholders): string =>
  isCompound(part) ? `(${conditionExpression(part, to)})` : conditionExpression(part, to);

const isCompound = (condition: Condition): boolean => {
  if (condition.op !== 'and' && condition.op !== 'or') return condition.op === '<>';
  const [only] = condition.all;
  return condition.all.length > 1 || (only !== undefined && isCompound(only));
};

/**
 * Compiles the changes of an update. Every operand is the item's value before the update, as DynamoDB evaluates SET.
 * @throws TypeError for no change at all or a value that cannot be stored
 */
export const updateExpression = (changes: readonly Change[], to: Placeholders): string => {
  if (changes.length === 0) throw new TypeError('An update needs at least one change.');
  const sets: string[] = [];
  const removes: string[] = [];
  let zero: string | undefined;
  const orZero = (name: string, path: string): string => {
    zero ??= to.value(0, path);
    return `if_not_exists(${name}, ${zero})`;
  };
  for (const change of changes) {
    const name = to.name(change.path);
    switch (change.do) {
      case 'set':
        sets.push(`${name} = ${to.value(change.value, change.path)}`);
        break;
      case 'add':
        sets.push(`${name} = ${orZero(name, change.path)} + ${to.value(change.value, change.path)}`);
        break;
      case 'addFrom':
        sets.push(`${name} = ${orZero(name, change.path)} + ${orZero(to.name(change.from), change.from)}`);
        break;
      case 'remove':
        removes.push(name);
    }
  }
  return [
    ...(sets.length > 0 ? [`SET ${sets.join(', ')}`] : []),
    ...(removes.length > 0 ? [`REMOVE ${removes.join(', ')}`] : []),
  ].join(' ');
};
