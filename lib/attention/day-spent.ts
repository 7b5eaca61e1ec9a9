/** The organisation's budget for a day is used up: one item for all runs that it stops. */
import type { DaySpent } from '../execution/step/deps.ts';
import { endOfDay, startOfDay } from '../kernel/day.ts';
import type { Cause, NewAttention } from './attention.ts';

export const daySpentCause = ({ orgId, day }: Pick<DaySpent, 'orgId' | 'day'>): Cause => ({
  orgId,
  kind: 'organisation_budget',
  subject: { type: 'organisation', id: orgId },
  at: startOfDay(day),
});

const MICRO = 1_000_000;
/** The most that the setting takes, dollars. */
const MOST = 1_000_000;

/** Whole cents, and above what is there already, so that the action does something. */
const doubled = (budget: number): number => Math.max(0.01, Math.ceil((2 * budget * 100) / MICRO) / 100);

export const daySpentItem = (spent: DaySpent): NewAttention => {
  const path = '/v1/organisation';
  const dailyBudgetUsd = doubled(spent.budget);
  const raise = {
    label: `Raise dailyBudgetUsd to ${dailyBudgetUsd}`,
    method: 'PATCH' as const,
    path,
    body: { dailyBudgetUsd },
  };
  return {
    ...daySpentCause(spent),
    question: `The budget of $${(spent.budget / MICRO).toFixed(2)} for ${spent.day} (UTC) is used up: runs stop before their next model call. Raise it, or let them wait for the next day; then resume them.`,
    url: path,
    actions: dailyBudgetUsd <= MOST ? [raise] : [],
    until: endOfDay(spent.day),
  };
};
