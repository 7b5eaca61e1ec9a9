import { StartError } from '../start-error.ts';

/**
 * Resolves what CloudFormation resolves: `Ref`, `Fn::GetAtt`, `Fn::Join`, `Fn::Sub`, `Fn::Select`, `Fn::Split` and the
 * pseudo parameters. Fails closed: what it does not know is an error that names the resource and the property, because
 * a guess here would be a difference from AWS that nobody sees.
 */
export interface Resource {
  readonly Type: string;
  readonly Properties?: { readonly [name: string]: unknown };
  readonly Metadata?: { readonly [name: string]: unknown };
  readonly Condition?: string;
}

export interface Template {
  readonly Parameters?: { readonly [name: string]: { readonly Default?: unknown } };
  readonly Resources: { readonly [logicalId: string]: Resource };
  readonly Outputs?: { readonly [name: string]: { readonly Value: unknown; readonly Condition?: string } };
}

/** What `Ref` and `Fn::GetAtt` answer for one resource. An attribute that is not here cannot be resolved. */
export interface Identity {
  readonly ref: string | undefined;
  readonly attributes: { readonly [name: string]: string };
}

export interface Scope {
  readonly pseudo: { readonly [name: string]: string };
  readonly parameters: { readonly [name: string]: string };
  identity(logicalId: string): Identity | undefined;
}

/** A template that the local cloud cannot run as it stands. The message names the resource and the property. */
export class TemplateError extends StartError {
  override readonly name = 'TemplateError';
}

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Replaces all intrinsics within `value`. `where` reads like `StepQueue.RedrivePolicy` and stands in every error. */
export const resolve = (value: unknown, where: string, scope: Scope): unknown => {
  if (typeof value === 'string') return checkDynamic(value, where);
  if (Array.isArray(value)) {
    return value.map((item, i) => resolve(item, `${where}[${i}]`, scope)).filter((item) => item !== undefined);
  }
  if (!isObject(value)) return value;
  const [name, ...more] = Object.keys(value);
  if (name !== undefined && more.length === 0 && (name === 'Ref' || name.startsWith('Fn::') || name === 'Condition')) {
    // `Condition` with an object is the IAM key of that name and no intrinsic.
    if (name !== 'Condition' || typeof value[name] === 'string') return intrinsic(name, value[name], where, scope);
  }
  const resolved: { [key: string]: unknown } = {};
  for (const [key, item] of Object.entries(value)) {
    const one = resolve(item, `${where}.${key}`, scope);
    if (one !== undefined) resolved[key] = one;
  }
  return resolved;
};

const checkDynamic = (text: string, where: string): string => {
  if (text.includes('{{resolve:')) {
    throw new TemplateError(`${where}: the dynamic reference ${JSON.stringify(text)} is not resolved locally.`);
  }
  return text;
};

const intrinsic = (name: string, argument: unknown, where: string, scope: Scope): unknown => {
  switch (name) {
    case 'Ref':
      return ref(argument, where, scope);
    case 'Fn::GetAtt':
      return getAtt(argument, where, scope);
    case 'Fn::Join': {
      const [separator, parts] = list(argument, name, where);
      return list(resolve(parts, where, scope), name, where)
        .map((part) => text(part, name, where))
        .join(text(separator, name, where));
    }
    case 'Fn::Sub':
      return sub(argument, where, scope);
    case 'Fn::Select': {
      const [index, items] = list(argument, name, where);
      const chosen = list(resolve(items, where, scope), name, where)[Number(index)];
      if (chosen === undefined) throw new TemplateError(`${where}: Fn::Select has no item ${String(index)}.`);
      return chosen;
    }
    case 'Fn::Split': {
      const [separator, whole] = list(argument, name, where);
      return text(resolve(whole, where, scope), name, where).split(text(separator, name, where));
    }
    default:
      throw new TemplateError(`${where}: ${name} is not resolved locally.`);
  }
};

const ref = (argument: unknown, where: string, scope: Scope): unknown => {
  const id = text(argument, 'Ref', where);
  if (id === 'AWS::NoValue') return undefined;
  const found = scope.pseudo[id] ?? scope.parameters[id] ?? scope.identity(id)?.ref;
  if (found === undefined) throw new TemplateError(`${where}: Ref ${id} is not known locally.`);
  return found;
};

const getAtt = (argument: unknown, where: string, scope: Scope): string => {
  const [id, ...rest] = typeof argument === 'string' ? argument.split('.') : list(argument, 'Fn::GetAtt', where);
  const attribute = rest.map((part) => text(part, 'Fn::GetAtt', where)).join('.');
  const found = scope.identity(text(id, 'Fn::GetAtt', where))?.attributes[attribute];
  if (found === undefined) throw new TemplateError(`${where}: Fn::GetAtt ${id}.${attribute} is not known locally.`);
  return found;
};

const sub = (argument: unknown, where: string, scope: Scope): string => {
  const [template, variables] = typeof argument === 'string' ? [argument, {}] : list(argument, 'Fn::Sub', where);
  const own = isObject(variables) ? variables : {};
  return text(template, 'Fn::Sub', where).replaceAll(/\$\{(!?)([^}]+)\}/g, (_, literal: string, name: string) => {
    if (literal) return `\${${name}}`;
    if (own[name] !== undefined) return text(resolve(own[name], where, scope), 'Fn::Sub', where);
    return text(name.includes('.') ? getAtt(name, where, scope) : ref(name, where, scope), 'Fn::Sub', where);
  });
};

const list = (value: unknown, name: string, where: string): readonly unknown[] => {
  if (!Array.isArray(value)) throw new TemplateError(`${where}: ${name} needs a list, got ${typeof value}.`);
  return value;
};

const text = (value: unknown, name: string, where: string): string => {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') throw new TemplateError(`${where}: ${name} needs a text, got ${typeof value}.`);
  return value;
};
