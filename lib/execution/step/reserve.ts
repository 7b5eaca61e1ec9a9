/**
 * The money of one call, before it is made. A claim reserves what a prompt of usual size can cost, for it does not know
 * the prompt yet. Once that is built its worst case is known; where it is more, the difference is judged like any other
 * money and reserved by a write of its own. Ordinary prompts write nothing.
 */
import { keys } from '../../kernel/keys.ts';
import { add, and, ConditionFailed, oneOf, set } from '../../kernel/table.ts';
import { LeaseLost } from '../../lease/lease.ts';
import { worstCaseMicroUsd } from '../../model/prices.ts';
import { mostPromptTokens } from '../../model/tokens.ts';
import { asRead, moneyAsRead } from '../children/books.ts';
import { A, readExecution } from '../execution.ts';
import type { FeedRow } from '../feed.ts';
import type { Call } from './buy.ts';
import type { Turn } from './claimed.ts';
import { drawDailyBudget } from './daily-budget.ts';
import { limitReached, type Stop } from './fuses.ts';
import { holds, stillHeld } from './lease.ts';
import { rowMessages } from './prompt.ts';

export type Priced = Pick<Call, 'model' | 'messages' | 'tools' | 'responseSchema' | 'maxReplyTokens'>;

/**
 * What this very call can cost at most, micro-dollars; 0 where the price is unknown.
 * @param more tokens beside its own
 */
export const worstOf = ({ model, maxReplyTokens, ...said }: Priced, more = 0): number =>
  model.price === undefined ? 0 : worstCaseMicroUsd(mostPromptTokens(said) + more, maxReplyTokens, model.price);

/** The line about the time is a little longer on some days. */
const NEXT_TIME = 50;

/**
 * What the next call can cost at most whose prompt is that of this one and what came of it. Reserved by its claim, so that
 * a window that stays long pays the extra write once and not at every step.
 */
export const worstAfter = (call: Call | undefined, rows: readonly FeedRow[]): number =>
  call === undefined ? 0 : worstOf({ ...call, messages: [...call.messages, ...rowMessages(rows)] }, NEXT_TIME);

/**
 * Makes sure that the coming call fits into the limits of its run and the organisation's day, whatever it comes to.
 * `turn.execution` then says what is reserved for it.
 * @returns why the run has to stop; `undefined` when the call may be made
 * @throws LeaseLost
 */
export const afford = async (turn: Turn, call: Priced): Promise<Stop | undefined> => {
  const { deps, execution } = turn;
  const next = Math.max(execution.worst, worstOf(call));
  const needed = { next, lost: execution.reserved - execution.worst };
  const stop =
    limitReached(execution, needed, deps.clock.now()) ??
    (await drawDailyBudget(turn, next)) ??
    (next > execution.worst ? await reserve(turn, next) : undefined);
  return stop?.event === 'budget' && next > execution.worst ? { ...stop, worst: next } : stop;
};

/** Others move the money of a run while its step is held: people its limit, its children what is set aside for them. */
const MAX_TRIES = 8;

/**
 * Reserves more for this claim, and as much for each later claim of its step: whoever dies after it has it booked.
 * @param worst micro-dollars for this claim in all
 */
const reserve = async (turn: Turn, worst: number): Promise<Stop | undefined> => {
  const { deps, lease, execution } = turn;
  const more = worst - execution.worst;
  let seen = execution;
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const now = deps.clock.now();
    try {
      await deps.table.update(
        keys.execution(execution.orgId, execution.executionId),
        [add(A.reserved, more), set(A.worst, worst)],
        and(
          stillHeld(lease.owner, execution, now),
          oneOf(A.status, ['RUNNING', 'PAUSED']),
          asRead(A.worst, execution.worst),
          moneyAsRead(seen),
        ),
      );
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      const row = error.item && readExecution(error.item);
      if (row === undefined || !holds(row, lease.owner, execution.seq, now))
        throw new LeaseLost('The step was taken over.');
      if (row.worst !== worst) {
        const { maxCost, carved, childCost } = row;
        seen = { ...execution, maxCost, carved, childCost };
        const stop = limitReached(seen, { next: worst, lost: execution.reserved - execution.worst }, now);
        if (stop !== undefined) return stop;
        continue;
      }
      // Applied by an earlier try whose answer was lost.
    }
    // Nothing else of the row: the step goes by what it claimed, and knows of no input that came since.
    turn.execution = { ...execution, worst, reserved: execution.reserved + more };
    return undefined;
  }
  throw new Error('The money of the run moved each time that more of it was to be reserved.');
};
