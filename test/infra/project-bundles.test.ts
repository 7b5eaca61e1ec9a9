import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Bundles, bundle } from '../../cdk/bundle.ts';
import { FUNCTION_SPECS } from '../../cdk/functions.ts';
import { ENV, FUNCTIONS } from '../../lib/names.ts';
import { runModule } from './run-module.ts';
import { scratch } from './scratch.ts';

/** What a function may not carry to AWS. */
const FOREIGN = /^(cdk|local|test|scripts|bench)\/|node_modules\/(aws-cdk|constructs|cdk-nag|esbuild|vitest)/;

describe('the bundles of this project', () => {
  const out = join(scratch(), 'code');
  let bundles: Bundles;

  beforeAll(async () => {
    bundles = await bundle({ root: resolve(import.meta.dirname, '../..'), out });
  });

  it.each(FUNCTIONS)('%s can be imported, with the variables that the template sets, and exports a handler', (name) => {
    // A list of addresses may be empty; everything else is some text.
    const variables = (['stage', 'table', ...FUNCTION_SPECS[name].env] as const).map(
      (key) => [ENV[key], key === 'egressAllow' ? '' : '1'] as const,
    );
    const environment = { ...Object.fromEntries(variables), AWS_REGION: 'us-east-1' };
    expect(runModule(bundles.folders[name], 'console.log(typeof handler);', environment)).toBe('function\n');
  });

  it.each(FUNCTIONS)('%s holds all it needs, and nothing of the infrastructure or the local cloud', (name) => {
    const output = bundles.metafile.outputs[`bundles/${name}/index.mjs`];
    const inputs = Object.keys(output?.inputs ?? {});
    expect(inputs).toContain(`functions/${name}/handler.ts`);
    expect(inputs.filter((path) => FOREIGN.test(path))).toEqual([]);
    const left = (output?.imports ?? []).filter(({ external, path }) => external && !path.startsWith('node:'));
    expect(left.map(({ path }) => path)).toEqual([]);
  });
});
