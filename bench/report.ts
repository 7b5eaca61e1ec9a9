import type { Figure } from './figure.ts';

/** What was kept of an earlier run. */
export interface Baseline {
  readonly date: string;
  readonly machine: string;
  readonly figures: { readonly [id: string]: number };
}

export type Verdict = 'pass' | 'FAIL' | 'met' | 'missed' | 'not measured' | '';

/** A value that is only noise above its limit is still above it: nothing is rounded before it is judged. */
export const verdictOf = ({ value, target }: Figure): Verdict => {
  if (target === undefined) return '';
  if (value === undefined) return 'not measured';
  const { most = Number.POSITIVE_INFINITY, least = Number.NEGATIVE_INFINITY } = target;
  const good = value >= least && value <= most;
  if (target.kind === 'hard') return good ? 'pass' : 'FAIL';
  return good ? 'met' : 'missed';
};

/** Change against the baseline in per cent; `undefined` without one, or from nothing. */
export const changeOf = ({ id, value }: Figure, baseline: Baseline | undefined): number | undefined => {
  const before = baseline?.figures[id];
  if (before === undefined || before === 0 || value === undefined) return undefined;
  return (value / before - 1) * 100;
};

export const baselineOf = (figures: readonly Figure[], date: string, machine: string): Baseline => ({
  date,
  machine,
  figures: Object.fromEntries(figures.flatMap(({ id, value }) => (value === undefined ? [] : [[id, rounded(value)]]))),
});

const rounded = (value: number): number => Number(value.toPrecision(5));

/** Three figures that say something, no more. */
export const shown = (value: number | undefined, unit: string): string => {
  if (value === undefined) return '–';
  const size = Math.abs(value);
  const digits = Number.isInteger(value) || size >= 100 ? 0 : size >= 10 ? 1 : 2;
  // Of a thousand of something cheap, two decimals of a dollar say nothing.
  const text = size > 0 && size < 0.1 ? String(Number(value.toPrecision(2))) : value.toFixed(digits);
  if (unit === '') return text;
  return unit === '$' ? `$${text}` : `${text} ${unit}`;
};

const limit = ({ target, unit }: Figure): string => {
  if (target === undefined) return '';
  const { kind, most, least } = target;
  const bound = most === undefined ? `≥ ${shown(least, unit)}` : `≤ ${shown(most, unit)}`;
  return kind === 'hard' ? bound : `aim ${bound}`;
};

const percent = (change: number | undefined): string => {
  if (change === undefined) return '';
  const text = change.toFixed(0);
  return text === '0' || text === '-0' ? '=' : `${change > 0 ? '+' : ''}${text} %`;
};

const HEAD = ['figure', 'value', 'baseline', 'change', 'target', 'verdict'] as const;

const rowsOf = (figures: readonly Figure[], baseline: Baseline | undefined): readonly (readonly string[])[] =>
  figures.map((figure) => [
    figure.label,
    shown(figure.value, figure.unit),
    shown(baseline?.figures[figure.id], figure.unit),
    percent(changeOf(figure, baseline)),
    limit(figure),
    verdictOf(figure),
  ]);

export const tableOf = (figures: readonly Figure[], baseline: Baseline | undefined): string => {
  const rows = [HEAD, ...rowsOf(figures, baseline)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        column >= 1 && column <= 3 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
};

/** Without the baseline: the document is one. */
export const markdownOf = (figures: readonly Figure[]): string => {
  const rows = figures.map((figure) => [
    figure.label.trim(),
    shown(figure.value, figure.unit),
    limit(figure),
    verdictOf(figure),
  ]);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(['figure', 'value', 'target', 'verdict']), '|---|--:|---|---|', ...rows.map(line)].join('\n');
};
