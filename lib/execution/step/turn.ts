/** The two kinds of turns: a step's own model call, and the summary that keeps the window small. */
import { keys } from '../../kernel/keys.ts';
import { and, oneOf, set } from '../../kernel/table.ts';
import { LeaseLost } from '../../lease/lease.ts';
import type { ModelOutcome, ToolCall } from '../../model/model.ts';
import { toolSpec } from '../../tools/spec.ts';
import { A, readExecution } from '../execution.ts';
import type { ReplyRow, SummaryRow } from '../feed.ts';
import { offeredTools } from './act.ts';
import { type Call, callModel, NOTHING_SPENT, type Spent } from './buy.ts';
import { leaseGone, settled } from './changes.ts';
import { type ChosenModel, chooseModel, modelNames, nextStandIn } from './choose-model.ts';
import { send } from './claim.ts';
import type { Turn } from './claimed.ts';
import { commitStep } from './commit.ts';
import { finishTurn } from './finish-turn.ts';
import type { Stop } from './fuses.ts';
import { fenced, stillHeld } from './lease.ts';
import type { Window } from './load.ts';
import { buildPrompt } from './prompt.ts';
import type { Leftovers } from './recover.ts';
import { releaseStep } from './release.ts';
import { afford, worstOf } from './reserve.ts';
import { stopStep } from './stop.ts';
import { cutAt, MAX_SUMMARY_TOKENS, storeSummary, summaryMessages } from './summarise.ts';
import { storeStepReply, wholeCalls } from './think.ts';

type Reply = Extract<ModelOutcome, { kind: 'reply' }>;

const NO_MODEL: Stop = {
  event: 'error',
  reason: 'model_not_configured',
  message:
    'No model is configured. Name one with PUT /v1/providers/{name}, or let the operator set the model parameter, then resume.',
};

/** Buys a reply, or ends the turn another way. `undefined`: the turn is over. */
export const buy = async (
  turn: Turn,
  window: Window,
  model: ChosenModel | undefined,
  request: Pick<Call, 'messages' | 'tools' | 'maxReplyTokens' | 'toolChoice' | 'responseSchema'>,
): Promise<{ readonly outcome: Reply; readonly call: Call; readonly askedAt: number } | undefined> => {
  const { deps, lease, delivery } = turn;
  if (model === undefined) {
    await stopStep(deps, lease, turn.execution, NO_MODEL, 0);
    return undefined;
  }
  const refused = await afford(turn, { model, ...request });
  if (refused !== undefined) {
    await stopStep(deps, lease, turn.execution, refused, 0);
    return undefined;
  }
  const askedAt = deps.clock.now();
  const asked = {
    execution: turn.execution,
    pinned: window.pinned,
    model,
    remainingMs: turn.remainingMs(),
    ...request,
  };
  const answer = await callWithFreshKey(turn, asked, model);
  // With what is reserved for the call by now.
  const { execution } = turn;
  if (answer.kind === 'refused') {
    await stopStep(deps, lease, execution, answer.stop, 0);
    return undefined;
  }
  const { call, outcome } = answer;
  switch (outcome.kind) {
    case 'reply':
      return { outcome, call, askedAt };
    case 'retry':
      // A time-out may have been billed: the worst case is booked, never nothing.
      await releaseStep(deps, lease, execution, delivery, outcome, outcome.billed ? execution.worst : 0, {
        several: modelNames(window.pinned).length > 1,
        next: nextStandIn(window.pinned, model.index),
      });
      return undefined;
    case 'aborted':
      // Terminated, or taken over. The reservation stays and is booked by whoever ends this step; the message comes back
      // and is judged anew, for acked here it might have been the last one.
      throw new LeaseLost('The model call was aborted.');
    case 'stop':
      if (outcome.code === 'context_length_exceeded' && canCondense(turn, window)) await shrink(turn);
      else {
        const message = `${outcome.message} Mend it, then resume.`;
        await stopStep(deps, lease, execution, { event: 'error', reason: outcome.code, message }, 0);
      }
      return undefined;
  }
};

/** A refused key may have been replaced since this process remembered it: asked once more, if it was. A 401 costs nothing. */
const callWithFreshKey = async (
  turn: Turn,
  call: Call,
  { name }: ChosenModel,
): Promise<
  | { readonly kind: 'answered'; readonly call: Call; readonly outcome: ModelOutcome }
  | { readonly kind: 'refused'; readonly stop: Stop }
> => {
  const { deps, lease, execution } = turn;
  const outcome = await callModel(deps, lease, call);
  if (outcome.kind !== 'stop' || outcome.code !== 'model_unauthorized') return { kind: 'answered', call, outcome };
  const model = await deps.resolveModel(execution.orgId, name, { fresh: true });
  const replaced = model !== undefined && JSON.stringify(model.account) !== JSON.stringify(call.model.account);
  if (!replaced) return { kind: 'answered', call, outcome };
  const again: Call = { ...call, model };
  // Whoever replaced the key may have changed the price with it.
  const stop = worstOf(again) > execution.worst ? await afford(turn, again) : undefined;
  if (stop !== undefined) return { kind: 'refused', stop };
  return { kind: 'answered', call: again, outcome: await callModel(deps, lease, again) };
};

const canCondense = (turn: Turn, window: Window): boolean =>
  turn.execution.phase === 'think' && cutAt(window.rows, window.pinned.contextTokens) > turn.execution.windowFrom;

/** The model reads less than the configuration promised: condense first, then the same step again. */
const shrink = async ({ deps, lease, execution }: Turn): Promise<void> => {
  await lease.stop();
  const item = await fenced(() =>
    deps.table.update(
      keys.execution(execution.orgId, execution.executionId),
      [set(A.phase, 'summarise'), ...leaseGone, ...settled(execution, 0), set(A.attempts, execution.attempts - 1)],
      and(stillHeld(lease.owner, execution, deps.clock.now()), oneOf(A.status, ['RUNNING', 'PAUSED'])),
    ),
  );
  await send(deps, readExecution(item), 0);
};

export const think = async (turn: Turn, window: Window, leftovers: Leftovers): Promise<void> => {
  const { deps, lease } = turn;
  const { pinned } = window;
  const model = await chooseModel(deps, turn.execution, pinned);
  const offered = offeredTools(deps.tools, pinned);
  let reply: ReplyRow;
  let calls: readonly ToolCall[];
  let spent: Spent = NOTHING_SPENT;
  let asked: Call | undefined;
  if (leftovers.reply?.kind === 'reply') {
    reply = leftovers.reply;
    calls = await wholeCalls(deps, reply);
  } else {
    const request = {
      messages: buildPrompt(window, deps.clock.now()),
      tools: [...offered.values()].map(toolSpec),
      maxReplyTokens: pinned.maxReplyTokens,
    };
    const bought = await buy(turn, window, model, request);
    if (bought === undefined) return;
    const times = { claimedAt: turn.claimedAt, askedAt: bought.askedAt };
    const stored = await storeStepReply(deps, bought.call, window, bought.outcome, lease.owner, times);
    ({ row: reply, calls, spent } = stored);
    asked = bought.call;
  }
  await finishTurn({ turn, window, leftovers, offered, reply, calls, spent, asked, worst: nextWorst(turn, model) });
};

export const nextWorst = (turn: Turn, model: ChosenModel | undefined): number => model?.worst ?? turn.execution.worst;

export const condense = async (turn: Turn, window: Window, leftovers: Leftovers): Promise<void> => {
  const { deps, execution, lease, delivery } = turn;
  const model = await chooseModel(deps, execution, window.pinned);
  const common = {
    calls: 0,
    consumed: execution.consumed,
    nextPhase: 'think' as const,
    worst: nextWorst(turn, model),
    delaySeconds: 0,
  };
  let row: SummaryRow;
  let spent: Spent = NOTHING_SPENT;
  if (leftovers.reply?.kind === 'summary') row = leftovers.reply;
  else {
    const cut = cutAt(window.rows, window.pinned.contextTokens);
    const request = {
      messages: summaryMessages(window, cut),
      tools: [],
      maxReplyTokens: Math.min(MAX_SUMMARY_TOKENS, window.pinned.maxReplyTokens),
    };
    const bought = await buy(turn, window, model, request);
    if (bought === undefined) return;
    const times = { claimedAt: turn.claimedAt, askedAt: bought.askedAt };
    ({ row, spent } = await storeSummary(deps, bought.call, window, cut, bought.outcome, lease.owner, times));
  }
  await commitStep(deps, lease, turn.execution, delivery, {
    ...common,
    tokensIn: row.tokensIn,
    tokensOut: row.tokensOut,
    spent,
    reply: row,
    changes: [set(A.windowFrom, row.upTo), set(A.summarySeq, row.seq), set(A.windowTokens, row.windowTokens)],
    windowFrom: row.upTo,
    summarySeq: row.seq,
  });
};
