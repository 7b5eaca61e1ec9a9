/** Figures of one name: "north: January 120, February 135, March 150". */
export interface Series {
  readonly name: string;
  readonly values: readonly { readonly label: string; readonly value: number }[];
}

const LINE = /^[\s>"'\-*•]*(?:\d+[.)]\s+)?"?([A-Za-z][A-Za-z0-9 _-]{0,39}):\s+(.+?)[".;]*,?\s*$/;
const PAIR = /^([A-Za-z][\w .-]{0,39}?)\s+(-?\d+(?:\.\d+)?)$/;

/** The series that a text gives, one a line with at least two values; anything else is prose. */
export const seriesIn = (text: string): readonly Series[] =>
  text.split(/\r?\n/).flatMap((line) => {
    const match = LINE.exec(line);
    if (match?.[1] === undefined || match[2] === undefined) return [];
    const pairs = match[2].split(/,\s*/).map((pair) => PAIR.exec(pair.trim()));
    if (pairs.length < 2 || pairs.some((pair) => pair === null)) return [];
    const values = pairs.map((pair) => ({ label: pair?.[1] ?? '', value: Number(pair?.[2]) }));
    return [{ name: match[1].trim().toLowerCase(), values }];
  });

export const csvPath = (name: string): string => `figures/${name.replace(/[^a-z0-9]+/g, '-')}.csv`;

export const toCsv = (series: Series): string =>
  ['label,value', ...series.values.map(({ label, value }) => `${label},${value}`), ''].join('\n');

/** Name and sum of what a CSV file really holds; lines without a number at their end do not count. */
export const totalOf = (path: string, csv: string): { readonly name: string; readonly total: number } => {
  const numbers = csv.split(/\r?\n/).flatMap((line) => /,\s*(-?\d+(?:\.\d+)?)\s*$/.exec(line)?.[1] ?? []);
  return { name: path.replace(/^.*\//, '').replace(/\.csv$/, ''), total: sum(numbers.map(Number)) };
};

/** To the cent: sums of decimals are not exact in binary. */
export const sum = (values: readonly number[]): number =>
  Math.round(values.reduce((total, value) => total + value, 0) * 100) / 100;
