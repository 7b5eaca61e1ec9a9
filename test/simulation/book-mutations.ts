import type { Mutation } from './mutations.ts';

const DAILY_BUDGET = 'lib/execution/step/daily-budget.ts';

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
    file: 'lib/execution/step/turn.ts',
    find: 'const spent = await drawDailyBudget(turn, model.worst);',
    put: 'const spent = undefined;',
  },
  {
    guard: 'what is left of a tranche goes back once',
    file: DAILY_BUDGET,
    find: '          asDrawn(execution),\n          eq(A.status, execution.status),\n',
    put: '          eq(A.status, execution.status),\n',
  },
];
