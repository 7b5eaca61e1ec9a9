import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Assembly } from './assembly.ts';
import type { Place } from './identities.ts';
import { resolve, type Template, TemplateError } from './intrinsics.ts';
import { readBuckets, readQueues, readTables } from './read-data.ts';
import { readBuses, readRules } from './read-events.ts';
import { readEventSourceMappings, readFunctions, readPermissions, readRoutes } from './read-functions.ts';
import { readRoles } from './read-roles.ts';
import { openTemplate } from './reader.ts';

const ENDING = '.template.json';

/** The one template of a cloud assembly folder (`cdk.out`). @throws TemplateError when there is none or more than one */
export const findTemplate = (assemblyDir: string): string => {
  const found = readdirSync(assemblyDir).filter((name) => name.endsWith(ENDING));
  const [only, ...more] = found;
  if (only === undefined || more.length > 0) {
    throw new TemplateError(`${assemblyDir} must hold one template, it has ${found.length}: ${found.join(', ')}.`);
  }
  return join(assemblyDir, only);
};

/**
 * Reads a synthesized template and resolves all it uses to local names, ARNs and URLs.
 * @throws TemplateError naming the resource and the property that the local cloud cannot play
 */
export const readAssembly = (templateFile: string, place: Omit<Place, 'stackName'>): Assembly => {
  const template = JSON.parse(readFileSync(templateFile, 'utf8')) as Template;
  const whole: Place = { ...place, stackName: basename(templateFile).slice(0, -ENDING.length) };
  const reader = openTemplate(template, whole);
  const functions = readFunctions(reader, dirname(templateFile));
  return {
    functions,
    tables: readTables(reader),
    queues: readQueues(reader),
    buckets: readBuckets(reader),
    buses: readBuses(reader),
    rules: readRules(reader),
    eventSourceMappings: readEventSourceMappings(reader, functions),
    routes: readRoutes(reader, whole),
    roles: readRoles(reader),
    permissions: readPermissions(reader, functions),
    outputs: readOutputs(template, (value, where) => resolve(value, where, reader.scope)),
  };
};

/** Outputs that lean on what exists only in AWS (the API's own address) are left out: scripts read `local.json` instead. */
const readOutputs = (
  template: Template,
  value: (raw: unknown, where: string) => unknown,
): { readonly [name: string]: string } => {
  const outputs: { [name: string]: string } = {};
  for (const [name, output] of Object.entries(template.Outputs ?? {})) {
    try {
      outputs[name] = String(value(output.Value, `Outputs.${name}`));
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
    }
  }
  return outputs;
};
