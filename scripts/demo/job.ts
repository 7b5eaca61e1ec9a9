/** The demo's piece of work, and what a right answer to it is. Both come from the same figures. */

const REGIONS = {
  north: { January: 120, February: 135, March: 150 },
  south: { January: 90, February: 80, March: 110 },
  east: { January: 200, February: 10, March: 15 },
  west: { January: 75, February: 95, March: 130 },
} as const;

type Region = keyof typeof REGIONS;

const regions = Object.keys(REGIONS) as Region[];
const months = (region: Region): [string, number][] => Object.entries(REGIONS[region]);
const totalOf = (region: Region): number => months(region).reduce((sum, [, value]) => sum + value, 0);

/** Body of `POST /v1/agents`. */
export const AGENT = {
  name: 'Quarterly figures',
  config: {
    goals: [
      'Put the sales figures of the first quarter into files, one for each region, read them back, and report the totals.',
    ],
    instructions: regions.map(
      (region) =>
        `${region}: ${months(region)
          .map(([month, value]) => `${month} ${value}`)
          .join(', ')}`,
    ),
  },
} as const;

/** Files whose every byte is known, because the rehearsal model writes them from the instructions alone. */
export const EXACT: ReadonlyMap<string, string> = new Map([
  ...regions.map(
    (region) =>
      [
        `figures/${region}.csv`,
        `label,value\n${months(region)
          .map(([month, value]) => `${month},${value}\n`)
          .join('')}`,
      ] as const,
  ),
  [
    'totals.csv',
    `name,total\n${regions
      .toSorted()
      .map((region) => `${region},${totalOf(region)}\n`)
      .join('')}`,
  ] as const,
]);

export const REPORT = 'report.md';

export const TOTALS: readonly { readonly region: string; readonly total: number }[] = regions.map((region) => ({
  region,
  total: totalOf(region),
}));
export const GRAND_TOTAL = TOTALS.reduce((sum, { total }) => sum + total, 0);
export const HIGHEST = TOTALS.reduce((top, one) => (one.total > top.total ? one : top)).region;
