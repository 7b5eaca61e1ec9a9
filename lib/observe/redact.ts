/**
 * What may stand in a log line. The rule is an allow-list: numbers, booleans and null pass; text and objects pass only
 * under a name listed here. So a new field with a prompt, a key or a reply in it stays out until somebody has thought
 * about it, and its place in the line says so.
 */

/** Names are compared without case, `_` and `-`. */
const ALLOWED: ReadonlySet<string> = new Set(
  `action actor attempt bucket bus cause code command connector day delay detailtype dueat error errors event expected field
  fields finishreason from function functionname gate host index kind level lock method metric mode model operation
  outcome owner phase pk prefix provider queue reason received region role route rule scope scopes service shard sk source
  stage state stack status step table target to tool toolname transition trigger type unit version`.split(/\s+/),
);

/** `agentId`, `leaseUntil` (numbers pass anyway), `errorCode`, `pausedFrom` … */
const ALLOWED_ENDING = /(ids?|code|status|state|kind|type|reason|at|from|method|route)$/;

/** Never, whatever they hold: these win over the endings and over numbers. */
const NEVER =
  /(content|prompt|apikey|authorization|password|passwd|secret|cookie|credential|arguments|result|body|payload|signature|headers)/;

const MOST_CHARACTERS = 500;
const MOST_DEPTH = 4;

type Fields = { readonly [name: string]: unknown };

/** The fields as they may be written. */
export const redact = (fields: Fields): { [name: string]: unknown } => members(fields, 0);

const members = (fields: Fields, depth: number): { [name: string]: unknown } => {
  const kept: { [name: string]: unknown } = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) kept[name] = member(name, value, depth);
  }
  return kept;
};

const member = (name: string, value: unknown, depth: number): unknown => {
  const plain = name.toLowerCase().replaceAll(/[_-]/g, '');
  if (NEVER.test(plain))
    return typeof value === 'number' && /tokens|bytes|count|ms$/.test(plain) ? value : withheld(value);
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return value;
  if (value instanceof Error) return describeError(value, depth);
  if (!ALLOWED.has(plain) && !ALLOWED_ENDING.test(plain)) return withheld(value);
  return allowed(value, depth);
};

const allowed = (value: unknown, depth: number): unknown => {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return value;
  if (typeof value === 'string') return scrub(value);
  if (value instanceof Error) return describeError(value, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
  if (typeof value !== 'object' || depth >= MOST_DEPTH) return withheld(value);
  if (Array.isArray(value)) return value.slice(0, 50).map((part) => allowed(part, depth + 1));
  return members(value as Fields, depth + 1);
};

const withheld = (value: unknown): string => {
  if (typeof value === 'string') return `[withheld: text of ${value.length}]`;
  return `[withheld: ${Array.isArray(value) ? 'array' : typeof value}]`;
};

/**
 * Text that was written by other programs (messages of errors) may quote what they were given. Keys, bearer tokens and
 * the queries and passwords of addresses go; what `JSON.parse` quotes goes in `describeError`.
 */
export const scrub = (text: string): string => {
  const clean = text
    .replaceAll(/\b(bearer|basic)\s+[\w.~+/=-]+/gi, '$1 [withheld]')
    .replaceAll(/\b(sk|pk|rk|ghp|gho|ghs|github_pat|xox[abp]|baton|AKIA|ASIA)[-_]?[\w*-]{12,}/g, '$1…[withheld]')
    .replaceAll(/(https?:\/\/)[^\s/@]*@/gi, '$1')
    .replaceAll(/(https?:\/\/[^\s?#"']+)[?#][^\s"']*/gi, '$1?[withheld]');
  return clean.length > MOST_CHARACTERS ? `${clean.slice(0, MOST_CHARACTERS)}… (${clean.length} characters)` : clean;
};

/** Name, message, where, and the codes by which AWS, Node and our own errors are told apart. Nothing else an error carries. */
const describeError = (error: Error, depth: number): { [name: string]: unknown } => {
  const { name, message, stack, cause } = error;
  const { code, status, $metadata } = error as {
    code?: unknown;
    status?: unknown;
    $metadata?: { requestId?: unknown };
  };
  const quotesInput = name === 'SyntaxError' && message.includes('JSON'); // `Unexpected token 'x', "<input>" is not valid JSON`
  return {
    name,
    message: quotesInput ? 'The text is not valid JSON.' : scrub(message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(typeof status === 'number' ? { status } : {}),
    ...(typeof $metadata?.requestId === 'string' ? { awsRequestId: $metadata.requestId } : {}),
    // The first lines of a stack repeat the message; the frames do not.
    stack: (stack ?? '')
      .split('\n')
      .filter((line) => /^\s+at /.test(line))
      .slice(0, 20)
      .map((line) => line.trim()),
    ...(cause instanceof Error && depth < MOST_DEPTH ? { cause: describeError(cause, depth + 1) } : {}),
  };
};
