import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UnreadableRow } from '../../lib/kernel/errors.ts';
import type { Item, Value } from '../../lib/kernel/table.ts';
import { attributesOf, KINDS, type Kind, without } from './support/rows.ts';
import { always, TEST_MS } from './support/runs.ts';
import { UPPER_KINDS } from './support/upper-rows.ts';

/** The row as read, or that it cannot be. Any other error is a failure. */
const read = ({ read: reader }: Kind, item: Item): { readonly [field: string]: unknown } | 'unreadable' => {
  try {
    return reader(item) as { readonly [field: string]: unknown };
  } catch (error) {
    if (error instanceof UnreadableRow) return 'unreadable';
    throw error;
  }
};

const anyValue: fc.Arbitrary<Value> = fc.oneof(
  fc.jsonValue() as fc.Arbitrary<Value>,
  fc.constantFrom<Value>(
    null,
    '',
    0,
    -1,
    0.5,
    1e300,
    2 ** 53,
    true,
    [],
    {},
    '2026',
    'RUNNING',
    '{',
    '[]',
    'null',
    '{"a":1}',
  ),
  fc.string({ unit: 'binary' }),
);

describe.each([...KINDS, ...UPPER_KINDS])('a row: $name', (kind) => {
  const whole = read(kind, kind.item);
  const names = attributesOf(kind.item);

  it('is read as it was written', () => expect(whole).not.toBe('unreadable'));

  it('of another version is not read at all', () => {
    always(
      fc.property(fc.oneof(fc.integer({ min: 2 }), fc.constantFrom<Value>('1', 0, 1.5, true, null)), (v) => {
        expect(read(kind, { ...kind.item, v })).toBe('unreadable');
      }),
      30,
    );
    expect(read(kind, without(kind.item, 'v'))).toBe('unreadable');
  });

  it('of a version that is no word is told as it is', () => {
    for (const v of [{ toString: 1 }, [{ toString: null }]])
      expect(read(kind, { ...kind.item, v } as Item)).toBe('unreadable');
  });

  it('with attributes nobody knows is read as without them', () => {
    const stranger = fc.string({ minLength: 1 }).filter((name) => !(name in kind.item) && name !== '__proto__');
    const known = Object.keys(whole);
    always(
      fc.property(
        stranger.filter((name) => name.length > 3 && !known.includes(name)),
        anyValue,
        (name, value) => {
          expect(read(kind, { ...kind.item, [name]: value })).toEqual(whole);
        },
      ),
      60,
    );
  });

  it('with one damaged attribute is read whole, the damage as it is, or not at all', { timeout: TEST_MS }, () => {
    always(
      fc.property(fc.constantFrom(...names), anyValue, (name, value) => {
        const found = read(kind, { ...kind.item, [name]: value } as Item);
        if (found === 'unreadable' || whole === 'unreadable') return;
        const differs = Object.keys({ ...whole, ...found }).filter((field) => !same(whole[field], found[field]));
        if (kind.apart?.includes(name) === true) return;
        // The readers of executions and of the feed give attributes long names: one of them may differ, no more.
        if (kind.apart?.includes('*') === true) expect(differs.length).toBeLessThanOrEqual(1);
        else expect(differs.filter((field) => field !== name)).toEqual([]);
        for (const field of differs) expect(found[field]).toEqual(value);
      }),
      150,
    );
  });

  it('without one of its attributes is read whole, or not at all', () => {
    for (const name of names) {
      const found = read(kind, without(kind.item, name));
      if (found === 'unreadable' || whole === 'unreadable' || kind.apart?.includes(name) === true) continue;
      const differs = Object.keys(whole).filter((field) => !same(whole[field], found[field]));
      expect(differs.length, name).toBeLessThanOrEqual(1);
    }
  });
});

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
