import { describe, expect, test } from 'vitest';
import type { Figure } from '../../bench/figure.ts';
import { FULL, QUICK, readOptions } from '../../bench/options.ts';
import { baselineOf, changeOf, markdownOf, shown, tableOf, verdictOf } from '../../bench/report.ts';

const figure = (value: number | undefined, more: Partial<Figure> = {}): Figure => ({
  id: 'x',
  label: 'a figure',
  unit: 'ms',
  value,
  ...more,
});

describe('verdicts', () => {
  test.each([
    [10, 'hard', 10, 'pass'],
    [10.0001, 'hard', 10, 'FAIL'],
    [0, 'hard', 0, 'pass'],
    [1, 'hard', 0, 'FAIL'],
    [25, 'aim', 25, 'met'],
    [26, 'aim', 25, 'missed'],
    [undefined, 'hard', 10, 'not measured'],
  ] as const)('%s against %s %d is %s', (value, kind, most, verdict) => {
    expect(verdictOf(figure(value, { target: { kind, most } }))).toBe(verdict);
  });

  test('without a target there is none', () => {
    expect(verdictOf(figure(1))).toBe('');
  });
});

describe('the baseline', () => {
  const baseline = baselineOf(
    [figure(20), figure(undefined, { id: 'y' }), figure(0, { id: 'z' })],
    '2026-01-02',
    'box',
  );

  test('keeps what was measured', () => {
    expect(baseline).toEqual({ date: '2026-01-02', machine: 'box', figures: { x: 20, z: 0 } });
  });

  test.each([
    ['x', 30, 50],
    ['x', 10, -50],
    ['x', 20, 0],
    ['y', 5, undefined],
    ['z', 5, undefined],
    ['x', undefined, undefined],
  ] as const)('%s at %s changed by %s per cent', (id, value, change) => {
    const found = changeOf(figure(value, { id }), baseline);
    if (change === undefined) expect(found).toBeUndefined();
    else expect(found).toBeCloseTo(change, 9);
  });

  test('without one nothing has changed', () => {
    expect(changeOf(figure(20), undefined)).toBeUndefined();
  });

  test('stands beside the value in the table', () => {
    const lines = tableOf([figure(30, { target: { kind: 'hard', most: 25 } })], baseline).split('\n');
    expect(lines[0]).toMatch(/^figure +value +baseline +change +target +verdict$/);
    expect(lines[1]).toMatch(/^a figure +30 ms +20 ms +\+50 % +≤ 25 ms +FAIL$/);
  });
});

test('the Markdown table has a row for each figure and none of the baseline', () => {
  const text = markdownOf([
    figure(1.234, { label: '  inner' }),
    figure(undefined, { target: { kind: 'aim', most: 5 } }),
  ]);
  expect(text.split('\n').slice(2)).toEqual([
    '| inner | 1.23 ms |  |  |',
    '| a figure | – | aim ≤ 5 ms | not measured |',
  ]);
});

test.each([
  [undefined, 'ms', '–'],
  [4, '', '4'],
  [1.0449, '×', '1.04 ×'],
  [12.34, 'ms', '12.3 ms'],
  [1234.5, '/s', '1235 /s'],
  [7.5, '$', '$7.50'],
  [0.12, '$', '$0.12'],
  [0.00449, '$', '$0.0045'],
  [0, '$', '$0'],
])('%s in %s is shown as %s', (value, unit, text) => {
  expect(shown(value, unit)).toBe(text);
});

describe('options', () => {
  test('a full table is the default', () => {
    expect(readOptions([])).toEqual({ quick: false, output: 'table', keep: false, sizes: FULL });
    expect(readOptions(['--quick', '--json'])).toEqual({ quick: true, output: 'json', keep: false, sizes: QUICK });
    expect(readOptions(['--markdown']).output).toBe('markdown');
  });

  test.each([[['--json', '--markdown']], [['--keep', '--quick']], [['--fast']], [['more']]])(
    '%j is refused',
    (args) => {
      expect(() => readOptions(args)).toThrow(TypeError);
    },
  );
});
