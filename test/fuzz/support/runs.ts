import * as fc from 'fast-check';

/** Longest that one example may take, ms: what takes longer counts as a hang. */
const HANG_MS = 10_000;
const LONGEST_REPORT = 6_000;

const number = (name: string): number | undefined => {
  const text = process.env[name];
  return text === undefined || text === '' ? undefined : Number(text);
};

/** The usual report (seed, path, shrunk example, cause), without the megabytes that some examples hold. */
const reporter = (out: fc.RunDetails<unknown>): void => {
  if (!out.failed) return;
  const text = (fc.defaultReportMessage(out) ?? '').replace(
    /(.)\1{99,}/gs,
    (all, one) => `${one}{${all.length} times}`,
  );
  const shown = text.length > LONGEST_REPORT ? `${text.slice(0, LONGEST_REPORT)} …` : text;
  throw new Error(shown, { cause: out.errorInstance });
};

/**
 * Parameters of a property. `FUZZ_RUNS` sets the number of examples of every property, `FUZZ_SEED` and `FUZZ_PATH` repeat
 * an example that failed.
 */
export const runs = <T>(usual: number): fc.Parameters<T> => {
  const seed = number('FUZZ_SEED');
  const path = process.env.FUZZ_PATH;
  return {
    numRuns: number('FUZZ_RUNS') ?? usual,
    timeout: HANG_MS,
    reporter: reporter as (out: fc.RunDetails<T>) => void,
    ...(seed === undefined ? {} : { seed }),
    ...(path === undefined ? {} : { path }),
  };
};

/** Asserts a property without a promise; such a one cannot be timed out. */
export const always = <T>(property: fc.IProperty<T>, usual: number): void => {
  const { timeout: _, ...rest } = runs<T>(usual);
  void fc.assert(property, rest); // nothing to wait for; the linter reads the other signature
};

/** Of a test with a property: without end where somebody asked for many examples. */
export const TEST_MS = number('FUZZ_RUNS') === undefined ? 60_000 : 3_600_000;
