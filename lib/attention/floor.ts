import type { StatusChange, UpperFloors } from '../execution/step/deps.ts';
import { askCause, askItem } from './asks.ts';
import { closeAttention, openAttention } from './attention.ts';
import { daySpentItem } from './day-spent.ts';
import { stopCause, stopItem } from './stops.ts';

/** Reason of runs that their organisation's budget for the day stopped: one item stands for all of them. */
const FOR_ALL = 'organisation_daily_budget';

/**
 * Keeps what waits for a person in the transactions of the runs: an item for each permission and question that is open, and
 * for each run that stopped until somebody mends or extends it. No item is read, and none can refuse a run's own write.
 */
export const attentionFloor: UpperFloors = {
  writes(change: StatusChange) {
    const { execution, from, to, reason, at } = change;
    // What a worker asks of people stands as an item of its ticket.
    if (execution.ticketId !== undefined) return [];
    // The row says since when it has stood where it leaves; the write that moves it is conditioned on that.
    const left = stopCause(execution, from, execution.since);
    const entered = reason === FOR_ALL ? undefined : stopCause(execution, to, at);
    return [
      ...(left === undefined ? [] : [closeAttention(left)]),
      ...(entered === undefined ? [] : [openAttention(stopItem(change, entered))]),
    ];
  },
  asks({ ask }) {
    return [ask.state === 'pending' ? openAttention(askItem(ask)) : closeAttention(askCause(ask))];
  },
  daySpent: (spent) => [openAttention(daySpentItem(spent))],
  wake: async () => undefined,
};
