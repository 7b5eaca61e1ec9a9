import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FUNCTIONS } from '../../lib/names.ts';

/** A project of the same shape: every handler says its name and takes a CommonJS package with it. */
export function projectAt(at: string, without: readonly string[] = []): string {
  for (const name of FUNCTIONS.filter((name) => !without.includes(name))) {
    mkdirSync(join(at, 'functions', name), { recursive: true });
    writeFileSync(
      join(at, 'functions', name, 'handler.ts'),
      `import host from 'old-style';\nexport class NamedError extends Error {}\nexport const handler = async (): Promise<string> => '${name} ' + host() + new NamedError().constructor.name;\n`,
    );
  }
  const dependency = join(at, 'node_modules', 'old-style');
  mkdirSync(dependency, { recursive: true });
  writeFileSync(join(dependency, 'package.json'), '{"name":"old-style","version":"1.0.0","main":"index.js"}');
  writeFileSync(
    join(dependency, 'index.js'),
    "const os = require('node:os');\nmodule.exports = () => typeof os.hostname;\n",
  );
  return at;
}
