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

/** Micro-dollars; a call of these runs costs 120 and 2,100 or so at most. */
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
export const BUDGETED_ALONE: Base = { ...BUDGETED, executions: 1, dailyBudget: 2_330, books: false };

export const BOOK_AIMS: { readonly [guard: string]: Aim } = {
  'what is rolled up is rolled up once': { base: BOOKED, seeds: 5 },
  'no more of a daily budget is given out than there is': { base: BUDGETED, seeds: 20 },
  'nothing is bought before it is drawn': { base: BUDGETED },
  'what is left of a tranche goes back once': { base: BUDGETED, seeds: 10 },
};
