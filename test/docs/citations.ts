/** Documents cite what shows a claim: `path` “name” and “name”. The name is a test's, or anything else that stands in the file. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, read } from './markdown.ts';

const CITED = /`(test\/[\w./-]+)`((?:\s(?:and )?“[^”]+”)*)/g;

interface Citation {
  readonly path: string;
  readonly names: readonly string[];
}

const citations = (text: string): readonly Citation[] =>
  [...text.matchAll(CITED)].map(([, path = '', names = '']) => ({
    path,
    names: [...names.matchAll(/“([^”]+)”/g)].map(([, name = '']) => name),
  }));

/** Whether something is cited by a name, so that it is more than a file to search. */
export const isCited = (text: string): boolean => citations(text).some(({ names }) => names.length > 0);

/** What is cited and not there. */
export const missing = (text: string): readonly string[] =>
  citations(text).flatMap(({ path, names }) => {
    if (!existsSync(join(ROOT, path))) return [path];
    const source = read(path);
    return names.filter((name) => !source.includes(name)).map((name) => `${path}: ${name}`);
  });

/** Names that stand apart from their file, or are cut off from it by other words: nobody checks them. */
export const unchecked = (text: string): number =>
  [...text.matchAll(/“/g)].length - citations(text).flatMap(({ names }) => names).length;
