import { identify, type Place } from './identities.ts';
import { type Identity, type Resource, resolve, type Scope, type Template, TemplateError } from './intrinsics.ts';

type Properties = { readonly [name: string]: unknown };

/** One resource with typed access to its properties. Resolves a property only when it is read. */
export interface Reader {
  readonly logicalId: string;
  readonly type: string;
  readonly metadata: Properties;
  readonly ref: string;
  attribute(name: string): string;
  has(name: string): boolean;
  raw(name: string): unknown;
  text(name: string): string;
  optionalText(name: string): string | undefined;
  number(name: string, fallback: number): number;
  flag(name: string, fallback: boolean): boolean;
  list(name: string): readonly Properties[];
  texts(name: string): readonly string[];
  record(name: string): Properties;
  /** The error for a property that cannot be used. */
  fail(name: string, why: string): TemplateError;
  /** Refuses a property that would change what the app does and that the local cloud does not play. */
  refuse(...names: readonly string[]): void;
}

export interface TemplateReader {
  all(...types: readonly string[]): readonly Reader[];
  readonly scope: Scope;
}

const asRecord = (value: unknown): Properties | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Properties) : undefined;

/** Opens a parsed template. @throws TemplateError as soon as something unknown is read */
export const openTemplate = (template: Template, place: Place): TemplateReader => {
  const identities = new Map<string, Identity>();
  const resolving = new Set<string>();
  const scope: Scope = {
    pseudo: {
      'AWS::Region': place.region,
      'AWS::AccountId': place.account,
      'AWS::Partition': place.partition,
      'AWS::StackName': place.stackName,
      'AWS::URLSuffix': 'amazonaws.com',
      'AWS::StackId': `arn:${place.partition}:cloudformation:${place.region}:${place.account}:stack/${place.stackName}/local`,
    },
    parameters: Object.fromEntries(
      Object.entries(template.Parameters ?? {}).flatMap(([name, { Default }]) =>
        Default === undefined ? [] : [[name, String(Default)]],
      ),
    ),
    identity(logicalId) {
      const known = identities.get(logicalId);
      const resource = template.Resources[logicalId];
      if (known !== undefined || resource === undefined) return known;
      if (resolving.has(logicalId)) throw new TemplateError(`${logicalId}: its name refers to itself.`);
      resolving.add(logicalId);
      const found = identify(place, logicalId, resource, (name) => optionalText(logicalId, resource, name));
      resolving.delete(logicalId);
      identities.set(logicalId, found);
      return found;
    },
  };

  const read = (logicalId: string, resource: Resource, name: string): unknown =>
    resolve(resource.Properties?.[name], `${logicalId}.${name}`, scope);

  const optionalText = (logicalId: string, resource: Resource, name: string): string | undefined => {
    const value = read(logicalId, resource, name);
    if (value !== undefined && typeof value !== 'string') {
      throw new TemplateError(`${logicalId}.${name}: expected a text, got ${typeof value}.`);
    }
    return value;
  };

  const reader = (logicalId: string, resource: Resource): Reader => {
    const fail = (name: string, why: string): TemplateError => new TemplateError(`${logicalId}.${name}: ${why}`);
    const identity = (): Identity => scope.identity(logicalId) ?? { ref: undefined, attributes: {} };
    const has = (name: string): boolean => resource.Properties?.[name] !== undefined;
    const get = (name: string): unknown => read(logicalId, resource, name);
    return {
      logicalId,
      type: resource.Type,
      metadata: resource.Metadata ?? {},
      get ref() {
        const { ref } = identity();
        if (ref === undefined) throw fail('Ref', 'is not known locally.');
        return ref;
      },
      attribute(name) {
        const value = identity().attributes[name];
        if (value === undefined) throw fail(name, 'is not known locally.');
        return value;
      },
      has,
      raw: get,
      text(name) {
        const value = optionalText(logicalId, resource, name);
        if (value === undefined) throw fail(name, 'is missing.');
        return value;
      },
      optionalText: (name) => optionalText(logicalId, resource, name),
      number(name, fallback) {
        const value = get(name) ?? fallback;
        const parsed = typeof value === 'string' ? Number(value) : value;
        if (typeof parsed !== 'number' || !Number.isFinite(parsed)) throw fail(name, 'expected a number.');
        return parsed;
      },
      flag(name, fallback) {
        const value = get(name) ?? fallback;
        if (typeof value !== 'boolean') throw fail(name, `expected true or false, got ${typeof value}.`);
        return value;
      },
      list(name) {
        const value = get(name) ?? [];
        if (!Array.isArray(value)) throw fail(name, `expected a list, got ${typeof value}.`);
        return value.map((item) => {
          const one = asRecord(item);
          if (one === undefined) throw fail(name, `expected a list of objects, got ${typeof item}.`);
          return one;
        });
      },
      texts(name) {
        const value = get(name) ?? [];
        if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) {
          throw fail(name, 'expected a list of texts.');
        }
        return value as readonly string[];
      },
      record(name) {
        const value = asRecord(get(name));
        if (value === undefined) throw fail(name, 'expected an object.');
        return value;
      },
      fail,
      refuse(...names) {
        for (const name of names) if (has(name)) throw fail(name, 'is not played by the local cloud.');
      },
    };
  };

  return {
    scope,
    all: (...types) =>
      Object.entries(template.Resources)
        .filter(([, resource]) => types.includes(resource.Type))
        .map(([logicalId, resource]) => {
          if (resource.Condition !== undefined) {
            throw new TemplateError(
              `${logicalId}: has the condition ${resource.Condition}; conditions are not judged locally.`,
            );
          }
          return reader(logicalId, resource);
        }),
  };
};
