import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LocalFunction } from '../local/template/assembly.ts';
import { divided, median } from './stats.ts';

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

/** @param repeats starts of each; the median counts */
export const measureBundles = async (functions: readonly LocalFunction[], repeats: number): Promise<Bundle[]> => {
  const several = async (script: string, environment: { readonly [name: string]: string }): Promise<number> => {
    const times: number[] = [];
    for (let i = 0; i < repeats; i++) times.push(await timed(script, environment));
    return median(times) ?? 0;
  };
  const bundles: Bundle[] = [];
  for (const fn of functions) {
    // The variables that make the SDK look for a region; nothing is called while loading.
    const environment = { ...fn.environment, AWS_REGION: 'us-east-1', AWS_LAMBDA_FUNCTION_NAME: fn.name };
    const file = pathToFileURL(join(fn.codeDir, 'index.mjs')).href;
    const bare = await several('', environment);
    const loaded = await several(`await import(${JSON.stringify(file)}); process.exit(0);`, environment);
    const name = fn.name.replace(/^baton-[^-]+-/, '');
    bundles.push({ name, mb: sizeMb(fn), coldMs: divided(loaded - bare, 1) });
  }
  return bundles;
};
