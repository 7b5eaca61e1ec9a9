/** JSON near a schema: values that fit it, and what becomes of them when one place is damaged. */
import * as fc from 'fast-check';
import * as z from 'zod';
import { CONFIG_SCHEMAS } from '../../../lib/agent/config-keys.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  /** Of a record: what its members are and how they are called. */
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: string;
  readonly pattern?: string;
}

/** What the text of a schema does not tell: checks in code. */
const KNOWN: { readonly [field: string]: fc.Arbitrary<unknown> } = {
  baseUrl: fc.constantFrom(
    'https://models.example/v1',
    'http://127.0.0.1:9/v1',
    'https://user:x@a.example',
    'ftp://a',
    'x',
  ),
  apiKey: fc.constantFrom('sk-x', 'sk-y', 'sk z'),
  inputUsdPerM: fc.constantFrom(0, 0.15, 2, 3, 7, 5e-324),
  outputUsdPerM: fc.constantFrom(0, 0.15, 2, 3, 7, 1e6),
  temperature: fc.constantFrom(0, 0.7, 2, 5e-324),
  user_timezone: fc.constantFrom('Europe/Berlin', 'UTC', 'Mars/Olympus'),
  userTimezone: fc.constantFrom('Europe/Berlin', 'UTC', 'Mars/Olympus'),
  tools: fc.subarray(['think', 'write_file', 'http_request', 'finish']),
  permissionTools: fc.subarray(['think', 'write_file', 'nothing']),
  workflow: fc.constantFrom('goal', 'goal', 'other'),
  expiresAt: fc.constantFrom('2026-03-02T00:00:00Z', '2020-01-01T00:00:00.000Z', '9999-12-31T23:59:59Z'),
};

const text = (schema: Schema): fc.Arbitrary<string> => {
  if (schema.pattern !== undefined) {
    const fits = fc.stringMatching(new RegExp(schema.pattern));
    return fc.oneof({ weight: 9, arbitrary: fits }, { weight: 1, arbitrary: fc.string({ maxLength: 40 }) });
  }
  const minLength = schema.minLength ?? 0;
  const maxLength = Math.min(schema.maxLength ?? 40, minLength + 40);
  return fc.oneof(
    { weight: 4, arbitrary: fc.string({ minLength, maxLength }) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength, maxLength }) },
  );
};

const fitting = (schema: Schema, field: string): fc.Arbitrary<unknown> => {
  // SuperAGI's bodies give some of these names to things of another form.
  const ofObjects = [schema, ...(schema.anyOf ?? [])].some(({ items }) => items?.type === 'object');
  const known = ofObjects ? undefined : KNOWN[field];
  if (known !== undefined) return known;
  if (field === 'config') return config;
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const either = schema.anyOf ?? schema.oneOf;
  if (either !== undefined) return fc.oneof(...either.map((one) => fitting(one, '')));
  const least = schema.minimum ?? 0;
  switch (schema.type) {
    case 'object': {
      const members = schema.additionalProperties;
      if (typeof members === 'object' && schema.properties === undefined) {
        return fc.dictionary(text(schema.propertyNames ?? {}), fitting(members, ''), {
          minKeys: 1,
          maxKeys: 2,
          noNullPrototype: true,
        });
      }
      const parts = Object.entries(schema.properties ?? {}).map(([name, part]) => [name, fitting(part, name)] as const);
      const required = (schema.required ?? []) as string[];
      return fc.record(Object.fromEntries(parts), { requiredKeys: required, noNullPrototype: true });
    }
    case 'array': {
      const minLength = schema.minItems ?? 0;
      return fc.array(fitting(schema.items ?? {}, ''), {
        minLength,
        maxLength: Math.min(schema.maxItems ?? 3, minLength + 2),
      });
    }
    case 'string':
      return text(schema);
    case 'integer':
      return fc.integer({ min: least, max: Math.min(schema.maximum ?? 1_000, least + 10_000) });
    case 'number':
      return fc.double({ min: least, max: Math.min(schema.maximum ?? 100, least + 1_000), noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.jsonValue();
  }
};

/** Schemas with an id come as references; none of ours holds itself. */
const schemaOf = (type: z.ZodType): Schema => {
  const made = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' });
  const whole = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(whole);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...rest } = value as { readonly $ref?: string };
    const named = typeof $ref === 'string' ? made.$defs?.[$ref.slice('#/$defs/'.length)] : undefined;
    if (named !== undefined) return { ...(whole(named) as object), ...rest };
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, whole(inner)]));
  };
  const { $defs: _, ...root } = made;
  return whole(root) as Schema;
};

/** Values that mostly fit the schema. */
export const near = (type: z.ZodType, field: string = ''): fc.Arbitrary<unknown> => fitting(schemaOf(type), field);

const config: fc.Arbitrary<unknown> = fc
  .tuple(
    fc.record(Object.fromEntries(Object.entries(CONFIG_SCHEMAS).map(([name, type]) => [name, near(type, name)])), {
      requiredKeys: [],
      noNullPrototype: true,
    }),
    fc.option(
      fc.dictionary(fc.stringMatching(/^[A-Za-z][\w.-]{0,8}$/), fc.jsonValue(), { maxKeys: 2, noNullPrototype: true }),
      {
        nil: {},
      },
    ),
    fc.boolean(),
  )
  .map(([known, more, few]) => {
    const entries = Object.entries(known);
    return { ...Object.fromEntries(few ? entries.slice(0, 2) : entries), ...more };
  });

type Path = readonly (string | number)[];

const pathsOf = (value: unknown, at: Path = []): Path[] =>
  typeof value === 'object' && value !== null
    ? [at, ...Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...at, name]))]
    : [at];

const changed = (value: unknown, path: Path, change: (inner: unknown) => unknown): unknown => {
  const [first, ...rest] = path;
  if (first === undefined) return change(value);
  if (typeof value !== 'object' || value === null) return value;
  const copy: { [name: string]: unknown } = Array.isArray(value) ? ([...value] as never) : { ...value };
  const next = changed(copy[first], rest, change);
  if (next === GONE) delete copy[first];
  else copy[first] = next;
  return copy;
};

const GONE = Symbol('gone');
const doubled = (value: unknown): unknown => {
  if (typeof value === 'string') return value + value;
  if (typeof value === 'number') return value * 2;
  if (Array.isArray(value)) return [...value, ...value];
  return [value, value];
};

const damage: fc.Arbitrary<(value: unknown) => unknown> = fc.oneof(
  fc.constant(() => GONE),
  fc.constant(doubled),
  fc.jsonValue().map((other) => () => other),
  fc
    .constantFrom<unknown>(null, '', ' ', 0, -1, 1e308, 0.1, 2 ** 53, true, [], {}, '\u0000', '\ud800', '__proto__')
    .map((other) => () => other),
  fc.constantFrom('x', '漢', '\u0001').map((one) => () => one.repeat(150_000)),
  fc.constantFrom(70, 3_000).map((levels) => () => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)),
  fc.constantFrom(300, 5_000).map((count) => () => Array.from({ length: count }, (_, n) => `entry ${n}`)),
  fc.tuple(fc.string({ maxLength: 10 }), fc.jsonValue()).map(
    ([name, more]) =>
      (value: unknown) =>
        typeof value === 'object' && value !== null ? { ...value, [name]: more } : { [name]: value },
  ),
);

/** One place of the value is damaged: gone, doubled, of another type, huge, deep, with a stranger beside it. */
export const mutated = (values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.tuple(values, fc.nat(), damage).map(([value, where, change]) => {
    const paths = pathsOf(value);
    const result = changed(value, paths[where % paths.length] ?? [], change);
    return result === GONE ? undefined : result;
  });

export interface SentBody {
  readonly text: string | undefined;
  readonly base64: boolean;
}

const cut = (text: string, at: number): string => text.slice(0, at % (text.length + 1));

/** A body as bytes come: whole, cut, twice, as base64, with bytes that are no UTF-8. */
export const sent = (values: fc.Arbitrary<unknown>): fc.Arbitrary<SentBody> => {
  const texts = values.map((value) => JSON.stringify(value) as string | undefined);
  const plain = (text: string | undefined): SentBody => ({ text, base64: false });
  return fc.oneof(
    { weight: 8, arbitrary: texts.map(plain) },
    { weight: 1, arbitrary: fc.tuple(texts, fc.nat()).map(([text = '', at]) => plain(cut(text, at))) },
    { weight: 1, arbitrary: texts.map((text = '') => ({ text: Buffer.from(text).toString('base64'), base64: true })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(texts, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 4 }))
        .map(([text = '', at, bytes]) => {
          const whole = Buffer.from(text);
          const place = at % (whole.length + 1);
          return {
            text: Buffer.concat([whole.subarray(0, place), bytes, whole.subarray(place)]).toString('base64'),
            base64: true,
          };
        }),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }).map(plain) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(
          '{"__proto__":{"a":1}}',
          '{"a":1,"a":2}',
          '[]',
          '"x"',
          'null',
          '{',
          `${'['.repeat(100_000)}`,
          '﻿{}',
          `{"name":"${'x'.repeat(1_100_000)}"}`,
        )
        .map(plain),
    },
  );
};
