/** Figures of a sample. An empty sample has none: `undefined`, never 0. */

/** @param share 0 to 1; linear between neighbours */
export const quantile = (values: readonly number[], share: number): number | undefined => {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(at)] ?? 0, sorted[Math.ceil(at)] ?? 0];
  return low + (high - low) * (at - Math.floor(at));
};

export const median = (values: readonly number[]): number | undefined => quantile(values, 0.5);

export const mean = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, one) => sum + one, 0) / values.length;

export const most = (values: readonly number[]): number | undefined => quantile(values, 1);

export const divided = (above: number | undefined, below: number | undefined): number | undefined =>
  above === undefined || below === undefined || below === 0 ? undefined : above / below;

/** Events per second over the middle four fifths of them, so that neither the start nor the last ones' idling counts. */
export const steadyRate = (times: readonly number[]): number | undefined => {
  const sorted = times.toSorted((a, b) => a - b);
  const [from, to] = [Math.floor(sorted.length * 0.1), Math.ceil(sorted.length * 0.9) - 1];
  const seconds = ((sorted[to] ?? 0) - (sorted[from] ?? 0)) / 1000;
  return seconds > 0 ? (to - from) / seconds : undefined;
};
