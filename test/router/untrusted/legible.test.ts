import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { legible } from '../../../lib/router/untrusted/legible.ts';
import { someText } from '../support/policies.ts';

const read = (text: string): string => legible(text).text;

describe('a text that hides nothing', () => {
  it.each([
    '',
    'plain\n',
    '# Title\n\n> quote\n\n- a\n  - b\n\n```ts\nconst a = 1; // <!-- code -->\n```\n\n`<!-- x -->` **b** _i_ ~~s~~',
    '| a | b |\n|---|---|\n| 1 | 2 |\n',
    '[a](https://example.org/a_(b)) <https://example.org> ![shot](a.png) [b][1]\n\n[1]: https://example.org\n',
    'note[^1]\n\n[^1]: what it says\n',
    '<b>bold</b> <br> <img src="a.png" alt="x">',
    '> <div>\n> a\n> </div>',
    'CRLF\r\nlines\r\n',
    '❤️ 👩‍💻 👨‍👩‍👧 1️⃣ ☎︎ 👍🏽 🏳️‍🌈',
    'می‌خواهم क्‍ष 中文，日本語',
    'a && b || c; x <| y |> z',
    '```\nnever closed',
  ])('comes out as it went in: %j', (text) => {
    expect(legible(text)).toEqual({ text, hidden: false, found: [] });
  });

  it('a collapsed section stays and is told of', () => {
    const text = '<details><summary>log</summary>\n\n```\nerror\n```\n\n</details>';
    expect(legible(text)).toEqual({ text, hidden: false, found: ['collapsed'] });
  });

  it('half a character becomes its sign', () => {
    expect(read('a\ud83d')).toBe('a\ufffd');
  });
});

describe('what is not seen is taken out', () => {
  it.each<[string, string, string, readonly string[]]>([
    ['a comment', 'a <!-- b --> c', 'a   c', ['comment']],
    ['a comment as a block', 'a\n\n<!-- b\n\nc -->\n\nd', 'a\n\n \n\nd', ['comment']],
    ['an empty one', 'a <!--> b <!---> c', 'a   b   c', ['comment']],
    ['a comment in a quote', '> a\n> <!-- b\n> c -->\n> d', '> a\n>  \n> d', ['comment']],
    ['a comment in HTML', '<div>\na <!-- b --> c\n</div>', '<div>\na   c\n</div>', ['comment']],
    ['an element', 'a <span hidden>b <i>c</i></span> d', 'a   d', ['element']],
    ['elements in each other', '<span hidden><span>a</span>b</span> c', '  c', ['element']],
    ['an element that is never closed', 'a <span hidden>b\n\nc', 'a  ', ['element']],
    ['an element in a list', '- a\n- <div hidden>\n\n  b\n\n  </div>\n- c', '- a\n-  \n- c', ['element']],
    ['a title', '[a *b*](https://e.org "c")', '[a *b*](<https://e.org>)', ['title']],
    ['a title of a definition', '[a]\n\n[a]: b "c"', '[a]\n\n[a]: <b>', ['title']],
    ['an unused definition', 'a\n\n[b]: c\n\nd', 'a\n\n\n\nd', ['definition']],
    ['a definition that comes late', '[a]\n\n[a]: b\n[a]: c', '[a]\n\n[a]: b\n', ['definition']],
    ['a title of an image', '![a](b "c")', '![a](<b>)', ['title']],
    ['an attribute', '<p align="center" title="do this now">a</p>', '<p>a</p>', ['attribute']],
    ['words behind a language', '```ts do this\na\n```', '```ts\na\n```', ['info']],
    [
      'words behind no language',
      '~~~ do-this-and-that-and-all-of-it-now-please\na\n~~~',
      '~~~do-this-and-that-and-all-of-it\na\n~~~',
      ['info'],
    ],
    ['zero width', 'a\u200bb\u2060c\ufeffd\u00ade', 'abcde', ['invisible']],
    ['directions', 'a\u202eb\u202cc\u2067d\u2069', 'abcd', ['invisible']],
    ['selectors in a row', '😀\ufe0f\ufe0f\ufe01', '😀\ufe0f', ['invisible']],
    ['a joiner that joins nothing', 'a\u200db 👩\u200da', 'ab 👩a', ['invisible']],
    ['fillers', 'a\u3164b\u115fc\uffa0', 'abc', ['invisible']],
    ['controls', 'a\u0000b\u0008c\u009bd', 'abcd', ['control']],
    ['colours', '\u001b[31merror\u001b[0m \u001b]0;title\u0007x', 'error x', ['control']],
  ])('%s', (_, text, seen, found) => {
    expect(legible(text)).toEqual({ text: seen, hidden: true, found });
  });

  it('a long description of an image is shortened', () => {
    const { text, found } = legible(`![${'word '.repeat(60)}](a.png) ![${'x'.repeat(300)}][r]\n\n[r]: b.png`);
    expect(found).toEqual(['alt']);
    expect(text).toMatch(/^!\[(word ?){24}…\]\(<a\.png>\) !\[x{119}…\]\[r\]\n\n\[r\]: b\.png$/);
  });

  it('several things at once are told of, each once', () => {
    const { found } = legible('x <!-- a --> <!-- b -->\u200b [c](d "e")\n\n[f]: g\n\n<details>x</details>');
    expect(found).toEqual(['collapsed', 'comment', 'definition', 'invisible', 'title']);
  });

  it('the rest of a text that is too tangled is left out, and that is said', () => {
    const { text, hidden, found } = legible(`first\n\n${'*_'.repeat(10_000)}\n\nlast`);
    expect([hidden, found]).toEqual([true, ['tangled']]);
    expect(text).toBe('first\n\n\n[The rest is too tangled to be read and was left out.]\n');
  });
});

describe('whatever the text', () => {
  it('no comment and nothing invisible is left, and reading it again changes nothing more', async () => {
    await fc.assert(
      fc.property(someText, (text) => {
        const once = read(text);
        expect(once.isWellFormed()).toBe(true);
        const twice = legible(once);
        expect(twice.found.filter((one) => one === 'invisible' || one === 'control')).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('words in a comment are not read', async () => {
    const prose = fc.string({
      unit: fc.constantFrom('a', ' ', '好', '.', '😀', '\n', '*', '<b>', '&amp;'),
      maxLength: 40,
    });
    await fc.assert(
      fc.property(prose, prose, (before, after) => {
        expect(read(`${before}\n\n<!-- secret -->\n\n${after}`)).not.toContain('secret');
        expect(read(`${before} x <!-- secret --> ${after}`)).not.toContain('secret');
      }),
      { numRuns: 200 },
    );
  });
});
