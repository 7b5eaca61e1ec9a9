import { createHash } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { toArn } from '../gateway/access/arns.ts';
import { AwsError } from '../gateway/aws-error.ts';
import { type JsonObject, listOf, objectOf, stringOf } from '../gateway/json.ts';

/** Parameters with SSM's JSON API. */
export interface Parameters {
  /** @throws AwsError */
  handle(operation: string, input: JsonObject): JsonObject;
}

const TYPES = ['String', 'StringList', 'SecureString'] as const;
type ParameterType = (typeof TYPES)[number];

interface Parameter {
  readonly type: ParameterType;
  readonly value: string;
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
}

/** Longest value of a parameter of the standard tier, bytes. */
const MAX_VALUE_BYTES = 4096;

/**
 * A small Parameter Store in one file that only its owner may read. Secrets lie in it in the clear: it is the user's own
 * machine, and a key beside the file would protect nothing.
 * @param options.file path of the JSON file; made when the first parameter is put
 */
export function createParameters(options: { file: string; now?: () => number }): Parameters {
  const now = options.now ?? Date.now;
  const all = load(options.file);

  const put = (input: JsonObject): JsonObject => {
    const name = nameIn(input);
    const value = stringOf(input.Value);
    if (value === undefined || value === '') {
      throw validation(
        "Value at 'value' failed to satisfy constraint: Member must have length greater than or equal to 1.",
      );
    }
    if (Buffer.byteLength(value) > MAX_VALUE_BYTES) {
      throw validation(
        `Standard tier parameters support a maximum parameter value of ${MAX_VALUE_BYTES} characters. To create a larger parameter value, upgrade the parameter to use the advanced-parameter tier.`,
      );
    }
    const existing = all.get(name);
    if (existing !== undefined && input.Overwrite !== true) {
      throw new AwsError(
        'ParameterAlreadyExists',
        'The parameter already exists. To overwrite this value, set the overwrite option in the request to true.',
      );
    }
    const type = input.Type ?? existing?.type;
    if (!isType(type)) {
      throw validation(
        `Value '${String(type)}' at 'type' failed to satisfy constraint: Member must satisfy enum value set: [${TYPES.join(', ')}]`,
      );
    }
    if (existing !== undefined && existing.type !== type) {
      throw new AwsError(
        'HierarchyTypeMismatchException',
        `The parameter ${name} is a ${existing.type}; its type cannot be changed to ${type}.`,
      );
    }
    const version = (existing?.version ?? 0) + 1;
    all.set(name, { type, value, version, modified: now() });
    save(options.file, all);
    return { Version: version, Tier: 'Standard' };
  };

  const present = (name: string, parameter: Parameter, decrypt: boolean): JsonObject => ({
    Name: name,
    Type: parameter.type,
    Value: parameter.type === 'SecureString' && !decrypt ? sealed(parameter) : parameter.value,
    Version: parameter.version,
    LastModifiedDate: parameter.modified / 1000,
    ARN: toArn('ssm', name.startsWith('/') ? 'parameter' : 'parameter/', name),
    DataType: 'text',
  });

  return {
    handle(operation, input) {
      const decrypt = input.WithDecryption === true;
      switch (operation) {
        case 'PutParameter':
          return put(input);
        case 'GetParameter': {
          const name = nameIn(input);
          const parameter = all.get(name);
          if (parameter === undefined) throw notFound(name);
          return { Parameter: present(name, parameter, decrypt) };
        }
        case 'GetParameters': {
          const names = listOf(input.Names).map(checkName);
          if (names.length < 1 || names.length > 10) {
            throw validation(
              `Value at 'names' failed to satisfy constraint: Member must have length from 1 to 10, not ${names.length}.`,
            );
          }
          const found = names.flatMap((name) => {
            const parameter = all.get(name);
            return parameter === undefined ? [] : [present(name, parameter, decrypt)];
          });
          return { Parameters: found, InvalidParameters: names.filter((name) => !all.has(name)) };
        }
        case 'DeleteParameter': {
          const name = nameIn(input);
          if (!all.delete(name)) throw notFound(name);
          save(options.file, all);
          return {};
        }
        default:
          throw new AwsError(
            'UnknownOperationException',
            `The local parameter store does not have the operation ${operation}.`,
          );
      }
    },
  };
}

const isType = (type: unknown): type is ParameterType => TYPES.some((one) => one === type);
const nameIn = (input: JsonObject): string => checkName(input.Name);

function checkName(given: unknown): string {
  const arn = /^arn:[^:]*:ssm:[^:]*:[^:]*:parameter(\/.*)$/.exec(String(given))?.[1];
  // A parameter `name` and a parameter `/name` have the same ARN; the one with a path has a second slash.
  const name = arn === undefined ? given : arn.indexOf('/', 1) > 0 ? arn : arn.slice(1);
  if (typeof name !== 'string' || !/^[\w.\-/]{1,1011}$/.test(name)) {
    throw validation(
      `Invalid parameter name ${JSON.stringify(given)}. Please use alphanumeric characters, '.', '_', '-' and '/' only, up to 1011 of them.`,
    );
  }
  if (/^\/?(aws|ssm)/i.test(name)) {
    throw validation('Parameter name: can\'t be prefixed with "aws" or "ssm" (case-insensitive).');
  }
  return name;
}

const validation = (message: string): AwsError => new AwsError('ValidationException', message);
const notFound = (name: string): AwsError => new AwsError('ParameterNotFound', `Parameter ${name} not found.`);

/** Stands where AWS shows the ciphertext. */
const sealed = ({ value }: Parameter): string => `AQICAH${createHash('sha256').update(value).digest('base64')}`;

function load(file: string): Map<string, Parameter> {
  if (!existsSync(file)) return new Map();
  const entries = Object.entries(objectOf(JSON.parse(readFileSync(file, 'utf8'))));
  return new Map(entries.map(([name, value]) => [name, readParameter(file, name, objectOf(value))]));
}

function readParameter(file: string, name: string, { type, value, version, modified }: JsonObject): Parameter {
  if (!isType(type) || typeof value !== 'string' || typeof version !== 'number' || typeof modified !== 'number') {
    throw new Error(`${file} cannot be read: the parameter '${name}' needs type, value, version and modified.`);
  }
  return { type, value, version, modified };
}

/** Whole or not at all: written beside, flushed to the disk, then moved over. */
function save(file: string, all: ReadonlyMap<string, Parameter>): void {
  const beside = `${file}.new`;
  const handle = openSync(beside, 'w', 0o600);
  try {
    writeSync(handle, JSON.stringify(Object.fromEntries(all), null, 1));
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(beside, file);
}
