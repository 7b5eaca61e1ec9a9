import { type Validation, validate } from './dynalite.ts';
import { DynamoDbError, serializationError, validationError } from './errors.ts';

/**
 * Far more than a request with documents of the deepest allowed nesting needs (write-plan.ts judges that), and little
 * enough that no check runs out of stack.
 */
const MAX_JSON_DEPTH = 100;
/** Expressions may be 4 KB. */
const MAX_EXPRESSION_BYTES = 4096;

/** Members from before expressions existed. They would be silently ignored, so that they are refused instead. */
const LEGACY = [
  'AttributesToGet',
  'AttributeUpdates',
  'ConditionalOperator',
  'Expected',
  'KeyConditions',
  'QueryFilter',
  'ScanFilter',
];

/**
 * The request as its operation may trust it: typed, checked, numbers in plain form, expressions parsed.
 * `body` itself is left as it was.
 * @throws SerializationException or ValidationException
 */
export function parseRequest<T>(body: unknown, validation: Validation): T {
  const data = copyOf(body, 0);
  if (!isRecord(data)) throw serializationError('The body of a request is a JSON object.');
  checkMembers(data);
  return guarded(() => validate(data, validation)) as T;
}

/** Runs one of dynalite's checks; whatever it throws becomes the client's error, for it has seen nothing else. */
export function guarded<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw error instanceof DynamoDbError ? error : clientError(error);
  }
}

function clientError(error: unknown): DynamoDbError {
  const body: unknown = error instanceof Error && 'body' in error ? error.body : undefined;
  if (isRecord(body) && typeof body.__type === 'string') {
    return new DynamoDbError(body.__type, String(body.message ?? body.Message ?? 'The request is malformed.'));
  }
  return validationError(`The request cannot be read: ${error instanceof Error ? error.message : String(error)}`);
}

/** Refuses what dynalite would pass over in silence, here and in the parts of a transaction. */
export function checkMembers(data: { readonly [member: string]: unknown }): void {
  for (const [member, value] of Object.entries(data)) {
    if (LEGACY.includes(member) && value !== undefined && value !== null) {
      throw validationError(`The local DynamoDB does not take the legacy parameter ${member}; use an expression.`);
    }
    if (member.endsWith('Expression') && typeof value === 'string' && Buffer.byteLength(value) > MAX_EXPRESSION_BYTES) {
      throw validationError(
        `Invalid ${member}: Expression size has exceeded the maximum allowed size; expression size: ${Buffer.byteLength(value)}`,
      );
    }
  }
}

export const isRecord = (value: unknown): value is { [member: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function copyOf(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_JSON_DEPTH) throw validationError('Nesting Levels have exceeded supported limits');
  if (Array.isArray(value)) return value.map((each) => copyOf(each, depth + 1));
  const copy: { [member: string]: unknown } = {};
  for (const [member, each] of Object.entries(value)) {
    // Assigning it would set the prototype and lose the attribute.
    if (member === '__proto__')
      throw validationError('The local DynamoDB cannot store the attribute name "__proto__".');
    copy[member] = copyOf(each, depth + 1);
  }
  return copy;
}

const ON_FAILURE = { type: 'String', enum: ['ALL_OLD', 'NONE'] };

/** A write's validation with the member that dynalite does not know. */
export const withOnFailure = (validation: Validation): Validation => ({
  ...validation,
  types: { ...validation.types, ReturnValuesOnConditionCheckFailure: ON_FAILURE },
});
