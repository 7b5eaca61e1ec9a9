import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkPath, spilledCall, spilledPath } from '../../lib/resource/path.ts';

describe('checkPath', () => {
  it.each([
    'report.md',
    'data/figures.csv',
    'a b/c d.txt',
    '日本語/メモ.txt',
    '.env',
    '...',
    'a..b',
    '#x',
    '50% of it.md',
    'con',
    '😀',
  ])('takes %s', (path) => expect(checkPath(path)).toEqual({ ok: true, path }));

  it.each([
    ['', 'is empty'],
    ['/etc/passwd', 'is absolute'],
    ['C:/x', 'is absolute'],
    ['../x', 'goes up'],
    ['a/../../x', 'goes up'],
    ['..', 'goes up'],
    ['./x', 'has a part "."'],
    ['a//b', 'empty part'],
    ['a/', 'empty part'],
    ['a\\b', 'backslash'],
    ['..\\x', 'backslash'],
    ['a\u0000b', 'control character'],
    ['a\nb', 'control character'],
    ['a\u0085b', 'control character'],
    ['~x', 'begins with "~"'],
    ['~spilled/1-2', 'begins with "~"'],
    ['why?.md', 'holds a "?"'],
    ['a%20b.md', 'percent code'],
    ['a%2Fb.md', 'percent code'],
    ['\ud800', 'half a character'],
    ['x'.repeat(513), 'longer than 512 bytes'],
    ['é'.repeat(257), 'longer than 512 bytes'],
  ])('refuses %j: %s', (path, why) => {
    const checked = checkPath(path);
    expect(checked).toMatchObject({ ok: false });
    if (!checked.ok) expect(checked.problem).toContain(why);
    if (!checked.ok) expect(checked.problem).toContain('"report.md"');
  });

  it('makes one name of two spellings', () => {
    expect(checkPath('caf\u0065\u0301.md')).toEqual({ ok: true, path: 'caf\u00e9.md' });
  });

  it('never lets through what could leave a folder or end elsewhere when taken twice', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(fc.constantFrom('a', '.', '..', '', '~', '/')).map((parts) => parts.join('/')),
        ),
        (text) => {
          const checked = checkPath(text);
          if (!checked.ok) return true;
          const root = new URL('file:///root/folder/');
          const stays = new URL(
            checked.path.replaceAll('%', '%25').replaceAll('#', '%23').replaceAll('?', '%3F'),
            root,
          );
          const again = checkPath(checked.path);
          return (
            again.ok && again.path === checked.path && (stays.href.startsWith(root.href) || checked.path.includes(':'))
          );
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('paths of set-aside results', () => {
  it('are read back into step and call', () => {
    fc.assert(
      fc.property(fc.nat(999_999_999), fc.nat(9_999), (seq, n) => {
        expect(spilledCall(spilledPath(seq, n))).toEqual({ seq, n });
      }),
    );
    for (const other of [
      '~spilled/',
      '~spilled/1',
      '~spilled/1-2/x',
      '~spilled/-1-2',
      'x~spilled/1-2',
      '~spilled/1-2\n',
    ]) {
      expect(spilledCall(other)).toBeUndefined();
    }
  });
});
