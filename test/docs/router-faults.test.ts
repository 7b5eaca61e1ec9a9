import { describe, expect, test } from 'vitest';
import { isCited, missing, unchecked } from './citations.ts';
import { read, tableBelow } from './markdown.ts';

/** Reports about other agents that the page has to answer, by group. */
const NUMBERS = {
  A: [1, 2, 3, 5, 6, 7, 8, 9, 10, 12],
  B: [13, 15, 16, 17, 18, 19, 21, 23, 25, 26, 27, 28],
  C: [29, 30, 31, 33, 34, 36, 37],
  D: [38, 41, 42, 43, 44],
  E: [45, 47, 48, 49],
  F: [50, 52, 53, 55, 56],
  G: [57, 58, 59, 61, 62],
  H: [64, 65, 67, 68],
  I: [69, 70, 73],
  J: [74, 75, 77],
} as const;

/** What may be missing, and nothing else. */
const LATER = /^(?:Lark|pull requests|workspaces|reconciliation|merging)$/;

const page = read('docs/router-faults.md');
const headings = [...page.matchAll(/^## ([A-J])\. .*$/gm)];
const rows = headings.flatMap(([heading]) => tableBelow(page, heading));

/** What a last cell puts off: `later: this`. */
const putOff = (cell: string): readonly string[] =>
  cell.split('; ').flatMap((part) => (part.startsWith('later') ? [part.replace(/^later(?:: )?/, '')] : []));

/** What is wrong with a line. */
const faultsOf = (row: readonly string[]): readonly string[] => {
  const [number = '', , instead = '', shown = ''] = row;
  const later = putOff(shown);
  const titles = [...shown.matchAll(/“([^”]+)”/g)].map(([, title = '']) => title);
  // Titles that begin with numbers of reports: this one must be among them, or they are about something else.
  const numbered = titles.filter((title) => /^(?:[A-J]\d+[ ,:]+)+/.test(title) && /\b[A-HJ]\d+\b/.test(title));
  const about = numbered.length === 0 || numbered.some((title) => new RegExp(`\\b${number}\\b`).test(title));
  return [
    ...(row.length === 4 ? [] : [`${row.length} cells`]),
    ...(/^[A-Z\d`].*\.$/.test(instead) ? [] : ['does not say what happens instead']),
    ...(isCited(shown) || later.length > 0 ? [] : ['shows nothing and puts nothing off']),
    ...(about || REUSED.has(number) ? [] : ['cites tests of other reports alone']),
    ...later.filter((what) => !LATER.test(what)).map((what) => `puts off ${what || 'it knows not what'}`),
  ];
};

/** Shown by a test that another report gave its number to. */
const REUSED = new Set(['A9', 'B15', 'B19', 'G59']);

describe('docs/router-faults.md', () => {
  test('has a line for every numbered report, in order', () => {
    const wanted = Object.entries(NUMBERS).flatMap(([group, numbers]) => numbers.map((number) => `${group}${number}`));
    expect(rows.map(([number]) => number)).toEqual(wanted);
  });

  test('cites tests that exist, by names that are in them', () => {
    expect(missing(page)).toEqual([]);
    expect(unchecked(page)).toBe(0);
  });

  test('says on each line what happens instead, and what shows it or is later', () => {
    expect(rows.flatMap((row) => faultsOf(row).map((fault) => `${row[0]}: ${fault}`))).toEqual([]);
  });

  test.each([
    [['A1', 'x', 'It works.', ''], 'shows nothing and puts nothing off'],
    [['A1', 'x', 'It works.', '`test/docs/markdown.ts`'], 'shows nothing and puts nothing off'],
    [['A1', 'x', 'It works.', 'later'], 'puts off it knows not what'],
    [['A1', 'x', 'It works.', 'later: tickets'], 'puts off tickets'],
    [['A1', 'x', '', '`test/docs/markdown.ts` “blocksOf”'], 'does not say what happens instead'],
    [['A1', 'x', 'It works.', '`test/docs/markdown.ts` “B13: something else”'], 'cites tests of other reports alone'],
  ])('the check itself sees what is wrong with %j', (row, fault) => {
    expect(faultsOf(row)).toEqual([fault]);
  });
});
