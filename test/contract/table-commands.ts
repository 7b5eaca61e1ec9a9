import * as fc from 'fast-check';
import type { Change, Condition, Item, Key, Query, Value, Write } from '../../lib/kernel/table.ts';

/** Calls of the port as data, drawn from a few keys, attributes and values, so that they often meet each other. */
export type Command =
  | { readonly call: 'put'; readonly item: Item; readonly condition?: Condition }
  | { readonly call: 'update'; readonly key: Key; readonly changes: readonly Change[]; readonly condition?: Condition }
  | { readonly call: 'delete'; readonly key: Key; readonly condition?: Condition }
  | { readonly call: 'get'; readonly key: Key }
  | { readonly call: 'getMany'; readonly keys: readonly Key[] }
  | { readonly call: 'transact'; readonly writes: readonly Write[]; readonly token?: string }
  | { readonly call: 'query'; readonly query: Query };

const PARTITIONS = ['P', 'Q'] as const;
const SKS = ['A', 'B#1', 'B#2', 'B#\uffff', 'B#🎈', 'C'] as const;
const PATHS = ['n', 'n', 't', 'x.y'] as const; // one comes up more often, so that guards meet values
const INDEX_KEYS = ['I', 'J'] as const;
const INDEX_SKS = ['1', '2', '3', 'ü'] as const;

const pk = (scope: string, name: string): string => `ORG#${scope}#${name}`;

/** Everything that was written: by key and by both indexes. */
export const queries = (scope: string): Query[] => [
  ...PARTITIONS.map((name) => ({ pk: pk(scope, name), limit: 4, consistent: true })),
  ...INDEX_KEYS.flatMap((name) =>
    (['byOwner', 'due'] as const).map((index) => ({ pk: pk(scope, name), index, limit: 100 })),
  ),
];

const value: fc.Arbitrary<Value> = fc.oneof(
  fc.integer({ min: -1, max: 1 }),
  fc.constantFrom<Value>(0.1, -2.25, 1e-7, 'a', 'B', '', 'ü', '🎈', true, false, null, [1, [null, 'x']], {
    a: { b: 1 },
  }),
);
const scalar = fc.oneof(fc.integer({ min: -1, max: 1 }), fc.constantFrom('a', 'B', '', '🎈', '\uffff', 0.1));
const path = fc.constantFrom(...PATHS);

const condition: fc.Arbitrary<Condition> = fc.letrec<{ one: Condition }>((tie) => ({
  one: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ op: fc.constantFrom('exists' as const, 'missing' as const), path: fc.constantFrom('pk', ...PATHS) }),
    {
      weight: 3,
      arbitrary: fc.record({
        op: fc.constantFrom('=' as const, '<>' as const, '<' as const, '<=' as const, '>' as const, '>=' as const),
        path,
        value: fc.oneof({ weight: 6, arbitrary: scalar }, { weight: 1, arbitrary: fc.boolean() }),
      }),
    },
    fc.record({ op: fc.constant('in' as const), path, values: fc.array(scalar, { maxLength: 3 }) }),
    fc.record({
      op: fc.constantFrom('and' as const, 'or' as const),
      all: fc.array(tie('one'), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ op: fc.constant('not' as const), not: tie('one') }),
  ),
})).one;

const guard = fc.option(condition, { nil: undefined, freq: 2 });

type Scoped<T> = (scope: string) => T;

const key: fc.Arbitrary<Scoped<Key>> = fc
  .oneof(
    { weight: 2, arbitrary: fc.constant(['P', 'A'] as const) }, // half of all calls meet on one row
    { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...PARTITIONS), fc.constantFrom(...SKS)) },
  )
  .map(([name, sk]) => (scope) => ({ pk: pk(scope, name), sk }));

const attributes = fc.dictionary(path, value, { maxKeys: 3, noNullPrototype: true });

/**
 * An index's sort key repeats the row's own key, because DynamoDB promises no order between equal ones; one index key
 * without the other keeps a row out.
 */
const indexKeys: fc.Arbitrary<(scope: string, key: Key) => { [name: string]: Value }> = fc
  .tuple(
    fc.constantFrom('owner', 'due'),
    fc.constantFrom(...INDEX_KEYS),
    fc.constantFrom(...INDEX_SKS),
    fc.constantFrom('both', 'both', 'both', 'pk', 'sk', 'none'),
  )
  .map(([index, name, sk, which]) => (scope, own) => ({
    ...(which === 'both' || which === 'pk' ? { [`${index}Pk`]: pk(scope, name) } : {}),
    ...(which === 'both' || which === 'sk' ? { [`${index}Sk`]: `${sk}#${own.pk.at(-1)}#${own.sk}` } : {}),
  }));

const item: fc.Arbitrary<Scoped<Item>> = fc.tuple(key, attributes, indexKeys).map(([at, more, indexed]) => (scope) => {
  const own = at(scope);
  return { ...more, ...indexed(scope, own), ...own };
});

const change: fc.Arbitrary<(scope: string, key: Key) => Change[]> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .oneof(
        fc.record({ do: fc.constant('set' as const), path, value }),
        fc.record({ do: fc.constant('add' as const), path, value: fc.constantFrom(1, -2, 0.1, 0) }),
        fc.record({ do: fc.constant('addFrom' as const), path, from: path }),
        fc.record({ do: fc.constant('remove' as const), path }),
      )
      .map((one) => () => [one]),
  },
  {
    weight: 1,
    arbitrary: indexKeys.map(
      (indexed) => (scope: string, own: Key) =>
        Object.entries(indexed(scope, own)).map(([name, text]): Change => ({ do: 'set', path: name, value: text })),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('ownerPk', 'ownerSk', 'duePk', 'dueSk')
      .map((name) => () => [{ do: 'remove' as const, path: name }]),
  },
);
const changes = fc
  .array(change, { minLength: 1, maxLength: 3 })
  .map((parts) => (scope: string, own: Key) => parts.flatMap((part) => part(scope, own)));

const optional = <Name extends string, T>(name: Name, given: T | undefined): { [K in Name]?: T } =>
  (given === undefined ? {} : { [name]: given }) as { [K in Name]?: T };

const write: fc.Arbitrary<Scoped<Write>> = fc.oneof(
  fc.tuple(item, guard).map(([put, when]) => (scope: string) => ({ put: put(scope), ...optional('if', when) })),
  fc.tuple(key, changes, guard).map(([at, make, when]) => (scope: string) => {
    const update = at(scope);
    return { update, changes: make(scope, update), ...optional('if', when) };
  }),
  fc.tuple(key, guard).map(([at, when]) => (scope: string) => ({ delete: at(scope), ...optional('if', when) })),
  fc.tuple(key, condition).map(([at, when]) => (scope: string) => ({ check: at(scope), if: when })),
);

const query: fc.Arbitrary<Scoped<Query>> = fc
  .record(
    {
      range: fc.constantFrom<Partial<Query>>(
        {},
        { prefix: 'B#' },
        { prefix: 'C' },
        { from: 'B#1' },
        { to: 'B#\uffff' },
        { from: 'A', to: 'B#2' },
        { from: 'C', to: 'A' },
        { from: 'B#2', to: 'B#🎈' },
      ),
      name: fc.constantFrom(...PARTITIONS),
      limit: fc.constantFrom(1, 2, 100),
      newestFirst: fc.boolean(),
      after: fc.option(fc.constantFrom(...SKS), { nil: undefined }),
    },
    { requiredKeys: ['range', 'name'] },
  )
  .map(({ range, name, limit, newestFirst, after }) => (scope) => ({
    pk: pk(scope, name),
    ...range,
    consistent: true,
    ...optional('limit', limit),
    ...optional('newestFirst', newestFirst),
    // A cursor outside the range is refused, so it goes with the whole partition only.
    ...(after !== undefined && Object.keys(range).length === 0 ? { after: { pk: pk(scope, name), sk: after } } : {}),
  }));

const command: fc.Arbitrary<Scoped<Command>> = fc.oneof(
  fc.tuple(item, guard).map(
    ([make, when]) =>
      (scope: string): Command => ({
        call: 'put',
        item: make(scope),
        ...optional('condition', when),
      }),
  ),
  fc.tuple(key, changes, guard).map(([at, make, when]) => (scope: string): Command => {
    const own = at(scope);
    return { call: 'update', key: own, changes: make(scope, own), ...optional('condition', when) };
  }),
  fc.tuple(key, guard).map(
    ([at, when]) =>
      (scope: string): Command => ({
        call: 'delete',
        key: at(scope),
        ...optional('condition', when),
      }),
  ),
  key.map(
    (at) =>
      (scope: string): Command => ({ call: 'get', key: at(scope) }),
  ),
  fc.array(key, { maxLength: 4 }).map(
    (many) =>
      (scope: string): Command => ({
        call: 'getMany',
        keys: many.map((at) => at(scope)),
      }),
  ),
  fc
    .tuple(fc.array(write, { minLength: 1, maxLength: 4 }), fc.option(fc.constantFrom('1', '2'), { nil: undefined }))
    .map(
      ([many, token]) =>
        (scope: string): Command => ({
          call: 'transact',
          writes: many.map((make) => make(scope)),
          ...optional('token', token === undefined ? undefined : `${token}-${scope}`.slice(0, 36)),
        }),
    ),
  query.map(
    (make) =>
      (scope: string): Command => ({ call: 'query', query: make(scope) }),
  ),
);

/** A row and guards to judge it by. */
export const judgements: fc.Arbitrary<(scope: string) => Command[]> = fc
  .tuple(attributes, fc.array(condition, { minLength: 10, maxLength: 20 }))
  .map(([more, guards]) => (scope) => {
    const own = { pk: pk(scope, 'P'), sk: 'A' };
    return [
      { call: 'put', item: { ...more, ...own } },
      ...guards.map((guarding): Command => ({ call: 'transact', writes: [{ check: own, if: guarding }] })),
    ];
  });

export const commands: fc.Arbitrary<(scope: string) => Command[]> = fc
  .array(command, { minLength: 5, maxLength: 40 })
  .map((many) => (scope) => many.map((make) => make(scope)));
