import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT, read, tableBelow } from './markdown.ts';

/** `path` “name” and “name”: a test and what is in it. */
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

/** What is cited and not there. */
const missing = (text: string): readonly string[] =>
  citations(text).flatMap(({ path, names }) => {
    if (!existsSync(join(ROOT, path))) return [path];
    const source = read(path);
    return names.filter((name) => !source.includes(name)).map((name) => `${path}: ${name}`);
  });

describe('docs/reliability.md', () => {
  const page = read('docs/reliability.md');

  test('the check itself sees what does not exist', () => {
    expect(missing('`test/e2e/none.test.ts` “x”')).toEqual(['test/e2e/none.test.ts']);
    expect(missing('`test/docs/markdown.ts` “blocksOf” and “no such thing at all”')).toEqual([
      'test/docs/markdown.ts: no such thing at all',
    ]);
  });

  test('cites tests that exist, by names that are in them', () => {
    expect(missing(page)).toEqual([]);
    // A name that stands apart from its file would not be checked.
    expect(citations(page).flatMap(({ names }) => names).length).toBe([...page.matchAll(/“/g)].length);
  });

  test.each(['## What is promised', '## Which effects happen how often', '## How soon a crash is found'])(
    '%s: each line names a test by its name',
    (heading) => {
      const rows = tableBelow(page, heading);
      expect(rows.length).toBeGreaterThan(4);
      const without = rows.filter((row) => citations(row.at(-1) ?? '').every(({ names }) => names.length === 0));
      expect(without).toEqual([]);
    },
  );
});
