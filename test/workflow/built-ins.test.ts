import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { allTools } from '../../lib/tools/toolkit.ts';
import { BUILT_IN_NAMES, builtIn, isBuiltIn, USUAL_WORKFLOW, type Workflow } from '../../lib/workflow/built-ins.ts';
import { checkDefinition } from '../../lib/workflow/validate.ts';

const newest = (name: string): Workflow => {
  const found = builtIn(name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
};

/** The released versions. A change makes a new version; it does not change what is here. */
const RELEASED: { readonly [name: string]: readonly string[] } = {
  goal: ['0c512b9e06a5f04a'],
  'dynamic-task': ['0ee9f0528a83b2c3'],
  'fixed-task': ['4ae91b7b9ea62ce4'],
  'sales-engagement': ['ebb62060c43f2c11'],
  recruitment: ['621d22544ecb9693'],
  supercoder: ['9c5610fd42bd4b9f'],
};

const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

describe('the built-in workflows', () => {
  it('are the six', () => {
    expect(BUILT_IN_NAMES).toEqual(Object.keys(RELEASED));
    expect(isBuiltIn(USUAL_WORKFLOW)).toBe(true);
    expect(isBuiltIn('constructor')).toBe(false);
  });

  it.each(BUILT_IN_NAMES)(
    '%s would be accepted from anybody, with the tools there are, and is complete as it stands',
    (name) => {
      const { definition } = newest(name);
      const tools = allTools.map((tool) => tool.name);
      expect(checkDefinition(JSON.parse(JSON.stringify(definition)), tools)).toEqual(definition);
      expect(definition.name).toBe(name);
      expect(definition.description).not.toBe('');
    },
  );

  it.each(BUILT_IN_NAMES)('%s keeps its released versions', (name) => {
    const released = RELEASED[name] ?? [];
    expect(newest(name).version).toBe(released.length);
    const hashes = released.map((_, index) => hashOf(builtIn(name, index + 1)?.definition));
    expect(hashes).toEqual(released);
    for (const version of [0, -1, 0.5, Number.NaN, released.length + 1]) expect(builtIn(name, version)).toBeUndefined();
  });

  it.each(BUILT_IN_NAMES)('%s tells the model its goals wherever it has to decide', (name) => {
    const { steps, iterations } = newest(name).definition;
    const choices = Object.values(steps).flatMap((step) => (step.kind === 'TOOL' && step.choose ? [step.choose] : []));
    const plans = Object.values(iterations).flatMap(({ steps: inner }) =>
      Object.values(inner).map(({ prompt }) => prompt),
    );
    const queues = Object.values(steps).flatMap((step) => (step.kind === 'TASK_QUEUE' ? [step.instruction] : []));
    for (const prompt of [...choices, ...plans, ...queues]) expect(prompt).toContain('{goals}');
  });
});
