/**
 * The organisation's budget for a UTC day. A run draws a part of it before it spends, so that no row is asked at every call
 * and all runs together can never spend more than was given out.
 */
import { dayOf } from '../../kernel/day.ts';
import { conflict } from '../../kernel/errors.ts';
import { keys } from '../../kernel/keys.ts';
import type { Clock } from '../../kernel/ports.ts';
import {
  add,
  and,
  type Condition,
  eq,
  exists,
  gt,
  missing,
  or,
  set,
  type Table,
  TransactionRefused,
  type Write,
} from '../../kernel/table.ts';
import { LeaseLost } from '../../lease/lease.ts';
import { budgetDayChanges, hasRoom, limitIs, readBudget } from '../../tenancy/daily-budget.ts';
import { A, type Execution, readExecution } from '../execution.ts';
import type { Turn } from './claimed.ts';
import type { Stop } from './fuses.ts';
import { holds, stillHeld } from './lease.ts';
import { isRefused } from './stop.ts';

/** Reason of runs that the organisation's budget for the day has stopped. */
export const DAILY_BUDGET_SPENT = 'organisation_daily_budget';

/** A tranche is good for so many calls at their worst case. */
const CALLS_PER_TRANCHE = 5;
/** And never more than this part of what is left, so that what runs hold unspent stops no other run. */
const PART_OF_REST = 50;
const MAX_TRIES = 10;

/**
 * Micro-dollars of the run's cost that are paid for today: by what it has drawn, or by the days before. Its booked cost can
 * be above what it has drawn, for each claim of a step that was lost counts at its worst case, also one that bought nothing.
 */
const paidUpTo = ({ budgetDay, budgetUpTo = 0, cost }: Execution, day: string): number =>
  budgetDay === day ? budgetUpTo : cost;

const usd = (micro: number): string => `$${(micro / 1e6).toFixed(4)}`;

/**
 * Makes sure that the coming call, and everything else that this run may still be billed for, is covered by what it has
 * drawn of its organisation's budget for today. Nothing is read or written where it is.
 * @param worst micro-dollars that the call can cost at most
 * @returns why the run has to stop; `undefined` when it may spend
 * @throws LeaseLost
 */
export const drawDailyBudget = async (turn: Turn, worst: number): Promise<Stop | undefined> => {
  const { deps, execution } = turn;
  if (turn.dailyBudget === undefined) return undefined;
  const day = dayOf(deps.clock.now());
  // Other claims of this step may have bought a reply too; the claim's own worst case is in `reserved`.
  const needed = execution.cost + execution.reserved + Math.max(0, worst - execution.worst);
  const base = paidUpTo(execution, day);
  if (needed === execution.cost || needed <= base) return undefined;
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const found = await readBudget(deps.table, execution.orgId, day);
    if (found === undefined) return undefined;
    const { budget, row } = found;
    const least = needed - base;
    const rest = budget - row.granted;
    if (rest < least) {
      const told = row.spentAt !== undefined || (await tellSpent(turn, day, budget, least));
      if (told) return spentStop(day, budget, least);
      continue;
    }
    const tranche = Math.max(least, Math.min(worst * CALLS_PER_TRANCHE, Math.floor(rest / PART_OF_REST)));
    if (await draw(turn, day, budget, base, tranche)) return undefined;
  }
  throw new Error('The daily budget changed each time that a part of it was drawn.');
};

const asDrawn = ({ budgetUpTo, budgetDay }: Execution): Condition =>
  budgetUpTo === undefined || budgetDay === undefined
    ? missing(A.budgetUpTo)
    : and(eq(A.budgetUpTo, budgetUpTo), eq(A.budgetDay, budgetDay));

/** One transaction gives it out and takes it. False: the day moved, to be judged anew. */
const draw = async (
  { deps, lease, execution }: Turn,
  day: string,
  budget: number,
  base: number,
  tranche: number,
): Promise<boolean> => {
  const now = deps.clock.now();
  const upTo = base + tranche;
  try {
    await deps.table.transact([
      {
        update: keys.execution(execution.orgId, execution.executionId),
        changes: [set(A.budgetDay, day), set(A.budgetUpTo, upTo)],
        if: and(stillHeld(lease.owner, execution, now), asDrawn(execution)),
      },
      {
        update: keys.budget(execution.orgId, day),
        changes: [...budgetDayChanges(day, budget), add('granted', tranche)],
        if: hasRoom(budget, budget - tranche),
      },
    ]);
    return true;
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error;
    if (error.refused[0] !== true) return false;
    const row = error.items[0] && readExecution(error.items[0]);
    if (row === undefined || !holds(row, lease.owner, execution.seq, now))
      throw new LeaseLost('The step was taken over.');
    // Applied by an earlier try whose answer was lost.
    if (row.budgetDay === day && row.budgetUpTo === upTo) return true;
    throw new LeaseLost('The step drew from the daily budget under another claim.');
  }
};

/** Notes once a day, or once for each budget of it, that nothing is left, and what people are told with it. */
const tellSpent = async ({ deps, execution }: Turn, day: string, budget: number, least: number): Promise<boolean> => {
  const { orgId } = execution;
  const stillSpent = budget < least ? [] : [gt('granted', budget - least)];
  const write: Write = {
    update: keys.budget(orgId, day),
    changes: [...budgetDayChanges(day, budget), set('spentAt', deps.clock.now())],
    if: and(limitIs(budget), missing('spentAt'), ...stillSpent),
  };
  try {
    await deps.table.transact([write, ...(deps.upper.daySpent?.({ orgId, day, budget }) ?? [])]);
    return true;
  } catch (error) {
    if (!isRefused(error)) throw error;
    return false;
  }
};

const spentStop = (day: string, budget: number, least: number): Stop => ({
  event: 'budget',
  reason: 'organisation_daily_budget' satisfies typeof DAILY_BUDGET_SPENT,
  message: `The organisation's budget of ${usd(budget)} for ${day} (UTC) has no room for the next call, which can cost up to ${usd(least)}. Raise dailyBudgetUsd or wait for the next day, then resume.`,
});

/**
 * A run that the daily budget stopped would stop again at once while nothing is left.
 * @throws AppError 409
 */
export const refuseSpentDay = async (
  { table, clock }: { readonly table: Table; readonly clock: Clock },
  execution: Execution,
): Promise<void> => {
  if (execution.status !== 'BUDGET_EXCEEDED' || execution.reason !== DAILY_BUDGET_SPENT) return;
  const day = dayOf(clock.now());
  const found = await readBudget(table, execution.orgId, day);
  if (found === undefined) return;
  const least = execution.cost + execution.reserved + execution.worst - paidUpTo(execution, day);
  if (found.budget - found.row.granted >= least) return;
  const { message } = spentStop(day, found.budget, least);
  throw conflict('limit_not_raised', message, { from: execution.status, to: 'RUNNING', limit: DAILY_BUDGET_SPENT });
};

/** Counters are written once something was counted. */
const isSum = (attribute: string, value: number): Condition =>
  value === 0 ? or(missing(attribute), eq(attribute, 0)) : eq(attribute, value);

export interface BudgetDeps {
  readonly table: Table;
}

/**
 * Gives back what a run that stands still has drawn and not spent; what may still be billed stays drawn. The run draws
 * anew when it goes on. It may be called at any time and again: the guard is the very sum that it was worked out from.
 */
export const giveBack = async ({ table }: BudgetDeps, execution: Execution): Promise<void> => {
  const { orgId, executionId, budgetDay, budgetUpTo, cost, reserved } = execution;
  // A step that is under way may be about to spend it.
  if (budgetDay === undefined || budgetUpTo === undefined) return;
  if (execution.status === 'RUNNING' || execution.leaseOwner !== undefined) return;
  const unspent = budgetUpTo - cost - reserved;
  if (unspent <= 0) return;
  try {
    await table.transact([
      {
        update: keys.execution(orgId, executionId),
        changes: [set(A.budgetUpTo, cost + reserved)],
        if: and(
          asDrawn(execution),
          eq(A.status, execution.status),
          eq(A.since, execution.since),
          missing(A.leaseOwner),
          isSum(A.cost, cost),
          isSum(A.reserved, reserved),
        ),
      },
      { update: keys.budget(orgId, budgetDay), changes: [add('granted', -unspent)], if: exists('pk') },
    ]);
  } catch (error) {
    // It went on meanwhile, or somebody gave it back: the next change of status looks again.
    if (!(error instanceof TransactionRefused)) throw error;
  }
};
