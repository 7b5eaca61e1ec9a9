import * as z from 'zod';
import { describeValue } from './describe-value.ts';
import { nearest } from './near.ts';
import type { Tool } from './tool.ts';

export type ParsedArguments<Arguments> =
  | { readonly ok: true; readonly args: Arguments }
  /** A sentence for the model: the field, what came, what was expected. */
  | { readonly ok: false; readonly problem: string };

/** Characters of what the model wrote that are quoted back to it around a mistake. */
const EXCERPT = 60;

/** Mistakes named at once; a model mends what it is told and the rest shows on the next try. */
const MAX_ISSUES = 5;

/**
 * Parses what a model wrote as the arguments of a call. Tolerated, because nothing is guessed by it: a Markdown fence
 * around the JSON, and nothing at all (or `null`) for a tool whose arguments may all be left out. Never evaluated, never
 * repaired: half a JSON text may be half a file.
 */
export const parseArguments = <Arguments>(tool: Tool<Arguments>, raw: string): ParsedArguments<Arguments> => {
  const text = withoutFence(raw);
  let value: unknown;
  try {
    value = text === '' || text === 'null' ? {} : JSON.parse(text);
  } catch (error) {
    return { ok: false, problem: `The arguments of ${tool.name} are not valid JSON: ${jsonMistake(text, error)}` };
  }
  const parsed = tool.schema.safeParse(value);
  if (parsed.success) return { ok: true, args: parsed.data };
  const known = fieldNames(tool.schema);
  const issues = parsed.error.issues.slice(0, MAX_ISSUES).map((issue) => issueSentence(issue, value, known));
  return { ok: false, problem: `The arguments of ${tool.name} do not fit: ${issues.join('; ')}.` };
};

const FENCE = /^```[a-zA-Z]*\s*\n([\s\S]*?)\n?\s*```$/;

const withoutFence = (raw: string): string => {
  const text = raw.trim();
  return (FENCE.exec(text)?.[1] ?? text).trim();
};

/** V8 tells the position in some messages and quotes the place in others. */
const jsonMistake = (text: string, error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  if (/end of JSON input|Unterminated/.test(message)) {
    const tail = text.slice(-EXCERPT);
    return `they end too early, after ${text.length} characters (…${tail}). Send the whole object, in smaller pieces if it is long.`;
  }
  const position = /at position (\d+)/.exec(message)?.[1];
  const why = message.replace(/ in JSON at position.*$/, '').replace(/, (?:\.\.\.)?".*$/s, '');
  if (position === undefined) {
    const quoted = /"(.*)"(?:\.\.\.)? is not valid JSON$/s.exec(message)?.[1];
    return `${why} near ${JSON.stringify(quoted ?? text.slice(0, EXCERPT))}.`;
  }
  const at = Number(position);
  const excerpt = text.slice(Math.max(0, at - EXCERPT / 2), at + EXCERPT / 2);
  return `${why} at position ${at}, near ${JSON.stringify(excerpt)}.`;
};

const issueSentence = (issue: z.core.$ZodIssue, root: unknown, known: readonly string[]): string => {
  const field = issue.path.length === 0 ? 'the arguments' : `"${issue.path.map(String).join('.')}"`;
  const value = valueAt(root, issue.path);
  if (issue.code === 'unrecognized_keys') {
    const names = issue.keys.map((name) => {
      const near = issue.path.length === 0 ? nearest(name, known) : undefined;
      return `"${name.slice(0, 64)}"${near === undefined ? '' : ` (did you mean "${near}"?)`}`;
    });
    const of =
      known.length === 0 ? 'this tool takes no arguments' : `it takes ${known.map((name) => `"${name}"`).join(', ')}`;
    return `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} unknown, ${of}`;
  }
  if (value === undefined && issue.path.length > 0) return `${field} is missing, expected ${expectation(issue)}`;
  return `${field} ${issue.path.length === 0 ? 'are' : 'is'} ${describeValue(value)}, expected ${expectation(issue)}`;
};

const expectation = (issue: z.core.$ZodIssue): string => {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'record') return 'an object';
      return issue.expected === 'int'
        ? 'a whole number'
        : `${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`;
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${unitOf(issue, issue.minimum)}`;
    case 'too_big':
      return `${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${unitOf(issue, issue.maximum)}`;
    case 'invalid_format':
      return issue.message.replace(/^Invalid (string: must |)/, (_, must) =>
        must === '' ? 'a valid ' : 'a text that must ',
      );
    case 'invalid_key':
      return `a name: ${issue.issues.map(expectation).join(' and ')}`;
    case 'invalid_union':
      return unionExpectation(issue);
    default:
      return issue.message;
  }
};

const unitOf = ({ origin }: { readonly origin: string }, limit: number | bigint): string => {
  if (origin === 'string') return Number(limit) === 1 ? ' character' : ' characters';
  if (origin === 'array' || origin === 'set') return Number(limit) === 1 ? ' entry' : ' entries';
  return '';
};

const unionExpectation = (issue: z.core.$ZodIssueInvalidUnion): string => {
  if ('options' in issue && Array.isArray(issue.options)) return `one of ${issue.options.map(String).join(', ')}`;
  return [...new Set(issue.errors.flat().map(expectation))].join(' or ') || issue.message;
};

const valueAt = (root: unknown, path: readonly PropertyKey[]): unknown => {
  let at = root;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as { readonly [name: PropertyKey]: unknown })[key];
  }
  return at;
};

const fieldNames = (schema: z.ZodType): readonly string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
