import * as fc from 'fast-check';
import type { Nodes } from 'mdast';
import { expect, it } from 'vitest';
import { linesOf } from '../../../lib/router/markdown/lines.ts';
import { childrenOf, parseMarkdown } from '../../../lib/router/markdown/parse.ts';
import { plainFences } from '../../../lib/router/markdown/plain-fences.ts';
import { withinBudget } from '../../../lib/router/markdown/within-budget.ts';

const fencedIn = (text: string): readonly string[] => {
  const lines = linesOf(text);
  return [...plainFences(text)].map((number) => lines[number]?.line ?? '');
};

it('lines are those of Markdown', () => {
  expect(linesOf('a\r\nb\rc\n\nd').map(({ line }) => line)).toEqual(['a', 'b', 'c', '', 'd']);
  expect(linesOf('')).toEqual([]);
  expect(linesOf('a\n').map(({ end }) => end)).toEqual([2]);
});

it.each<[string, readonly string[]]>([
  ['```\na\n```\nb', ['a']],
  ['text\n```ts\na\n\nb\n```\nc', ['a', '', 'b']],
  ['~~~\na\n```\nb\n~~~~\nc', ['a', '```', 'b']],
  ['````\na\n```\nb\n   ````\nc', ['a', '```', 'b']],
  ['```\na', ['a']],
  ['```a`b\nc', []],
  ['- a\n  ```\nb', []],
  ['> ```\nb', []],
  ['   ```\na\n```\nb', []],
  ['<!--\n```\n-->\nb', []],
  ['~~~\r~~~\rb', []],
  ['```\na\n```\n<b>\n```\nc\n```', ['a']],
])('of %j these are between fences: %j', (text, lines) => {
  expect(fencedIn(text)).toEqual(lines);
});

it('what is taken for fenced is code to the parser too', async () => {
  const line = fc.constantFrom(
    '```',
    '````',
    '~~~',
    '~~~~ x',
    '```ts',
    '``` a`b',
    ' ```',
    '   ~~~',
    '    ```',
    '\t```',
    '> ```',
    '- ```',
    '1. ~~~',
    '- a',
    '  b',
    '> q',
    'x',
    '',
    '',
    '<div>',
    '<!--',
    '-->',
    '</div>',
    '<b>',
    '[a]:',
    '[a]: b "t',
    't"',
    '[^a]: n',
    '| a |',
    '|---|',
    '===',
    '---',
    '* * *',
    '    code',
    '+ ',
    '$$',
    '`x',
    'x`',
    '**',
    '# h',
  );
  const text = fc
    .array(fc.tuple(line, fc.constantFrom('\n', '\n', '\r\n', '\r')), { maxLength: 14 })
    .map((lines) => lines.flat().join(''));
  const check = (given: string): void => {
    const lines = linesOf(given);
    const code = new Set<number>();
    const steps: Nodes[] = [parseMarkdown(given).tree];
    for (let node = steps.pop(); node !== undefined; node = steps.pop()) {
      const { start, end } = node.position ?? {};
      if (node.type === 'code') for (let at = start?.line ?? 0; at <= (end?.line ?? 0); at++) code.add(at - 1);
      steps.push(...childrenOf(node));
    }
    const wrong = [...plainFences(given)].filter((number) => lines[number]?.line.trim() !== '' && !code.has(number));
    if (wrong.length > 0) expect([given, wrong]).toEqual([given, []]);
  };
  check('| a |\n|---|\n```\n**\n');
  check('[a]: b "t\n```\n**\nt"');
  check('[^a]: n\n```\n**\n');
  await fc.assert(fc.property(text, check), { numRuns: 1_000 });
});

it('a long log between fences is no tangle, the same outside of them is', () => {
  const log = '[INFO] [main] step_one *done* in 3_000 ms\n'.repeat(1_500);
  const fenced = `Look:\n\`\`\`\n${log}\`\`\`\nand *say* what it is`;
  expect(withinBudget(fenced)).toBe(fenced);
  expect(withinBudget(`Look:\n\n${log}\nand say what it is`)).toBe('Look:\n\n');
  expect(withinBudget(`<!--\n\`\`\`\n-->\n\n${log}`)).toBe('<!--\n```\n-->\n\n');
});

it('more than a comment can hold is cut at a paragraph', () => {
  const text = `${'word '.repeat(15_000)}\n\n${'word '.repeat(15_000)}`;
  expect(withinBudget(text)).toBe(`${'word '.repeat(15_000)}\n\n`);
});
