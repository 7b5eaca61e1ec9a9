/** What an organisation may spend on one UTC day: the setting, and the row that counts what was given out of it. */
import * as z from 'zod';
import { dayOf, endOfDay } from '../kernel/day.ts';
import { keys } from '../kernel/keys.ts';
import {
  add,
  and,
  type Change,
  eq,
  le,
  missing,
  or,
  remove,
  set,
  type Table,
  TransactionRefused,
  type Write,
} from '../kernel/table.ts';
import { TABLE } from '../names.ts';
import { getOrganisation, type Organisation } from './organisation.ts';
import { ROW_VERSION, readRow } from './row.ts';

const MICRO = 1_000_000;
/** How long the row of a day is kept after it. */
const KEPT_DAYS = 90;
/** In the row of a day: there is no budget any more. */
const NO_LIMIT = -1;

const daySchema = z.object({
  /** Micro-dollars that runs hold or have spent. */
  granted: z.int().default(0),
  /** The budget by which it was counted last. */
  limit: z.int().optional(),
  /** When nothing was left for somebody, ms since the epoch; gone when the budget changes. */
  spentAt: z.int().optional(),
});
export type BudgetDay = z.output<typeof daySchema>;

/** @throws UnreadableRow */
export const budgetDay = async (table: Table, orgId: string, day: string): Promise<BudgetDay> => {
  const item = await table.get(keys.budget(orgId, day), { consistent: true });
  return item === undefined ? { granted: 0 } : readRow(daySchema, item);
};

/** Attributes that every write to the row of a day sets. */
export const budgetDayChanges = (day: string, limit: number): readonly Change[] => [
  set('v', ROW_VERSION),
  set('limit', limit),
  set(TABLE.ttl, Math.floor(endOfDay(day) / 1000) + KEPT_DAYS * 86_400),
];

/** True of a row that nobody has given another budget meanwhile, and that has room below `most` granted micro-dollars. */
export const hasRoom = (budget: number, most: number) =>
  and(limitIs(budget), or(missing('granted'), le('granted', most)));

export const limitIs = (budget: number) => or(missing('limit'), eq('limit', budget));

/** The budget and how its day stands; `undefined` when there is none. Both are read strongly. */
export const readBudget = async (
  table: Table,
  orgId: string,
  day: string,
): Promise<{ readonly budget: number; readonly row: BudgetDay } | undefined> => {
  const [{ dailyBudget }, row] = await Promise.all([getOrganisation(table, orgId), budgetDay(table, orgId, day)]);
  return dailyBudget === undefined ? undefined : { budget: dailyBudget, row };
};

export interface BudgetSetting {
  readonly orgId: string;
  /** `null` removes it. */
  readonly usd: number | null;
  /** What was spent today so far, micro-dollars: it counts where there was no budget to draw from until now. */
  readonly spent: number;
}

const MAX_TRIES = 5;

/**
 * Sets or removes the daily budget, with immediate effect: a tranche that is being drawn by the old one is refused.
 * @param alongside written in the same transaction
 * @throws AppError 404
 */
export const setDailyBudget = async (
  table: Table,
  { orgId, usd, spent }: BudgetSetting,
  nowMs: number,
  alongside: (day: string) => readonly Write[],
): Promise<Organisation> => {
  const day = dayOf(nowMs);
  const budget = usd === null ? undefined : Math.round(usd * MICRO);
  for (let attempt = 1; ; attempt++) {
    const [{ dailyBudget }, { granted }] = await Promise.all([
      getOrganisation(table, orgId),
      budgetDay(table, orgId, day),
    ]);
    const unseen = dailyBudget === undefined && budget !== undefined ? Math.max(0, spent - granted) : 0;
    try {
      await table.transact([
        {
          update: keys.organisation(orgId),
          changes: [budget === undefined ? remove('dailyBudget') : set('dailyBudget', budget)],
          if: and(
            eq('v', ROW_VERSION),
            dailyBudget === undefined ? missing('dailyBudget') : eq('dailyBudget', dailyBudget),
          ),
        },
        {
          update: keys.budget(orgId, day),
          changes: [...budgetDayChanges(day, budget ?? NO_LIMIT), remove('spentAt'), add('granted', unseen)],
        },
        ...alongside(day),
      ]);
      return await getOrganisation(table, orgId);
    } catch (error) {
      // Somebody set another one at the same moment: the later one stands.
      if (!(error instanceof TransactionRefused) || attempt === MAX_TRIES) throw error;
    }
  }
};
