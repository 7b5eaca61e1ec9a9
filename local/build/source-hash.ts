import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** All that decides what bundles and template look like. */
const FOLDERS = ['lib', 'functions', 'cdk'] as const;
const FILES = ['package-lock.json', 'package.json', 'cdk.json', 'tsconfig.json'] as const;

/** Hash of names and contents, so that a touched but unchanged file builds nothing anew. */
export const sourceHash = (root: string): string => {
  const hash = createHash('sha256');
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  for (const file of [...files.sort(), ...FILES.map((name) => join(root, name))]) {
    const content = readFileSync(file);
    hash.update(`${relative(root, file).split(sep).join('/')}\n${content.length}\n`).update(content);
  }
  return hash.digest('hex').slice(0, 20);
};
