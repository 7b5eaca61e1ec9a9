import { blobKeys } from '../../kernel/keys.ts';
import { ConditionFailed, missing, TransactionRefused } from '../../kernel/table.ts';
import type { Lease } from '../../lease/lease.ts';
import type { ChatMessage, ModelOutcome, ModelRequest, ToolSpec } from '../../model/model.ts';
import { costMicroUsd, worstCaseMicroUsd } from '../../model/prices.ts';
import type { Execution } from '../execution.ts';
import { type FeedRow, feedItem, REPLY_N, type ReplyRow, readFeedRow } from '../feed.ts';
import type { Pinned } from '../rows.ts';
import type { ResolvedModel, StepDeps } from './deps.ts';
import { promptHash } from './prompt.ts';

/** Money and tokens that this claim spent, whoever's reply is used in the end. */
export interface Spent {
  readonly cost: number;
  /** A reply that was bought and then lost the race for its place. */
  readonly wasted?: Purchase | undefined;
}

/** What one call of a model used, as its row records it. */
export type Purchase = Pick<ReplyRow, 'model' | 'tokensIn' | 'tokensOut' | 'tokensCached' | 'cost'>;

export const NOTHING_SPENT: Spent = { cost: 0 };

/** A model call never outlives the function: what is left of its time, less what storing the reply needs. */
const STORE_MARGIN_MS = 20_000;
const MAX_CALL_MS = 600_000;

/**
 * What a claim reserves before anybody knows its prompt: the window with as much again for the system prompt and tools, or
 * with the run's own words where these are more. The call itself is priced at its real prompt (see `reserve.ts`).
 */
export const worstCase = (pinned: Reserved, model: ResolvedModel): number =>
  model.price === undefined
    ? 0
    : worstCaseMicroUsd(
        pinned.contextTokens + Math.max(pinned.contextTokens, bytesOfWords(pinned)),
        pinned.maxReplyTokens,
        model.price,
      );

export type Reserved = Pick<Pinned, 'contextTokens' | 'maxReplyTokens' | 'goals' | 'instructions' | 'constraints'>;

const bytesOfWords = ({ goals, instructions, constraints }: Reserved): number =>
  [...goals, ...instructions, ...constraints].reduce((sum, line) => sum + Buffer.byteLength(line), 0);

export interface Call {
  readonly execution: Execution;
  readonly pinned: Pinned;
  readonly model: ResolvedModel;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolSpec[];
  readonly maxReplyTokens: number;
  readonly toolChoice?: ModelRequest['toolChoice'];
  readonly responseSchema?: ModelRequest['responseSchema'];
  /** Milliseconds left to this invocation. */
  readonly remainingMs: number;
}

export const callModel = (deps: StepDeps, lease: Lease, call: Call): Promise<ModelOutcome> =>
  deps.models.complete({
    account: call.model.account,
    model: call.model.model,
    messages: call.messages,
    tools: call.tools,
    maxReplyTokens: call.maxReplyTokens,
    ...(call.toolChoice !== undefined && { toolChoice: call.toolChoice }),
    ...(call.responseSchema !== undefined && { responseSchema: call.responseSchema }),
    ...(call.pinned.temperature !== undefined && { temperature: call.pinned.temperature }),
    timeoutMs: Math.max(1_000, Math.min(MAX_CALL_MS, call.remainingMs - STORE_MARGIN_MS)),
    signal: lease.signal,
  });

export const costOf = (call: Call, outcome: Extract<ModelOutcome, { kind: 'reply' }>): number =>
  call.model.price === undefined ? 0 : costMicroUsd(outcome.usage, call.model.price);

/** What every bought row records, for `/steps` and the audit. */
export const receipt = (
  call: Call,
  outcome: Extract<ModelOutcome, { kind: 'reply' }>,
  owner: string,
  claimedAt: number,
  askedAt: number,
) => ({
  buyer: owner,
  model: call.model.model,
  tokensIn: outcome.usage.input,
  tokensOut: outcome.usage.output,
  tokensCached: outcome.usage.cached,
  cost: costOf(call, outcome),
  finish: outcome.finishReason,
  attempt: call.execution.claims,
  sentFrom: call.execution.windowFrom,
  ...(call.execution.summarySeq !== undefined && { sentSummary: call.execution.summarySeq }),
  promptHash: promptHash(call.messages, call.tools),
  claimedAt,
  askedAt,
});

/**
 * R2: the reply is stored before anything acts on it; put if absent, unfenced, so that even a holder whose lease has
 * ended saves what it paid for. If one is there already, that one is used and this one's cost is booked all the same.
 */
export const storeReply = async <Row extends FeedRow>(
  deps: StepDeps,
  execution: Execution,
  row: Omit<Row, 'v'> & Pick<ReplyRow, 'buyer'> & Purchase,
  beside: readonly Omit<Extract<FeedRow, { kind: 'user' }>, 'v'>[] = [],
): Promise<{ readonly row: FeedRow; readonly spent: Spent }> => {
  const { orgId, executionId } = execution;
  const item = feedItem(orgId, executionId, row as unknown as Parameters<typeof feedItem>[2]);
  const absent = missing('pk');
  try {
    if (beside.length === 0) await deps.table.put(item, absent);
    else {
      await deps.table.transact([
        { put: item, if: absent },
        ...beside.map((user) => ({ put: feedItem(orgId, executionId, user) })),
      ]);
    }
    return { row: readFeedRow(item), spent: { cost: row.cost } };
  } catch (error) {
    const there = refusedBy(error);
    if (there === undefined) throw error;
    const stored = readFeedRow(there);
    const mine = 'buyer' in stored && stored.buyer === row.buyer;
    return {
      row: stored,
      spent: { cost: row.cost, wasted: mine ? undefined : row },
    };
  }
};

const refusedBy = (error: unknown) => {
  if (error instanceof ConditionFailed) return error.item;
  if (error instanceof TransactionRefused) return error.items[0];
  return undefined;
};

export const replyBlobKey = (execution: Execution, owner: string): string =>
  `${blobKeys.spilled(execution.orgId, execution.executionId, execution.seq, REPLY_N)}-${owner}`;
