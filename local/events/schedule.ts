const UNIT_MS: { readonly [unit: string]: number } = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/**
 * Milliseconds between two fires of a `rate(…)` expression.
 * @throws Error for anything else: a rule that never fires would go unnoticed
 */
export const rateMs = (expression: string): number => {
  const [, count, unit, plural] = /^rate\((\d+) (minute|hour|day)(s?)\)$/.exec(expression) ?? [];
  const n = Number(count);
  const every = UNIT_MS[unit ?? ''];
  // EventBridge insists on "1 minute" and "2 minutes".
  if (every === undefined || n < 1 || (n === 1) !== (plural === '')) {
    throw new Error(`The schedule ${JSON.stringify(expression)} is not played by the local cloud; rate(N minutes) is.`);
  }
  return n * every;
};
