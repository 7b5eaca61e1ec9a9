/** The books: usage rows against what the runs have used, the daily budget against what was given out and bought. */
import { keys } from '../../lib/kernel/keys.ts';
import { DIMENSIONS, type Dimension, type Figures, NO_FIGURES, plus } from '../../lib/usage/figures.ts';
import { settleBooks } from '../../lib/usage/floor.ts';
import { figuresBy, readUsage } from '../../lib/usage/row.ts';
import { readExecution, readFeedRow } from './reads.ts';
import type { Sim } from './sim-run.ts';
import { ORG } from './sim-seed.ts';

const USAGE = keys.usageOfDays(ORG, '', '').pk;
/** Between two looks of the effect function at the runs, virtual ms. */
const EVERY_MS = 700;
/** Long enough for a lease to end and its step to go on; a run that stands for hours needs no more of them. */
const MOST_LOOKS = 100;

/** The effect function brings the books up to date at any moment, mostly two of it at once. */
export const keepBooks = (sim: Sim): void => {
  let looks = 0;
  const look = (): void => {
    for (const row of sim.observed.executions.values()) {
      const read = readExecution(row);
      // One of it was frozen between its read and its write.
      sim.world.after(EVERY_MS * 3 * sim.world.random(), () => void sim.giveBack(read));
      for (let copy = 0; copy < 2; copy++) void sim.settleBooks(read);
    }
    if (++looks < MOST_LOOKS) sim.world.after(EVERY_MS * (0.5 + sim.world.random()), look);
  };
  sim.world.after(EVERY_MS, look);
};

/** The last effects of all runs have arrived. */
export const closeBooks = async (sim: Sim): Promise<void> => {
  for (const row of sim.observed.executions.values()) await settleBooks({ table: sim.memory }, readExecution(row));
};

export const booksAreExact = (sim: Sim): string[] => {
  const items = sim.memory.dump();
  const runs = items.filter(({ sk }) => sk === 'EXEC').map(readExecution);
  const used = items.filter(({ pk }) => pk === USAGE).map(readUsage);
  const of = (dimension: Dimension): Figures =>
    used.flatMap((row) => [...figuresBy(row, dimension)]).reduce((sum, [, figures]) => plus(sum, figures), NO_FIGURES);
  const total = (figure: (run: (typeof runs)[number]) => number): number =>
    runs.reduce((sum, run) => sum + figure(run), 0);
  const bought = items
    .filter(({ sk }) => sk.startsWith('FEED#'))
    .filter((item) => {
      const row = readFeedRow(item);
      const run = runs.find(({ executionId }) => item.pk.endsWith(executionId));
      return (row.kind === 'reply' || row.kind === 'summary') && row.seq < (run?.seq ?? 0);
    }).length;
  const found: string[] = [];
  for (const dimension of DIMENSIONS.filter((each) => each !== 'tool')) {
    const { cost, input, output, calls, runs: counted, errors } = of(dimension);
    const say = (what: string, is: number, due: number): void => {
      if (is !== due) found.push(`usage by ${dimension} has ${is} ${what}; the runs have ${due}`);
    };
    say(
      'micro-dollars',
      cost,
      total((run) => run.cost),
    );
    say(
      'tokens in',
      input,
      total((run) => run.tokensIn),
    );
    say(
      'tokens out',
      output,
      total((run) => run.tokensOut),
    );
    if (dimension !== 'model') {
      say('runs', counted, runs.length);
      say(
        'errors',
        errors,
        total((run) => run.errors),
      );
    }
    if (calls < bought || calls > sim.model.purchases.length) {
      found.push(
        `usage by ${dimension} has ${calls} calls; ${bought} are in the feed, ${sim.model.purchases.length} were made`,
      );
    }
  }
  return found;
};

/** All that runs were given is counted, there is never more of it than the budget, and nothing was bought beyond it. */
export const budgetHolds = (sim: Sim): string[] => {
  const { dailyBudget } = sim.scenario;
  if (dailyBudget === undefined) return [];
  const items = sim.memory.dump();
  const days = items.filter(({ sk }) => sk.startsWith('BUDGET#'));
  const granted = days.reduce((sum, { granted = 0 }) => sum + Number(granted), 0);
  const held = items
    .filter(({ sk }) => sk === 'EXEC')
    .map(readExecution)
    .reduce((sum, { budgetUpTo = 0 }) => sum + budgetUpTo, 0);
  const spent = sim.model.purchases.reduce((sum, { cost }) => sum + cost, 0);
  const found: string[] = [];
  if (sim.mostGranted > dailyBudget)
    found.push(`9: ${sim.mostGranted} were given out of a daily budget of ${dailyBudget}`);
  // A clock behind midnight draws from the day before; what a run held of that day is not given back.
  if (days.length === 1 && granted !== held)
    found.push(`9: the day has given out ${granted}, the runs hold or have spent ${held}`);
  if (spent > granted) found.push(`9: ${spent} were spent, ${granted} given out for it`);
  return found;
};

/** No run has bought more than it may, whatever its prompts came to. */
export const limitsHold = (sim: Sim): string[] => {
  const { usageOf, config, executions = 1 } = sim.scenario;
  const most = Number(config?.maxCostUsd) * 1e6 * executions;
  const spent = sim.model.purchases.reduce((sum, { cost }) => sum + cost, 0);
  return usageOf !== undefined && spent > most ? [`9: ${spent} were spent of ${most}`] : [];
};
