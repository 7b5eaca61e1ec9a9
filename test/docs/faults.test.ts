import { describe, expect, test } from 'vitest';
import { isCited, missing, unchecked } from './citations.ts';
import { read, tableBelow } from './markdown.ts';

/** Issues and pull requests of SuperAGI that the page has to answer. */
const REPORTS = [
  15, 30, 41, 43, 50, 53, 187, 217, 221, 305, 306, 308, 312, 323, 387, 390, 391, 410, 411, 473, 477, 483, 529, 531,
  532, 549, 560, 572, 576, 640, 644, 657, 688, 705, 801, 842, 1052, 1053, 1128, 1175, 1253, 1254, 1257, 1284, 1295,
  1363, 1364, 1383, 1432, 1435, 1438, 1445, 1446, 1451, 1461, 1462, 1463, 1476, 1489, 1513, 1517, 1556, 1558, 1559,
  1560, 1567,
]; // biome-ignore format: one number a line would fill two pages

/** What may be missing, and nothing else. */
const LATER = /^(?:long-term memory|uploaded resources|external toolkits|vector stores and knowledge)$/;

const page = read('docs/faults.md');
const faults = tableBelow(page, '## Numbered faults');
const reports = tableBelow(page, '## What users reported');
const numbersOf = (row: readonly string[]): readonly number[] =>
  [...(row[0] ?? '').matchAll(/#(\d+)/g)].map(([, number]) => Number(number));

/** What a last cell puts off: `later: this`. */
const putOff = (cell: string): readonly string[] =>
  cell.split('; ').flatMap((part) => (part.startsWith('later') ? [part.replace(/^later(?:: )?/, '')] : []));

/** What is wrong with a line. */
const faultsOf = (row: readonly string[]): readonly string[] => {
  const [, , instead = '', shown = ''] = row;
  const later = putOff(shown);
  return [
    ...(row.length === 4 ? [] : [`${row.length} cells`]),
    ...(/^[A-Z\d`].*\.$/.test(instead) ? [] : ['does not say what happens instead']),
    ...(isCited(shown) || later.length > 0 ? [] : ['shows nothing and puts nothing off']),
    ...later.filter((what) => !LATER.test(what)).map((what) => `puts off ${what || 'it knows not what'}`),
  ];
};

describe('docs/faults.md', () => {
  test('has a line for every numbered fault, in order', () => {
    expect(faults.map(([number]) => Number(number))).toEqual(Array.from({ length: 26 }, (_, index) => index + 1));
  });

  test('has every report once', () => {
    const numbers = reports.flatMap(numbersOf);
    expect(numbers.toSorted((a, b) => a - b)).toEqual(REPORTS.toSorted((a, b) => a - b));
    expect(reports.filter((row) => numbersOf(row).length === 0)).toEqual([]);
  });

  test('cites tests that exist, by names that are in them', () => {
    expect(missing(page)).toEqual([]);
    expect(unchecked(page)).toBe(0);
  });

  test('says on each line what happens instead, and what shows it or is later', () => {
    const wrong = [...faults, ...reports].flatMap((row) => faultsOf(row).map((fault) => `${row[0]}: ${fault}`));
    expect(wrong).toEqual([]);
  });

  test.each([
    [['1', 'x', 'It works.', ''], 'shows nothing and puts nothing off'],
    [['1', 'x', 'It works.', '`test/docs/markdown.ts`'], 'shows nothing and puts nothing off'],
    [['1', 'x', 'It works.', 'later'], 'puts off it knows not what'],
    [['1', 'x', 'It works.', 'later: permissions'], 'puts off permissions'],
    [['1', 'x', '', '`test/docs/markdown.ts` “blocksOf”'], 'does not say what happens instead'],
  ])('the check itself sees what is wrong with %j', (row, fault) => {
    expect(faultsOf(row)).toEqual([fault]);
  });
});
