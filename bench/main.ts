/** `npm run bench`: what a step costs. docs/performance.md says how each figure is to be read. */
import '../scripts/node-version.ts';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { costOf, figuresOf } from './figures.ts';
import { measureAll } from './measure.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { type Baseline, baselineOf, markdownOf, tableOf, verdictOf } from './report.ts';

const BASELINE = join(import.meta.dirname, 'baseline.json');
const ROOT = resolve(import.meta.dirname, '..');

const run = async ({ quick, output, keep, sizes }: Options): Promise<void> => {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  const started = performance.now();
  // What is under way goes to stderr, so that stdout holds the result and nothing else.
  const measured = await measureAll(ROOT, sizes, interrupted.signal, (line) => console.error(line));
  const seconds = Math.round((performance.now() - started) / 1000);
  const figures = figuresOf(measured);
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.version}`;
  const baseline = existsSync(BASELINE) ? (JSON.parse(readFileSync(BASELINE, 'utf8')) as Baseline) : undefined;
  const head = `${date}, ${machine}, ${quick ? 'quick' : 'full'} run of ${seconds} s`;
  if (output === 'json') {
    const judged = figures.map((figure) => ({ ...figure, verdict: verdictOf(figure) }));
    const result = { date, machine, quick, seconds, figures: judged, cost: costOf(measured), measured, baseline };
    console.log(JSON.stringify(result, undefined, 2));
  } else if (output === 'markdown') console.log(`${head}\n\n${markdownOf(figures)}`);
  else console.log(`${head}\nbaseline: ${baseline?.date ?? 'none'}\n\n${tableOf(figures, baseline)}`);
  if (keep) writeFileSync(BASELINE, `${JSON.stringify(baselineOf(figures, date, machine), undefined, 2)}\n`);
  const failed = figures.filter((figure) => verdictOf(figure) === 'FAIL');
  if (failed.length > 0) {
    console.error(`Missed: ${failed.map(({ label }) => label.trim()).join('; ')}.`);
    process.exitCode = 1;
  }
};

let options: Options;
try {
  options = readOptions(process.argv.slice(2));
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exit(2);
}
await run(options);
