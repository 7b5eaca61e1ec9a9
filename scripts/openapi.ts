/**
 * Writes docs/openapi.json from the route table; with `--check` it only compares and fails on drift.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { openApi } from '../lib/http/openapi.ts';
import { ROUTES } from '../lib/http/routes/all.ts';

const file = new URL('../docs/openapi.json', import.meta.url);
const text = `${JSON.stringify(openApi(ROUTES), null, 2)}\n`;

if (process.argv.includes('--check')) {
  const written = await readFile(file, 'utf8').catch(() => '');
  if (written !== text) {
    console.error('docs/openapi.json does not fit the route table: run `npm run openapi` and commit it.');
    process.exitCode = 1;
  }
} else {
  await writeFile(file, text);
  console.log(`docs/openapi.json: ${ROUTES.length} operations`);
}
