/** GitHub's own description of its API as the judge of what is sent to it, and of what our server answers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: { readonly type?: string };
}
interface Media {
  readonly schema: object;
  readonly examples?: { readonly [name: string]: { readonly $ref?: string; readonly value?: unknown } };
}
interface Content {
  readonly content?: { readonly [type: string]: Media };
  readonly required?: boolean;
}
interface RawOperation {
  readonly parameters: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: Content;
  readonly responses: { readonly [status: string]: Content };
}
interface Document {
  readonly paths: { readonly [path: string]: { readonly [method: string]: RawOperation } };
  readonly components: { readonly [kind: string]: { readonly [name: string]: unknown } };
}

const JSON_TYPE = 'application/json';
const file = join(import.meta.dirname, '../../fixtures/github-openapi.json');
const document = JSON.parse(readFileSync(file, 'utf8')) as Document;

/** OpenAPI 3.0 says `nullable`, where JSON Schema has a type. */
const withNull = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withNull);
  if (typeof value !== 'object' || value === null) return value;
  const { nullable, ...rest } = value as { readonly nullable?: unknown };
  const plain = Object.fromEntries(Object.entries(rest).map(([name, each]) => [name, withNull(each)]));
  return nullable === true ? { anyOf: [plain, { type: 'null' }] } : plain;
};

const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(withNull({ components: { schemas: document.components.schemas } }) as object, 'github');
const compiled = new Map<object, ValidateFunction>();

const local = <T>(value: T | { readonly $ref: string }): T => {
  const ref = (value as { readonly $ref?: string }).$ref;
  if (ref === undefined) return value as T;
  const [, kind = '', name = ''] = ref.slice(2).split('/');
  return document.components[kind]?.[name] as T;
};

/** References of the document lead into the document. */
const rooted = (schema: object): object =>
  withNull(JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"github#/'))) as object;

const complaints = (schema: object, value: unknown, what: string): string[] => {
  const validate = compiled.get(schema) ?? ajv.compile(rooted(schema));
  compiled.set(schema, validate);
  return validate(value)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${what}${instancePath} ${message}`);
};

export interface Operation {
  /** `POST /repos/{owner}/{repo}/issues/{issue_number}/comments` */
  readonly name: string;
  readonly parameters: { readonly [name: string]: string };
}

/** Fixed words come before parameters, as in GitHub's own routing. */
const ROUTES = Object.entries(document.paths)
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => {
      // A path of a repository has slashes in it and may be left out (its root); all others are one segment.
      const pattern = path.replace(/\/\{path\}/, '(?:/(?<path>.*))?').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
      return {
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        raw,
        pattern: new RegExp(`^${pattern}$`),
      };
    }),
  )
  .sort((a, b) => a.name.split('{').length - b.name.split('{').length);

export const findOperation = (method: string, path: string): Operation | undefined => {
  for (const route of ROUTES) {
    const match = route.method === method ? route.pattern.exec(path) : null;
    if (match === null) continue;
    const parameters = Object.entries(match.groups ?? {}).map(([name, text]) => [name, decodeURIComponent(text ?? '')]);
    return { name: route.name, parameters: Object.fromEntries(parameters) };
  }
  return undefined;
};

const rawOf = (name: string): RawOperation => {
  const found = ROUTES.find((route) => route.name === name);
  if (found === undefined) throw new Error(`There is no operation ${name}.`);
  return found.raw;
};

const typed = (text: string, { type }: Parameter['schema']): unknown => {
  if (type === 'integer' || type === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return text;
};

/** What GitHub's description says against a request. */
export const judgeRequest = (operation: Operation, query: URLSearchParams, body: unknown): string[] => {
  const raw = rawOf(operation.name);
  const parameters = raw.parameters.map((each) => local<Parameter>(each));
  const known = new Set(parameters.filter((each) => each.in === 'query').map(({ name }) => name));
  const found = [...query.keys()].filter((name) => !known.has(name)).map((name) => `query ${name} is unknown`);
  for (const { name, in: place, required, schema } of parameters) {
    const text = place === 'path' ? operation.parameters[name] : (query.get(name) ?? undefined);
    if (text === undefined) {
      if (required === true && place !== 'header') found.push(`${place} ${name} is missing`);
    } else found.push(...complaints(schema, typed(text, schema), `${place} ${name}`));
  }
  const media = raw.requestBody?.content?.[JSON_TYPE];
  if (media === undefined) {
    if (body !== undefined) found.push('there is a body, and none is taken');
  } else if (body !== undefined || raw.requestBody?.required === true) {
    found.push(...complaints(media.schema, body, 'body'));
    const names = Object.keys((media.schema as { readonly properties?: object }).properties ?? {});
    const unknown = Object.keys((body as object | undefined) ?? {}).filter(
      (name) => names.length > 0 && !names.includes(name),
    );
    found.push(...unknown.map((name) => `body ${name} is unknown`));
  }
  return found;
};

/** What it says against an answer of ours. */
export const judgeAnswer = (name: string, status: number, body: unknown): string[] => {
  const response = rawOf(name).responses[String(status)];
  if (response === undefined) return [`status ${status} is not among the good ones of ${name}`];
  const media = local<Content>(response).content?.[JSON_TYPE];
  return media === undefined ? [] : complaints(media.schema, body, `answer of ${name}`);
};

/** GitHub's example of a good answer, to be filled with what a test knows. */
export const exampleOf = (name: string, status = 200, example?: string): unknown => {
  const media = local<Content>(rawOf(name).responses[String(status)] as Content).content?.[JSON_TYPE];
  const all = Object.entries(media?.examples ?? {});
  const chosen = (example === undefined ? all[0] : all.find(([key]) => key === example))?.[1];
  if (chosen === undefined) throw new Error(`${name} has no example ${example ?? ''}.`);
  const { value } = local<{ readonly value?: unknown }>(chosen as { $ref: string });
  // Some examples lead on to others from within.
  const whole = local(value as { readonly $ref: string }) as { readonly value?: unknown };
  return structuredClone(whole === value ? value : whole.value);
};
