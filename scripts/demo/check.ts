import { EXACT, GRAND_TOTAL, HIGHEST, REPORT, TOTALS } from './job.ts';

/** Path → text of every file of the run. */
export type Files = ReadonlyMap<string, string>;

/**
 * What is wrong with the files that the rehearsal model made: it works from the figures alone, so every byte of the tables
 * is known, and the report has to say the totals.
 * @returns one sentence per fault; empty when all is right
 */
export const faultsOfRehearsal = (files: Files): readonly string[] => {
  const tables = [...EXACT].flatMap(([path, expected]) => {
    const found = files.get(path);
    if (found === undefined) return [`${path} is missing.`];
    return found === expected ? [] : [`${path} holds ${JSON.stringify(found)} and not ${JSON.stringify(expected)}.`];
  });
  const report = files.get(REPORT);
  if (report === undefined) return [...tables, `${REPORT} is missing.`];
  const said: readonly (readonly [string, RegExp])[] = [
    ...TOTALS.map(
      ({ region, total }) =>
        [`the total of ${region}, ${total}`, new RegExp(`\\b${region}\\D*\\b${total}\\b`)] as const,
    ),
    [`the grand total, ${GRAND_TOTAL}`, new RegExp(`grand total\\D*\\b${GRAND_TOTAL}\\b`, 'i')],
    [`the highest region, ${HIGHEST}`, new RegExp(`highest\\W*${HIGHEST}\\b`, 'i')],
  ];
  return [
    ...tables,
    ...said.flatMap(([what, pattern]) => (pattern.test(report) ? [] : [`${REPORT} does not say ${what}.`])),
  ];
};

/** Thousands may be written 1210, 1,210 or 1 210. */
const says = (text: string, value: number): boolean =>
  new RegExp(`(?<![\\d.,])${String(value).replace(/^(\d)(\d{3})$/, '$1[,. \u202f]?$2')}(?!\\d)`).test(text);

/**
 * What is missing from a real model's work. It chooses names and words itself, so only the outcome counts: a file for each
 * region, and every total somewhere in the files or the result.
 */
export const faultsOfModel = (files: Files, result: string): readonly string[] => {
  const text = [...files.values(), result].join('\n');
  const wanted = [...TOTALS.map(({ total }) => total), GRAND_TOTAL];
  return [
    ...(files.size >= TOTALS.length ? [] : [`There are ${files.size} files, and not one for each of four regions.`]),
    ...wanted.flatMap((value) => (says(text, value) ? [] : [`${value} stands in no file and not in the result.`])),
  ];
};
