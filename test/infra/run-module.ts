import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Imports the bundle of a folder and runs `code`, which sees `handler`, in a process of its own: `require` does not exist
 * there, as it does not on Lambda (in `node -e` and in test runners it does, and a broken bundle would pass).
 *
 * @param environment all variables of the process
 * @returns what it printed
 * @throws Error with the last lines of its standard error
 */
export function runModule(folder: string, code: string, environment: { readonly [name: string]: string } = {}): string {
  const file = join(folder, '..', 'import-it.mjs');
  const url = pathToFileURL(join(folder, 'index.mjs')).href;
  writeFileSync(file, `const { handler } = await import(${JSON.stringify(url)});\n${code}\n`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8', env: environment });
  // A stack trace begins with the line at fault, which is a whole minified bundle.
  if (status !== 0) throw new Error(`exit ${status}: ${stderr.slice(-2_000)}`);
  return stdout;
}
