import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTable } from '../../lib/aws/table.ts';
import type { Item, Table, Value } from '../../lib/kernel/table.ts';
import { startDynamoDbTable, type TestTable } from '../support/dynamodb-table.ts';
import { makeMemoryTable } from '../support/memory-table.ts';
import { KINDS } from './support/rows.ts';
import { runs, TEST_MS } from './support/runs.ts';

let started: TestTable;
let real: Table;
beforeAll(async () => {
  started = await startDynamoDbTable();
  real = makeTable(started);
});
afterAll(() => started.close());

const number = fc.oneof(
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(
    0,
    -0,
    0.1,
    1e-130,
    9.99e-131,
    5e-324,
    2 ** 53,
    -(2 ** 53),
    1e126,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    0.1 + 0.2,
  ),
);
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '\u0000', '\ud800', '\udc00\ud800', '\uffff', '🎈'),
);

const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  one: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom<unknown>(undefined, 1n, Symbol.iterator, new Date(0), new Uint8Array([1]), new Map(), () => 1),
    fc.array(tie('one'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'name', '')), tie('one'), {
      maxKeys: 4,
    }),
  ),
})).one;

/** Values that can mostly be stored: the others would hide what becomes of these. */
const sound: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  one: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    text,
    fc.oneof(fc.maxSafeInteger(), fc.constantFrom(0, -0, 0.1, 0.1 + 0.2, 1e-130, 1e-7, 1.5e300 / 1e290)),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('one'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('constructor', 'name')), tie('one'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
})).one;

const attribute = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.constantFrom('constructor', '#a', ':v', 'a.b', 'size', 'NULL', 'ü'),
);

const outcome = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    return { answered: await work };
  } catch {
    return 'refused';
  }
};

let keys = 0;
const roundTrip = async (made: { readonly [name: string]: unknown }): Promise<void> => {
  const { pk: _, sk: __, ownerPk: ___, ownerSk: ____, duePk: _____, dueSk: ______, ...attributes } = made;
  const item = { ...attributes, pk: `CODEC#${keys++}`, sk: 'ROW' } as unknown as Item;
  const memory = makeMemoryTable();
  const put = [await outcome(memory.put(item)), await outcome(real.put(item))];
  expect(put[1]).toEqual(put[0]);
  const read = await Promise.all([memory, real].map((table) => table.get(item, { consistent: true })));
  expect(plain(read[1])).toEqual(plain(read[0]));
  if (put[0] === 'refused') {
    expect(read[0]).toBeUndefined();
    return;
  }
  // What is read is what was written, but for text that no UTF-8 holds, and for a zero's sign.
  expect(plain(read[1])).toEqual(plain(wellFormed(item) as Item));
  // And once more: nothing changes by being read and written again.
  await real.put(read[1] as Item);
  expect(plain(await real.get(item, { consistent: true }))).toEqual(plain(read[1]));
};

const plain = (item: Item | undefined): unknown =>
  item === undefined
    ? undefined
    : JSON.parse(JSON.stringify(item, (_, one: unknown) => (Object.is(one, -0) ? 0 : one)));

const wellFormed = (one: unknown): unknown => {
  if (typeof one === 'string') return one.toWellFormed();
  if (Array.isArray(one)) return one.map(wellFormed);
  if (typeof one !== 'object' || one === null) return one;
  return Object.fromEntries(Object.entries(one).map(([name, inner]) => [name, wellFormed(inner)]));
};

describe('the codec of the table', () => {
  it('brings back what it took, as the table in memory does', { timeout: TEST_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(attribute, sound, { maxKeys: 5, noNullPrototype: true }), roundTrip),
      runs(120),
    );
  });

  it('refuses what would be lost on the way, and then has written nothing', { timeout: TEST_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(attribute, value, { maxKeys: 3, noNullPrototype: true }), roundTrip),
      runs(120),
    );
  });

  it.each([
    [{ constructor: '\u0000' }],
    [{ constructor: { name: 'Set' } }],
    [{ constructor: { name: 'Number' }, a: [{ constructor: 1 }] }],
  ])('takes a member called constructor for what it is: %j', (member) =>
    roundTrip({ a: [member], b: member, ...member }),
  );

  it.each(KINDS)('brings back a row as its reader wants it: $name', async ({ item, read }) => {
    await real.put(item);
    const back = await real.get({ pk: item.pk, sk: item.sk }, { consistent: true });
    expect(back).toEqual(item);
    expect(read(back as Item)).toEqual(read(item));
    const found = await real.query({ pk: item.pk, prefix: item.sk, consistent: true });
    expect(found.items).toEqual([item as { [name: string]: Value }]);
  });
});
