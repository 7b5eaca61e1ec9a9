import type { ToolCall } from '../../../model/model.ts';
import type { ReplyRow } from '../../feed.ts';
import { type Call, NOTHING_SPENT, type Spent } from '../buy.ts';
import { chooseModel } from '../choose-model.ts';
import { storeStepReply, wholeCalls } from '../think.ts';
import { buy, nextWorst } from '../turn.ts';
import type { Frame } from './frame.ts';

/** The stored reply of this step, whoever bought it. */
export interface Bought {
  readonly reply: ReplyRow;
  /** As the model wrote them; the row may hold long arguments cut. */
  readonly calls: readonly ToolCall[];
  readonly spent: Spent;
  /** What the next step can cost at most, micro-dollars. */
  readonly worst: number;
}

export type Request = Pick<Call, 'messages' | 'tools' | 'toolChoice' | 'responseSchema'>;

/**
 * One model call of a workflow: bought and stored, or found again.
 * @param aside the answer is for the workflow and no part of the conversation
 * @returns `undefined` when the turn is over: released, stopped by a fuse, or to be condensed first
 */
export const askModel = async (
  { turn, window, leftovers, position }: Frame,
  aside: boolean,
  request: () => Promise<Request>,
): Promise<Bought | undefined> => {
  const { deps, execution, lease } = turn;
  const model = await chooseModel(deps, execution, window.pinned);
  const worst = nextWorst(turn, model);
  if (leftovers.reply?.kind === 'reply') {
    const { reply } = leftovers;
    return { reply, calls: await wholeCalls(deps, reply), spent: NOTHING_SPENT, worst };
  }
  const bought = await buy(turn, window, model, {
    ...(await request()),
    maxReplyTokens: window.pinned.maxReplyTokens,
  });
  if (bought === undefined) return undefined;
  const times = { claimedAt: turn.claimedAt, askedAt: bought.askedAt };
  const workflow = { place: position, ...(aside && { aside }) };
  const stored = await storeStepReply(deps, bought.call, window, bought.outcome, lease.owner, times, workflow);
  return { reply: stored.row, calls: stored.calls, spent: stored.spent, worst };
};
