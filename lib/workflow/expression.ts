/**
 * Expressions of CONDITION steps: a small part of CEL (https://cel.dev), bounded so that no expression and no input can
 * hold up a function. Loops (`all`, `map`, …), `cel.bind`, `split` and `join` are left out because they multiply work or
 * memory, regular expressions because they can run for ever, clocks because a condition must come out the same again.
 * What is left does work in proportion to the length of the expression times the length of its input.
 */
import { Environment } from '@marcbachmann/cel-js';
import { NO_EDGE, YES_EDGE } from './definition.ts';

/** What an expression sees. */
export interface ExpressionInput {
  /** Result of the last step. */
  readonly last: string;
  /** The task that is worked on; '' when there is none. */
  readonly task: string;
  /** The latest message of a person; '' when there is none. */
  readonly input: string;
}

export type Evaluated =
  | { readonly ok: true; readonly label: string }
  | { readonly ok: false; readonly problem: string };
/** `gives`: `bool` comes out as YES or NO; `label` is text that only the run will tell. */
export type Checked =
  | { readonly ok: true; readonly gives: 'bool' | 'label' }
  | { readonly ok: false; readonly problem: string };

const LONGEST_EXPRESSION = 1_000; // characters
/** Characters of each input that an expression sees. `contains` can take the product of two lengths. */
const LONGEST_INPUT = 8_000;
/** `json` is null for texts that are longer, deeper or have more members. */
const LONGEST_JSON = 100_000; // characters
const DEEPEST_JSON = 20;
const MOST_JSON_VALUES = 5_000;

const LIMITS = { maxAstNodes: 200, maxDepth: 24, maxListElements: 50, maxMapEntries: 20, maxCallArguments: 4 };

const FUNCTIONS = [
  'bool', 'contains', 'double', 'dyn', 'endsWith', 'has', 'indexOf', 'int', 'lastIndexOf', 'lowerAscii', 'size',
  'startsWith', 'string', 'substring', 'trim', 'type', 'upperAscii',
]; // biome-ignore format: two lines read better than seventeen

const environment = new Environment({ limits: LIMITS, homogeneousAggregateLiterals: false })
  .registerVariable('last', 'string')
  .registerVariable('task', 'string')
  .registerVariable('input', 'string')
  .registerVariable('json', 'dyn');

type Parsed = ReturnType<Environment['parse']>;

/** The library's message without its picture of the source; the expression stands beside it anyway. */
const told = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  return (text.split('\n')[0] ?? '').slice(0, 200).replace(/\.$/, '');
};

/** Names of called functions, in a syntax tree whose nodes are `{op, args}` and arrays of them. */
const calledIn = (node: unknown): readonly string[] => {
  if (Array.isArray(node)) return node.flatMap(calledIn);
  if (typeof node !== 'object' || node === null || !('op' in node) || !('args' in node)) return [];
  const { op, args } = node;
  const name = (op === 'call' || op === 'rcall') && Array.isArray(args) ? [String(args[0])] : [];
  return [...name, ...calledIn(args)];
};

const parse = (expression: string): { readonly parsed: Parsed } | { readonly problem: string } => {
  if (expression.length > LONGEST_EXPRESSION) {
    return { problem: `it has ${expression.length} characters, at most ${LONGEST_EXPRESSION} are allowed` };
  }
  try {
    const parsed = environment.parse(expression);
    const foreign = calledIn(parsed.ast).find((name) => !FUNCTIONS.includes(name));
    return foreign === undefined
      ? { parsed }
      : { problem: `it calls ${foreign.slice(0, 60)}, and only these functions are there: ${FUNCTIONS.join(', ')}` };
  } catch (error) {
    return { problem: told(error) };
  }
};

/** Looks at an expression before it is stored. `problem` is the tail of a sentence about it. */
export const checkExpression = (expression: string): Checked => {
  const made = parse(expression);
  if ('problem' in made) return { ok: false, problem: made.problem };
  const checked = made.parsed.check();
  if (!checked.valid) return { ok: false, problem: told(checked.error) };
  if (checked.type === 'bool') return { ok: true, gives: 'bool' };
  if (checked.type === 'string' || checked.type === 'dyn') return { ok: true, gives: 'label' };
  return { ok: false, problem: `it gives a value of type ${String(checked.type)}, and a boolean or a text is needed` };
};

/** Whole numbers become CEL's integers, so that `json.count == 2` holds. `undefined`: too deep or too many. */
const celValue = (value: unknown, depth: number, budget: { left: number }): unknown => {
  budget.left -= 1;
  if (budget.left < 0 || depth > DEEPEST_JSON) return undefined;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value === 'string') return value.slice(0, LONGEST_INPUT);
  if (Array.isArray(value)) {
    const inner = value.map((one) => celValue(one, depth + 1, budget));
    return inner.includes(undefined) ? undefined : inner;
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, one]) => [key, celValue(one, depth + 1, budget)] as const);
    return entries.some(([, one]) => one === undefined) ? undefined : new Map(entries);
  }
  return value;
};

const jsonOf = (text: string): unknown => {
  if (text.length > LONGEST_JSON || !/^\s*[[{]/.test(text)) return null;
  try {
    return celValue(JSON.parse(text), 0, { left: MOST_JSON_VALUES }) ?? null;
  } catch {
    return null;
  }
};

/**
 * The label that an expression gives: YES or NO of a boolean, else the text. The same for the same input, always.
 * `problem` is a sentence for a person.
 */
export const evaluateExpression = (expression: string, given: ExpressionInput): Evaluated => {
  const made = parse(expression);
  if ('problem' in made) return { ok: false, problem: `The expression cannot be used: ${made.problem}.` };
  try {
    const value: unknown = made.parsed({
      last: given.last.slice(0, LONGEST_INPUT),
      task: given.task.slice(0, LONGEST_INPUT),
      input: given.input.slice(0, LONGEST_INPUT),
      json: jsonOf(given.last),
    });
    if (typeof value === 'boolean') return { ok: true, label: value ? YES_EDGE : NO_EDGE };
    if (typeof value === 'string') return { ok: true, label: value.slice(0, 200) };
    return { ok: false, problem: 'The expression gave neither a boolean nor a text.' };
  } catch (error) {
    return { ok: false, problem: `The expression cannot be evaluated here: ${told(error)}.` };
  }
};
