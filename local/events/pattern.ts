/** EventBridge event patterns: a field matches when one of its listed values or tests does. */
type Pattern = { readonly [key: string]: unknown };

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const TESTS = ['exists', 'prefix', 'suffix', 'equals-ignore-case', 'anything-but'];

/**
 * Call it once for each pattern before events come, so that a rule never matches less than it would on AWS unnoticed.
 * @throws Error naming the first part that is not played here
 */
export const checkPattern = (pattern: Pattern): void => {
  for (const [key, expected] of Object.entries(pattern)) {
    if (key === '$or') for (const alternative of expected as readonly Pattern[]) checkPattern(alternative);
    else if (Array.isArray(expected)) for (const test of expected) checkTest(test);
    else if (isObject(expected)) checkPattern(expected);
    else throw new Error(`The event pattern field ${JSON.stringify(key)} must be a list or an object.`);
  }
};

const checkTest = (test: unknown): void => {
  if (!isObject(test)) return;
  const [name = '', ...more] = Object.keys(test);
  if (more.length > 0 || !TESTS.includes(name)) {
    throw new Error(`The event pattern test ${JSON.stringify(test)} is not played by the local cloud.`);
  }
  if (name === 'anything-but') for (const one of [test[name]].flat()) checkTest(one);
};

/** Does the event match? The pattern must have passed `checkPattern`. */
export const matches = (pattern: Pattern, event: unknown): boolean =>
  Object.entries(pattern).every(([key, expected]) => {
    if (key === '$or') {
      return (expected as readonly Pattern[]).some((alternative) => matches(alternative, event));
    }
    const actual = isObject(event) ? event[key] : undefined;
    if (Array.isArray(expected)) return matchesField(expected, actual);
    return matches(expected as Pattern, isObject(actual) ? actual : {});
  });

const matchesField = (tests: readonly unknown[], actual: unknown): boolean => {
  const values = Array.isArray(actual) ? actual : [actual];
  return tests.some((test) => values.some((value) => matchesTest(test, value)));
};

const matchesTest = (test: unknown, value: unknown): boolean => {
  if (!isObject(test)) return test === value;
  const [[name, argument] = ['', undefined]] = Object.entries(test);
  switch (name) {
    case 'exists':
      return (value !== undefined) === argument;
    case 'prefix':
      return typeof value === 'string' && value.startsWith(String(argument));
    case 'suffix':
      return typeof value === 'string' && value.endsWith(String(argument));
    case 'equals-ignore-case':
      return typeof value === 'string' && value.toLowerCase() === String(argument).toLowerCase();
    case 'anything-but':
      return value !== undefined && !anyOf(argument, value);
    default:
      return false;
  }
};

/** `anything-but` takes one value, a list of values or one test. */
const anyOf = (argument: unknown, value: unknown): boolean =>
  (Array.isArray(argument) ? argument : [argument]).some((one) => matchesTest(one, value));
