import { describe, expect, it } from 'vitest';
import { globFault, globMatches, globWithin } from '../../../lib/router/mandate/glob.ts';

describe('a glob', () => {
  it.each([
    ['src/**', 'src/a.ts', true],
    ['src/**', 'src/a/b/c.ts', true],
    ['src/**', 'src', false],
    ['src/**', 'srcs/a', false],
    ['**', 'anything/at/all', true],
    ['**/*.md', 'README.md', true],
    ['**/*.md', 'docs/deep/a.md', true],
    ['**/*.md', 'docs/a.mdx', false],
    ['docs/**/a.md', 'docs/a.md', true],
    ['docs/**/a.md', 'docs/x/y/a.md', true],
    ['docs/**/a.md', 'docs/xa.md', false],
    ['*.ts', 'a.ts', true],
    ['*.ts', 'src/a.ts', false],
    ['a?c', 'abc', true],
    ['a?c', 'a/c', false],
    ['a?c', 'a😀c', true],
    ['.github/workflows/*', '.github/workflows/ci.yml', true],
    ['A.ts', 'a.ts', false],
    ['a.ts', 'axts', false],
  ])('%s and %s: %s', (glob, path, matches) => {
    expect(globMatches(glob, path)).toBe(matches);
  });

  it.each(['', '/etc', 'a/../b', '..', './a', 'a//b', 'a/', 'a\\b', 'a\u0000b', 'a\nb'])('matches never %j', (path) => {
    for (const glob of ['**', '*', '**/*', 'a/**']) expect(globMatches(glob, path)).toBe(false);
  });

  it.each(['', '/a', 'a/', 'a//b', '../a', 'a/..', './a', 'a**', '**a/b', '{a,b}', '[ab]', '!a', 'a\\b', 'a\u0000'])(
    '%j is none',
    (glob) => {
      expect(globFault(glob)).toEqual(expect.any(String));
      expect(globMatches(glob, 'a')).toBe(false);
      expect(globWithin(glob, '**')).toBe(false);
      expect(globWithin('a', glob)).toBe(false);
    },
  );

  it.each([
    ['src/a.ts', 'src/**', true],
    ['src/**', 'src/**', true],
    ['src/**/x/*.ts', 'src/**', true],
    ['src/**', 'src/*', false],
    ['src/*', 'src/**', true],
    ['**', 'src/**', false],
    ['**', '**', true],
    ['*', '**', true],
    ['src/*.ts', 'src/*', true],
    ['src/*', 'src/*.ts', false],
    ['docs/**/a.md', '**/a.md', true],
    ['a/b/a.md', '**/a.md', true],
    ['**/a.md', 'docs/**/a.md', false],
    ['a?', 'a*', true],
    ['a*', 'a?', false],
    ['src/../etc', 'src/**', false],
  ])('%s lies inside of %s: %s', (narrow, wide, within) => {
    expect(globWithin(narrow, wide)).toBe(within);
  });

  it('inside means: no path more', () => {
    const under = (segments: readonly string[], inner: readonly string[]) =>
      segments.flatMap((segment) => [segment, ...inner.map((rest) => `${segment}/${rest}`)]);
    const names = ['src', 'a', 'ab', 'x.ts', 'x1y'];
    const paths = under(names, under(names, names));
    const wild = ['src', 'a', '*', '**', '?', 'a*', '*.ts', 'x?y', '*a*'];
    const globs = under(wild, under(wild, wild)).filter((_, index) => index % 3 === 0 || index < 100);
    const matched = new Map(globs.map((glob) => [glob, paths.map((path) => globMatches(glob, path))]));
    let inside = 0;
    for (const [narrow, ofNarrow] of matched) {
      for (const [wide, ofWide] of matched) {
        if (!globWithin(narrow, wide)) continue;
        inside++;
        const more = paths.filter((_, index) => ofNarrow[index] === true && ofWide[index] === false);
        if (more.length > 0) expect([narrow, wide, more]).toEqual([narrow, wide, []]);
      }
    }
    expect(inside).toBeGreaterThan(globs.length);
  });

  it('takes no time that a pattern could blow up', () => {
    const glob = `${'*a'.repeat(140)}b`;
    const started = process.cpuUsage();
    expect(globMatches(glob, 'a'.repeat(4_000))).toBe(false);
    expect(globWithin('a*'.repeat(140), glob)).toBe(false);
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(3_000);
  });
});
