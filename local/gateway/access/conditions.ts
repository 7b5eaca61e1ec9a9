import type { LocalStatement } from '../../template/assembly.ts';
import { arnLike, wildcard } from './patterns.ts';

/** Condition keys of one request, in lower case. A key that the request does not carry is absent. */
export type ConditionContext = ReadonlyMap<string, readonly string[]>;

/**
 * The keys this gateway fills in, in lower case (absent from a context = the request does not carry them). A condition
 * on any other key cannot be judged here.
 */
const KNOWN_KEYS = new Set([
  'aws:securetransport',
  'aws:principalarn',
  'aws:requestedregion',
  'aws:principalaccount',
  'aws:resourceaccount',
  'dynamodb:leadingkeys',
  'dynamodb:enclosingoperation',
  's3:prefix',
  's3:delimiter',
  's3:max-keys',
]);

/** `undefined`: it cannot be judged here, and the caller must refuse (an Allow does not apply, a Deny does). */
export type Verdict = boolean | undefined;

type Test = (context: ConditionContext) => Verdict;

/** Reads a statement's `Condition` once; all operators and keys must hold, one of a key's values is enough. */
export function compileConditions(conditions: LocalStatement['conditions']): Test {
  const tests = Object.entries(conditions).flatMap(([operator, keys]) =>
    Object.entries(keys).map(([key, values]) => compileOne(operator, key, values)),
  );
  return (context) => {
    let verdict: Verdict = true;
    for (const test of tests) {
      const one = test(context);
      if (one === false) return false;
      if (one === undefined) verdict = undefined;
    }
    return verdict;
  };
}

interface Operator {
  readonly make: (value: string) => (text: string) => boolean;
  readonly negated: boolean;
}

const OPERATORS: { readonly [name: string]: Operator } = {
  StringEquals: { make: (value) => (text) => text === value, negated: false },
  StringNotEquals: { make: (value) => (text) => text === value, negated: true },
  StringEqualsIgnoreCase: { make: equalsIgnoringCase, negated: false },
  StringNotEqualsIgnoreCase: { make: equalsIgnoringCase, negated: true },
  StringLike: { make: (value) => wildcard(value), negated: false },
  StringNotLike: { make: (value) => wildcard(value), negated: true },
  ArnLike: { make: arnLike, negated: false },
  ArnEquals: { make: arnLike, negated: false },
  ArnNotLike: { make: arnLike, negated: true },
  ArnNotEquals: { make: arnLike, negated: true },
  Bool: { make: equalsIgnoringCase, negated: false },
};

function equalsIgnoringCase(value: string): (text: string) => boolean {
  const lower = value.toLowerCase();
  return (text) => text.toLowerCase() === lower;
}

const cannotJudge: Test = () => undefined;

function compileOne(operator: string, rawKey: string, values: readonly string[]): Test {
  const key = rawKey.toLowerCase();
  // A policy variable (`${aws:PrincipalTag/…}`) has no value here.
  if (!KNOWN_KEYS.has(key) || values.some((value) => value.includes('${'))) return cannotJudge;
  const [, quantifier, base = '', ifExists] =
    /^(?:(ForAllValues|ForAnyValue):)?(\w+?)(IfExists)?$/.exec(operator) ?? [];
  if (base === 'Null')
    return (context) => values.some((value) => (value.toLowerCase() === 'true') === !context.has(key));
  const known = Object.hasOwn(OPERATORS, base) ? OPERATORS[base] : undefined;
  if (known === undefined) return cannotJudge;
  const matchers = values.map(known.make);
  const holds = (text: string): boolean => matchers.some((matches) => matches(text)) !== known.negated;
  return (context) => {
    const given = context.get(key);
    // As in IAM: ForAllValues holds for a missing key, ForAnyValue does not; else only a negated operator does.
    if (given === undefined || given.length === 0) {
      if (ifExists !== undefined || quantifier === 'ForAllValues') return true;
      return quantifier === undefined && known.negated;
    }
    if (quantifier === 'ForAllValues') return given.every(holds);
    if (quantifier === 'ForAnyValue') return given.some(holds);
    // Without a quantifier a key has one value; several are judged strictly.
    return given.every(holds);
  };
}
