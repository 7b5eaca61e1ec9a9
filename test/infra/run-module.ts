import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Imports the bundle of a folder and runs `code`, which sees `handler`, in a process of its own: `require` does not exist
 * there, as it does not on Lambda (in `node -e` and in test runners it does, and a broken bundle would pass).
 *
 * @returns what it printed
 */
export function runModule(folder: string, code: string): string {
  const file = join(folder, '..', 'import-it.mjs');
  const url = pathToFileURL(join(folder, 'index.mjs')).href;
  writeFileSync(file, `const { handler } = await import(${JSON.stringify(url)});\n${code}\n`);
  return execFileSync(process.execPath, [file], { encoding: 'utf8' });
}
