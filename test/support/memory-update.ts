import type { Change, Item, Key, Value } from '../../lib/kernel/table.ts';
import { addDecimals, freezeItem, freezeValue, invalid, type Stored } from './memory-value.ts';

/**
 * What DynamoDB refuses about changes without a look at the item, so before it judges a guard.
 * @throws ValidationException for no change at all, a path changed twice, a key's path, a value that cannot be stored
 */
export const checkChanges = (changes: readonly Change[]): void => {
  if (changes.length === 0) throw invalid('An update needs at least one change.');
  const paths = new Set<string>();
  for (const { path } of changes) {
    if (path === 'pk' || path === 'sk') {
      throw invalid(`Cannot update attribute ${path}. This attribute is part of the key`);
    }
    if (paths.has(path)) throw invalid(`Two document paths overlap with each other: ${path}`);
    paths.add(path);
  }
  for (const change of changes) {
    if (change.do === 'set') freezeValue(change.value, change.path);
    if (change.do === 'add') numberOf(freezeValue(change.value, change.path), change.path);
  }
};

/**
 * The item after an update whose changes were checked. All changes read the item as it was before the first of them.
 * @throws ValidationException for a sum over what is no number, or an item that could not be put
 */
export const applyChanges = (key: Key, current: Item | undefined, changes: readonly Change[]): Stored => {
  const before: { readonly [name: string]: Value } = current ?? { pk: key.pk, sk: key.sk };
  const after: { [name: string]: Value } = { ...before };
  for (const change of changes) {
    const { path } = change;
    switch (change.do) {
      case 'set':
        after[path] = change.value;
        break;
      case 'add':
        after[path] = addDecimals(numberAt(before, path), change.value);
        break;
      case 'addFrom':
        after[path] = addDecimals(numberAt(before, path), numberAt(before, change.from));
        break;
      case 'remove':
        delete after[path];
    }
  }
  return freezeItem(after);
};

const numberAt = (item: { readonly [name: string]: Value }, path: string): number =>
  numberOf(item[path] ?? absent(item, path), path);

/** A stored null is no number; only a missing attribute counts as 0. */
const absent = (item: { readonly [name: string]: Value }, path: string): Value =>
  path in item ? (item[path] ?? null) : 0;

const numberOf = (value: Value, path: string): number => {
  if (typeof value !== 'number')
    throw invalid(`An operand in the update expression has an incorrect data type: ${path}`);
  return value;
};
