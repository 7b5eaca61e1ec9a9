/** An assessment draws what its call can cost from the organisation's budget of the day, and gives the rest back with the reply. */

import { openAttention } from '../../attention/attention.ts';
import { daySpentItem } from '../../attention/day-spent.ts';
import { dayOf } from '../../kernel/day.ts';
import { ifAllStill } from '../../kernel/if-still.ts';
import { keys } from '../../kernel/keys.ts';
import { add, and, exists, missing, set, type Write } from '../../kernel/table.ts';
import { budgetDayChanges, hasRoom, limitIs, readBudget } from '../../tenancy/daily-budget.ts';
import type { AssessDeps } from './deps.ts';

export interface Drawn {
  readonly orgId: string;
  readonly day: string;
  /** Micro-dollars. */
  readonly amount: number;
}

const MAX_TRIES = 10;

/**
 * @param worst micro-dollars that the call can cost at most
 * @returns what was drawn; `undefined` where there is no budget or nothing to pay; `spent` where nothing is left, which
 *   people are told once a day
 */
export const drawForCall = async (
  { table, clock }: Pick<AssessDeps, 'table' | 'clock'>,
  orgId: string,
  worst: number,
): Promise<Drawn | undefined | 'spent'> => {
  if (worst === 0) return undefined;
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const day = dayOf(clock.now());
    const found = await readBudget(table, orgId, day);
    if (found === undefined) return undefined;
    const { budget, row } = found;
    const room = row.granted + worst <= budget;
    const key = keys.budget(orgId, day);
    if (!room && row.spentAt !== undefined) return 'spent';
    const writes: readonly Write[] = room
      ? [
          {
            update: key,
            changes: [...budgetDayChanges(day, budget), add('granted', worst)],
            if: hasRoom(budget, budget - worst),
          },
        ]
      : [
          {
            update: key,
            changes: [...budgetDayChanges(day, budget), set('spentAt', clock.now())],
            if: and(limitIs(budget), missing('spentAt')),
          },
          openAttention(daySpentItem({ orgId, day, budget })),
        ];
    // Refused where somebody drew, gave back, or set another budget meanwhile.
    if (await ifAllStill(table, writes)) return room ? { orgId, day, amount: worst } : 'spent';
  }
  throw new Error('The daily budget changed each time that a part of it was drawn.');
};

/** For the transaction that settles the call: what was drawn and not spent. Micro-dollars. */
export const givenBack = (drawn: Drawn | undefined, cost: number): readonly Write[] =>
  drawn === undefined
    ? []
    : [
        {
          update: keys.budget(drawn.orgId, drawn.day),
          changes: [add('granted', cost - drawn.amount)],
          if: exists('pk'),
        },
      ];
