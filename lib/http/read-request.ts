import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import * as z from 'zod';
import { fieldErrors } from '../agent/field-errors.ts';
import { AppError, badRequest, type FieldError } from '../kernel/errors.ts';
import { malformedAt } from './json-position.ts';

const MOST_BYTES = 1024 * 1024;
/** Deeper nesting has no use here and would overflow the stack of whatever walks through it. */
const DEEPEST = 64;

/** @throws AppError 400 naming what was given twice */
export const readQuery = (event: APIGatewayProxyEventV2): { readonly [name: string]: string } => {
  const given = new URLSearchParams(event.rawQueryString ?? '');
  const query: { [name: string]: string } = Object.create(null) as { [name: string]: string };
  for (const [name, value] of given) {
    if (Object.hasOwn(query, name)) {
      const received = `${given.getAll(name).length} values`;
      throw badRequest(`${name} is given more than once.`, [{ field: name, received, expected: 'one value' }]);
    }
    query[name] = value;
  }
  return query;
};

/**
 * The JSON body; `{}` when there is none. The content type is not looked at: what parses as JSON is JSON.
 * @throws AppError 400 `malformed_json` (with the position), `invalid_utf8`, `too_deep`; 413 `body_too_large`
 */
export const readBody = (event: APIGatewayProxyEventV2): unknown => {
  const text = bodyText(event);
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed(text);
  }
  checkShape(value);
  return value;
};

const bodyText = (event: APIGatewayProxyEventV2): string => {
  const { body = '', isBase64Encoded } = event;
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  if (bytes.byteLength > MOST_BYTES) {
    const message = `The body has ${bytes.byteLength} bytes; at most ${MOST_BYTES} are taken.`;
    throw new AppError(413, 'body_too_large', message, { limit: MOST_BYTES });
  }
  if (!isBase64Encoded) return body;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badRequest('The body is not valid UTF-8.', [], 'invalid_utf8');
  }
};

const malformed = (text: string): AppError => {
  const position = malformedAt(text);
  const before = text.slice(0, position).split('\n');
  const where = { position, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  const how = position >= text.length ? 'it breaks off' : 'it cannot be read';
  const message = `The body is not JSON: ${how} at character ${position} (line ${where.line}, column ${where.column}).`;
  return new AppError(400, 'malformed_json', message, where);
};

/** Looks through the value level by level, without recursion. */
const checkShape = (value: unknown): void => {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) throw badRequest(`The body is nested more than ${DEEPEST} levels deep.`, [], 'too_deep');
    const objects = level.filter((one) => typeof one === 'object' && one !== null);
    if (objects.some((one) => Object.hasOwn(one, '__proto__'))) {
      // Half of the world's JavaScript loses such a member on the way, so that what is kept would not be what was given.
      const error = { field: '__proto__', received: 'a member of this name', expected: 'another name' };
      throw badRequest('No member may be called __proto__.', [error]);
    }
    level = objects.flatMap((one) => Object.values(one));
  }
};

/**
 * @param part `query` or `body`, for the message only
 * @throws AppError 400 with an entry for each field that does not fit, unknown ones included
 */
export const parsePart = (schema: z.ZodType, value: unknown, part: 'query' | 'body'): unknown => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors = fieldErrors(parsed.error, value);
  throw badRequest(sentence(part, errors), errors);
};

const sentence = (part: string, errors: readonly FieldError[]): string => {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return first === undefined
    ? `The ${part} does not fit.`
    : `The ${part} does not fit: ${first.field}: received ${first.received}, expected ${first.expected}${more}.`;
};

/** Of routes that take nothing: an empty object, so that a stray field is told and not swallowed. */
export const nothing = z.strictObject({});
