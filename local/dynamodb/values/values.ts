/** DynamoDB's typed values as they travel in the JSON protocol, after validation. */

/** Exactly one member is set. Numbers are decimal strings without exponent, binary is base64. */
export interface AttributeValue {
  S?: string;
  N?: string;
  B?: string;
  BOOL?: boolean;
  NULL?: boolean;
  SS?: string[];
  NS?: string[];
  BS?: string[];
  L?: AttributeValue[];
  M?: Attributes;
}

export type Attributes = { [name: string]: AttributeValue };

export type ValueType = keyof AttributeValue;

export type KeyType = 'S' | 'N' | 'B';

/** A document path: names and list positions. */
export type Path = readonly (string | number)[];

export const typeOf = (value: AttributeValue): ValueType => Object.keys(value)[0] as ValueType;

/** Own attributes only, so that a path called `constructor` finds nothing. */
export const attributeOf = (attributes: Attributes, name: string): AttributeValue | undefined =>
  Object.hasOwn(attributes, name) ? attributes[name] : undefined;

/** The value at a path, or nothing where any piece of it is missing or of another kind. */
export function valueAt(attributes: Attributes, path: Path): AttributeValue | undefined {
  let value: AttributeValue | undefined = { M: attributes };
  for (const piece of path) {
    if (value === undefined) return undefined;
    if (typeof piece === 'number') value = value.L?.[piece];
    else value = value.M === undefined ? undefined : attributeOf(value.M, piece);
  }
  return value;
}

/** A copy in depth: several times as fast as `structuredClone` on these plain trees. */
export function copyOf(attributes: Attributes): Attributes {
  const copy: Attributes = {};
  for (const [name, value] of Object.entries(attributes)) copy[name] = copyOfValue(value);
  return copy;
}

export function copyOfValue(value: AttributeValue): AttributeValue {
  if (value.M !== undefined) return { M: copyOf(value.M) };
  if (value.L !== undefined) return { L: value.L.map(copyOfValue) };
  return { ...value };
}

/** How deep documents nest: 0 for a plain value, 1 for a list or map of plain values. */
export function nestingOf(value: AttributeValue): number {
  const parts = value.L ?? (value.M === undefined ? undefined : Object.values(value.M));
  if (parts === undefined) return 0;
  let deepest = 0;
  for (const part of parts) deepest = Math.max(deepest, nestingOf(part));
  return deepest + 1;
}

/** Equality as DynamoDB has it: same type, sets without order, documents in depth. Numbers are in normal form already. */
export function sameValue(one: AttributeValue, other: AttributeValue): boolean {
  const type = typeOf(one);
  if (type !== typeOf(other)) return false;
  const [a, b] = [one[type], other[type]];
  if (one.L !== undefined && other.L !== undefined) {
    const list = other.L;
    return one.L.length === list.length && one.L.every((each, i) => sameValue(each, list[i] ?? {}));
  }
  if (one.M !== undefined && other.M !== undefined) {
    const map = other.M;
    const names = Object.keys(one.M);
    if (names.length !== Object.keys(map).length) return false;
    return Object.entries(one.M).every(([name, each]) => sameValue(each, attributeOf(map, name) ?? {}));
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    const members = new Set<unknown>(b);
    return a.length === b.length && a.every((member) => members.has(member));
  }
  return a === b;
}
