/**
 * One call of the assessment's model: what it can cost is taken out of the day's budget before, the reply is stored before
 * anything acts on it, and what it did cost is booked with it, once.
 */
import type { ResolvedModel } from '../../execution/step/deps.ts';
import { keys } from '../../kernel/keys.ts';
import { missing, TransactionRefused } from '../../kernel/table.ts';
import { LeaseLost } from '../../lease/lease.ts';
import type { ChatMessage, ModelOutcome, ToolSpec } from '../../model/model.ts';
import { costMicroUsd, worstCaseMicroUsd } from '../../model/prices.ts';
import { estimatePrompt } from '../../model/tokens.ts';
import { usageWrites } from '../../usage/book.ts';
import type { ThreadLease } from '../thread/lease.ts';
import type { Thread } from '../thread/thread.ts';
import { type Drawn, drawForCall, givenBack } from './budget.ts';
import { DECISIONS_OUTPUT } from './decisions.ts';
import type { AssessDeps } from './deps.ts';
import { readStoredReply, replyItem, type StoredReply } from './stored-reply.ts';

const MAX_REPLY_TOKENS = 8_000;
/** What storing the reply and committing needs of the function's time. */
const STORE_MARGIN_MS = 20_000;
const LONGEST_CALL_MS = 300_000;

export interface Call {
  readonly thread: Thread;
  readonly model: ResolvedModel;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolSpec[];
  /** Number of this call within the lease's epoch, from 0. */
  readonly round: number;
  /** What it was asked about. */
  readonly basis: StoredReply['basis'];
  readonly remainingMs: number;
}

/** The Eval cannot go on: nothing more may be spent today, or the account has to be mended. */
export type Halt =
  | { readonly halt: 'budget'; readonly message: string }
  | { readonly halt: 'model'; readonly message: string };

export type Bought =
  | { readonly kind: 'reply'; readonly reply: StoredReply }
  | { readonly kind: 'halt'; readonly why: Halt }
  /** Passing trouble; `afterMs` as the provider says. */
  | { readonly kind: 'retry'; readonly message: string; readonly afterMs?: number | undefined };

/** @throws LeaseLost */
export const buy = async (deps: AssessDeps, lease: ThreadLease, call: Call): Promise<Bought> => {
  const { thread, model, messages, tools } = call;
  const { orgId } = thread;
  const worst =
    model.price === undefined
      ? 0
      : // The estimate can be half of what the provider counts.
        worstCaseMicroUsd(estimatePrompt(messages, tools) * 2, MAX_REPLY_TOKENS, model.price);
  const drawn = await drawForCall(deps, orgId, worst);
  if (drawn === 'spent') {
    const message = "The organisation's budget for today has no room for an assessment.";
    return { kind: 'halt', why: { halt: 'budget', message } };
  }
  // A process that stood still may have a successor who is buying the same.
  await lease.ensure(deps.settings.leaseMs / 2).catch(async (error: unknown) => {
    await giveBack(deps, drawn);
    throw error;
  });
  const outcome = await deps.models.complete({
    account: model.account,
    model: model.model,
    messages,
    tools,
    responseSchema: DECISIONS_OUTPUT,
    maxReplyTokens: MAX_REPLY_TOKENS,
    timeoutMs: Math.max(1_000, Math.min(LONGEST_CALL_MS, call.remainingMs - STORE_MARGIN_MS)),
    signal: lease.signal,
  });
  if (outcome.kind === 'reply') {
    return { kind: 'reply', reply: await store(deps, lease, call, outcome, drawn) };
  }
  // What may be billed stays counted at its worst.
  if (outcome.kind === 'stop' || !outcome.billed) await giveBack(deps, drawn);
  if (outcome.kind === 'stop') return { kind: 'halt', why: { halt: 'model', message: outcome.message } };
  if (outcome.kind === 'aborted') throw new LeaseLost('The model call was aborted.');
  return { kind: 'retry', message: outcome.message, afterMs: outcome.retryAfterMs };
};

const giveBack = async ({ table }: AssessDeps, drawn: Drawn | undefined): Promise<void> => {
  const writes = givenBack(drawn, 0);
  if (writes.length > 0) await table.transact(writes);
};

/** Put if absent: a reply that is there already under this epoch and round is this very one, its answer was lost. */
const store = async (
  deps: AssessDeps,
  lease: ThreadLease,
  { thread, model, round, basis }: Call,
  outcome: Extract<ModelOutcome, { kind: 'reply' }>,
  drawn: Drawn | undefined,
): Promise<StoredReply> => {
  const { orgId, id: threadId } = thread;
  const at = deps.clock.now();
  const cost = model.price === undefined ? 0 : costMicroUsd(outcome.usage, model.price);
  const { input, output, cached } = outcome.usage;
  const reply: StoredReply = {
    round,
    basis,
    content: outcome.content,
    calls: outcome.toolCalls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args })),
    refused: outcome.refused,
    finish: outcome.finishReason,
    model: model.model,
    tokensIn: input,
    tokensOut: output,
    cost,
    at,
  };
  const item = replyItem(keys.evalReply(orgId, threadId, lease.epoch, round), reply);
  const figures = { calls: 1, input, output, cached, cost };
  try {
    await deps.table.transact([
      { put: item, if: missing('pk') },
      ...usageWrites({ orgId, cause: threadId, model: model.model, figures, at }),
      ...givenBack(drawn, cost),
    ]);
    return reply;
  } catch (error) {
    const there = error instanceof TransactionRefused ? error.items[0] : undefined;
    if (there === undefined) throw error;
    return readStoredReply(there);
  }
};
