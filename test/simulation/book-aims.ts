/** Where to look for the lack of a guard around the books; see `aims.ts`. */
import type { Aim } from './aims.ts';
import type { Base } from './scenarios.ts';

const LOOKS: Base['script'] = Array.from({ length: 200 }, () => [['look', {}] as const]);
/** Windows so small that the worst case of a call is not far from what it costs. */
const SMALL = { contextTokens: 1_000, maxReplyTokens: 100 };

/** The books are looked at while three runs run to their end. */
export const BOOKED: Base = {
  script: [
    [['look', {}]],
    [['pay', {}]],
    [
      ['post', {}],
      ['look', {}],
    ],
    [['finish', { result: 'ok' }]],
  ],
  executions: 3,
  stepDelaySeconds: 1,
  books: true,
};

/** Micro-dollars; a call of these runs costs 120 and 3,400 or so at most, 2,100 by its window. */
export const DAILY_BUDGET = 14_000;

/** Five runs that would never end, and a budget for some dozen calls. */
export const BUDGETED: Base = {
  script: LOOKS,
  executions: 5,
  stepDelaySeconds: 0,
  config: SMALL,
  dailyBudget: DAILY_BUDGET,
  books: true,
  expects: { status: 'BUDGET_EXCEEDED' },
};

/** One run alone, short enough for every pair of faults. */
export const BUDGETED_ALONE: Base = { ...BUDGETED, executions: 1, dailyBudget: 3_700, books: false };

/** A tokenizer that makes a token of each byte, and a model that always says as much as it may. */
const dearest: NonNullable<Base['usageOf']> = ({ messages, tools, maxReplyTokens }) => ({
  input: Buffer.byteLength(
    messages.map(({ content }) => content).join('') + tools.map((tool) => JSON.stringify(tool)).join(''),
  ),
  output: maxReplyTokens,
});

/** Micro-dollars: four calls of `LONG` and not quite a fifth. */
const LONG_BUDGET = 104_500;

/** One run whose prompts are far beyond its window; each costs what it can cost at most, some 21,000. */
export const LONG: Base = {
  script: LOOKS,
  stepDelaySeconds: 0,
  config: { ...SMALL, instructions: ['語'.repeat(6_000)], maxCostUsd: LONG_BUDGET / 1e6 },
  usageOf: dearest,
  expects: { status: 'BUDGET_EXCEEDED' },
};

/** Three of them, and money of the day for five calls. */
export const LONG_DAY: Base = {
  ...LONG,
  executions: 3,
  config: { ...LONG.config, maxCostUsd: 1 },
  dailyBudget: LONG_BUDGET,
  books: true,
};

export const BOOK_AIMS: { readonly [guard: string]: Aim } = {
  'what is rolled up is rolled up once': { base: BOOKED, seeds: 5 },
  'no more of a daily budget is given out than there is': { base: BUDGETED, seeds: 20 },
  'nothing is bought before it is drawn': { base: BUDGETED },
  'a long prompt is reserved before it is bought': { base: LONG, at: ['crash_after', /^model$/] },
  'a long prompt is judged before it is bought': {
    // Enough for the window and the run's own words, not for what stands around them.
    base: { ...LONG, config: { ...LONG.config, maxCostUsd: 0.02 } },
  },
  'what is left of a tranche goes back once': {
    // Claims reserve enough, so that tranches are all that moves.
    base: { ...BUDGETED, config: { ...SMALL, contextTokens: 2_000 }, dailyBudget: 18_000 },
    seeds: 10,
  },
};
