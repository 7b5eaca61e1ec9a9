import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LocalFunction } from '../local/template/assembly.ts';
import { median } from './stats.ts';

export interface Bundle {
  readonly name: string;
  readonly mb: number;
  /** Loading it in a fresh process without a compile cache, less what Node itself needs to start; milliseconds. */
  readonly coldMs: number | undefined;
}

/** From spawning to exit, milliseconds. @throws Error when it does not end with 0 */
const timed = (script: string, environment: { readonly [name: string]: string }): Promise<number> =>
  new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      env: environment,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    child.once('error', reject).once('exit', (code) => {
      if (code === 0) resolve(performance.now() - started);
      else reject(new Error(`A bundle could not be loaded: exit code ${code}.`));
    });
  });

/** Code that is loaded on first use counts to the size: it is shipped and fetched with the rest. */
const sizeMb = (fn: LocalFunction): number => statSync(join(fn.codeDir, 'index.mjs')).size / 1e6;

/**
 * @param repeats starts of each, with and without the bundle in turns, so that whatever else the machine does meets both;
 *   the median difference counts
 */
export const measureBundles = async (functions: readonly LocalFunction[], repeats: number): Promise<Bundle[]> => {
  const bundles: Bundle[] = [];
  for (const fn of functions) {
    // The variables of the template, and those of Lambda that the SDK looks for; nothing is called while loading.
    const environment = { ...fn.environment, AWS_REGION: 'us-east-1', AWS_LAMBDA_FUNCTION_NAME: fn.name };
    const load = `await import(${JSON.stringify(pathToFileURL(join(fn.codeDir, 'index.mjs')).href)}); process.exit(0);`;
    const differences: number[] = [];
    for (let i = 0; i < repeats; i++) {
      const bare = await timed('process.exit(0);', environment);
      differences.push((await timed(load, environment)) - bare);
    }
    bundles.push({ name: fn.name.replace(/^baton-[^-]+-/, ''), mb: sizeMb(fn), coldMs: median(differences) });
  }
  return bundles;
};
