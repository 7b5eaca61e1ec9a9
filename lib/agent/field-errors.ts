import type * as z from 'zod';
import type { FieldError } from '../kernel/errors.ts';

/** A value's kind and size in words, never the value itself: it may be a secret, or a megabyte. */
export const shapeOf = (value: unknown): string => {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'string') return `string of ${value.length} character${value.length === 1 ? '' : 's'}`;
  if (Array.isArray(value)) return `array of ${value.length}`;
  if (typeof value === 'object') return 'object';
  if (typeof value === 'number') return `number ${value}`;
  return typeof value;
};

const at = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, part) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, part)
        ? (inner as { readonly [key: PropertyKey]: unknown })[part]
        : undefined,
    value,
  );

const fieldOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  );

const bound = (
  issue: { readonly origin: string; readonly inclusive?: boolean | undefined },
  limit: unknown,
  side: string,
) => {
  const one = Number(limit) === 1;
  const entries = issue.origin === 'array' || issue.origin === 'set';
  const unit =
    issue.origin === 'string' ? ` character${one ? '' : 's'}` : entries ? ` ${one ? 'entry' : 'entries'}` : '';
  return issue.inclusive === false
    ? `${side === 'at least' ? 'more than' : 'less than'} ${limit}${unit}`
    : `${side} ${limit}${unit}`;
};

const expectedBy = (issue: z.core.$ZodIssue): string => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'int' ? 'whole number' : issue.expected;
    case 'too_small':
      return bound(issue, issue.minimum, 'at least');
    case 'too_big':
      return bound(issue, issue.maximum, 'at most');
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_format':
      return issue.message.replace(/^Invalid string: must /, 'string that must ').replace(/^Invalid /, 'valid ');
    case 'invalid_key':
      return `a name: ${issue.issues.map(expectedBy).join(' and ')}`;
    case 'invalid_element':
      return issue.issues.map(expectedBy).join(' and ');
    case 'unrecognized_keys':
      return `no field ${issue.keys.join(', ')}`;
    case 'invalid_union':
      // Of a kind that does not exist, the kinds that do.
      if ('options' in issue && Array.isArray(issue.options)) return `one of ${issue.options.map(String).join(', ')}`;
      return [...new Set(issue.errors.flat().map(expectedBy))].join(' or ') || issue.message;
    case 'not_multiple_of':
      return `a multiple of ${issue.divisor}`;
    default:
      return issue.message;
  }
};

/** The one alternative of a union that has the right shape, so that only something inside of it is wrong. */
const closest = (issue: z.core.$ZodIssueInvalidUnion): readonly z.core.$ZodIssue[] | undefined => {
  const near = issue.errors.filter((issues) =>
    issues.every(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'),
  );
  const [first] = near;
  return near.length === 1 && issue.errors.length > 1 && first !== undefined && first.length > 0 ? first : undefined;
};

/**
 * What does not fit, field by field: where, what shape came, what was expected. Unknown fields get an entry each.
 * @param under where the value stands in the request, such as `config`
 */
export const fieldErrors = (error: z.core.$ZodError, value: unknown, under: string = ''): FieldError[] => {
  const start = under === '' ? [] : [under];
  return error.issues.flatMap((issue): FieldError[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        field: fieldOf([...start, ...issue.path, key]),
        received: shapeOf(at(value, [...issue.path, key])),
        expected: 'no field of this name',
      }));
    }
    const inner = issue.code === 'invalid_union' ? closest(issue) : undefined;
    if (inner !== undefined) {
      return fieldErrors(
        { issues: inner } as z.core.$ZodError,
        at(value, issue.path),
        fieldOf([...start, ...issue.path]),
      );
    }
    const field = fieldOf([...start, ...issue.path]);
    if (issue.code === 'invalid_key') {
      return [
        {
          field,
          received: `name of ${String(issue.path.at(-1) ?? '').length} characters`,
          expected: expectedBy(issue),
        },
      ];
    }
    return [
      { field: field === '' ? 'body' : field, received: shapeOf(at(value, issue.path)), expected: expectedBy(issue) },
    ];
  });
};
