import { type Attributes, type AttributeValue, attributeOf, type Path, valueAt } from '../values/values.ts';

/**
 * The item cut down to the given paths; the documents on the way are rebuilt with only what was asked for. Lists close up:
 * positions 0 and 5 come back as a list of two.
 */
export function project(item: Attributes, paths: readonly Path[]): Attributes {
  const result: Attributes = {};
  const lists = new Set<(AttributeValue | undefined)[]>();
  for (const path of paths) {
    const value = valueAt(item, path);
    if (value !== undefined) place({ M: result }, path, value, lists);
  }
  for (const list of lists) list.splice(0, list.length, ...list.filter((each) => each !== undefined));
  return result;
}

function place(
  into: AttributeValue,
  path: Path,
  value: AttributeValue,
  lists: Set<(AttributeValue | undefined)[]>,
): void {
  const [piece, ...rest] = path;
  if (piece === undefined) return;
  const child = rest.length === 0 ? value : (childOf(into, piece) ?? {});
  if (typeof piece === 'number') {
    into.L ??= [];
    into.L[piece] = child;
    lists.add(into.L);
  } else {
    into.M ??= {};
    into.M[piece] = child;
  }
  if (rest.length > 0) place(child, rest, value, lists);
}

const childOf = (parent: AttributeValue, piece: string | number): AttributeValue | undefined =>
  typeof piece === 'number' ? parent.L?.[piece] : attributeOf(parent.M ?? {}, piece);
