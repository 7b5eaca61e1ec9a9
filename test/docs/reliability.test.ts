import { describe, expect, test } from 'vitest';
import { isCited, missing, unchecked } from './citations.ts';
import { read, tableBelow } from './markdown.ts';

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
    expect(unchecked(page)).toBe(0);
  });

  test.each([
    '## What is promised',
    '## What the Router team promises',
    '## Which effects happen how often',
    '## How soon a crash is found',
  ])('%s: each line names a test by its name', (heading) => {
    const rows = tableBelow(page, heading);
    expect(rows.length).toBeGreaterThan(4);
    const without = rows.filter((row) => !isCited(row.at(-1) ?? ''));
    expect(without).toEqual([]);
  });
});
