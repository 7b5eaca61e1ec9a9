import type { Mutation } from './mutate.ts';

const DAILY_BUDGET = 'lib/execution/step/daily-budget.ts';
const RESERVE = 'lib/execution/step/reserve.ts';

/** Guards around usage and the daily budget, each with the edit that takes it out. */
export const BOOK_MUTATIONS: readonly Mutation[] = [
  {
    guard: 'what is rolled up is rolled up once',
    file: 'lib/usage/roll-up.ts',
    find: "          if: mark === undefined ? missing('pk') : eq('times', rolled.times),\n",
    put: '',
  },
  {
    guard: 'no more of a daily budget is given out than there is',
    file: DAILY_BUDGET,
    find: '        if: hasRoom(budget, budget - tranche),\n',
    put: '',
  },
  {
    guard: 'nothing is bought before it is drawn',
    file: RESERVE,
    find: '    (await drawDailyBudget(turn, next)) ??\n',
    put: '',
  },
  {
    guard: 'a long prompt is reserved before it is bought',
    file: RESERVE,
    find: '(next > execution.worst ? await reserve(turn, next) : undefined)',
    put: 'undefined',
  },
  {
    guard: 'a long prompt is judged before it is bought',
    file: RESERVE,
    find: 'Math.max(execution.worst, worstOf(call))',
    put: 'execution.worst',
  },
  {
    guard: 'what is left of a tranche goes back once',
    file: DAILY_BUDGET,
    find: '          asDrawn(execution),\n          eq(A.status, execution.status),\n',
    put: '          eq(A.status, execution.status),\n',
  },
];
