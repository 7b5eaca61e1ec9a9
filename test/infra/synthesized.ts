/** The app as tests see it: the real stack over placeholder code, so that no handler has to exist. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { type AppOptions, createApp } from '../../cdk/create-app.ts';
import { FUNCTIONS, type FunctionName } from '../../lib/names.ts';
import { scratch } from './scratch.ts';

export function placeholderCode(folder: string): Record<FunctionName, string> {
  const made = FUNCTIONS.map((name) => {
    const own = join(folder, 'code', name);
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, 'index.mjs'), `export const handler = async () => '${name}';\n`);
    return [name, own] as const;
  });
  return Object.fromEntries(made) as Record<FunctionName, string>;
}

export function appIn(folder: string, options: Partial<AppOptions> = {}) {
  return createApp({ code: placeholderCode(folder), outdir: join(folder, 'cdk.out'), ...options });
}

/** JSON of a template: a property of a property that is not there is `undefined`, and the assertion says so. */
export interface Json {
  readonly [property: string]: Json;
}

export interface Resource {
  readonly Type: string;
  readonly Properties: Json;
  readonly DependsOn?: readonly string[];
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

/** A synthesized template with its resources by type, and references written as `<LogicalId>` or `<LogicalId.Attribute>`. */
export class Synthesized {
  readonly template: Template;
  readonly resources: { readonly [logicalId: string]: Resource };

  constructor(options: Partial<AppOptions> = {}) {
    const stack = appIn(scratch(), options).node.findChild(`baton-${String(options.context?.stage ?? 'dev')}`) as Stack;
    this.template = Template.fromStack(stack);
    this.resources = this.template.toJSON().Resources;
  }

  of(type: string): [logicalId: string, resource: Resource][] {
    return Object.entries(this.resources).filter(([, resource]) => resource.Type === type);
  }

  /** The resource of that type whose name property holds `name`. */
  named(type: string, property: string, name: string): { readonly id: string; readonly properties: Json } {
    const found = this.of(type).filter(([, { Properties }]) => String(Properties[property]) === name);
    const [only] = found;
    if (found.length !== 1 || only === undefined) throw new Error(`${found.length} ${type} are named ${name}`);
    return { id: only[0], properties: only[1].Properties };
  }

  fn(name: FunctionName) {
    return this.named('AWS::Lambda::Function', 'FunctionName', `baton-dev-${name}`);
  }

  queue(name: string) {
    return this.named('AWS::SQS::Queue', 'QueueName', `baton-dev-${name}`);
  }
}

/** The app as it is without any context. */
export const app = new Synthesized();

/** A value of the template as text: `<Ref>`, `<Resource.Attribute>`, joins joined. */
export function flat(value: unknown): string {
  if (typeof value === 'string') return value;
  const {
    Ref: ref,
    'Fn::GetAtt': attribute,
    'Fn::Join': join,
  } = value as {
    readonly Ref?: string;
    readonly 'Fn::GetAtt'?: readonly string[];
    readonly 'Fn::Join'?: readonly [string, readonly unknown[]];
  };
  if (ref !== undefined) return `<${ref}>`;
  if (attribute !== undefined) return `<${attribute.join('.')}>`;
  if (join !== undefined) return join[1].map(flat).join(join[0]);
  throw new Error(`not a reference: ${JSON.stringify(value)}`);
}

export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);
