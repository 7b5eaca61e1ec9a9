import { keys } from '../../kernel/keys.ts';
import type { Item, Key, Query, Table } from '../../kernel/table.ts';
import { estimateTokens } from '../../model/tokens.ts';
import type { Execution } from '../execution.ts';
import {
  type FeedRow,
  FIRST_CALL_N,
  MAX_CALLS,
  MAX_INPUTS_PER_STEP,
  REPLY_N,
  readFeedRow,
  type SummaryRow,
} from '../feed.ts';
import type { StepMessage } from '../message.ts';
import { type InputRow, type Pinned, readInput, readPinned } from '../rows.ts';
import type { StepDeps } from './deps.ts';

/** What a step reads before it thinks: bounded by the window, never by the length of the feed. */
export interface Window {
  readonly pinned: Pinned;
  readonly rows: readonly FeedRow[];
  readonly summary: SummaryRow | undefined;
  /** Accepted and not yet consumed, oldest first. */
  readonly inputs: readonly InputRow[];
}

/** Read beside the claim, with the message's hints; `settle` corrects it by the claimed row. */
export interface Draft {
  readonly stopped: boolean;
  /** Of the organisation: micro-dollars a UTC day. */
  readonly dailyBudget: number | undefined;
  readonly pinned: Pinned | undefined;
  readonly from: number;
  readonly rows: readonly FeedRow[];
  readonly summarySeq: number | undefined;
  readonly summary: FeedRow | undefined;
}

export const allPages = async (table: Table, query: Query): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let after: Query['after'];
  do {
    const page = await table.query({ ...query, ...(after !== undefined && { after }) });
    items.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return items;
};

const feedBetween = async (
  deps: StepDeps,
  at: { readonly orgId: string; readonly executionId: string },
  from: number,
  to: number,
  consistent: boolean,
): Promise<readonly FeedRow[]> => {
  if (to < from) return [];
  const items = await allPages(deps.table, { ...keys.feedRange(at.orgId, at.executionId, from, to), consistent });
  return items.map(readFeedRow);
};

/**
 * A row that never changes once it is there: a process reads it once. That it is missing is not remembered, nor is what
 * cannot be read.
 */
const fixedRow = async <Row>(
  deps: StepDeps,
  key: Key,
  read: (item: Item) => Row,
  consistent: boolean,
): Promise<Row | undefined> => {
  const known = deps.memory.get(key);
  if (known !== undefined) return read(known);
  const item = await deps.table.get(key, { consistent });
  if (item === undefined) return undefined;
  const row = read(item);
  deps.memory.keep(item);
  return row;
};

const summaryAt = async (
  deps: StepDeps,
  at: { readonly orgId: string; readonly executionId: string },
  seq: number | undefined,
  consistent: boolean,
): Promise<FeedRow | undefined> => {
  if (seq === undefined) return undefined;
  return fixedRow(deps, keys.feed(at.orgId, at.executionId, seq, REPLY_N), readFeedRow, consistent);
};

export const loadDraft = async (deps: StepDeps, message: StepMessage): Promise<Draft> => {
  const from = message.from ?? 0;
  const [organisation, pinned, rows, summary] = await Promise.all([
    deps.table.get(keys.organisation(message.orgId)),
    fixedRow(deps, keys.pinned(message.orgId, message.executionId), readPinned, false),
    feedBetween(deps, message, from, message.seq - 1, false),
    summaryAt(deps, message, message.summary, false),
  ]);
  return {
    stopped: organisation?.stopped !== undefined,
    dailyBudget: typeof organisation?.dailyBudget === 'number' ? organisation.dailyBudget : undefined,
    pinned,
    from,
    rows,
    summarySeq: message.summary,
    summary,
  };
};

/** Every step below the current one has a reply or summary, and every call of a reply an outcome. */
const isComplete = (rows: readonly FeedRow[], from: number, seq: number): boolean => {
  const present = new Set(rows.map((row) => `${row.seq}/${row.n}`));
  for (let step = Math.max(from, 1); step < seq; step++) if (!present.has(`${step}/${REPLY_N}`)) return false;
  return rows.every(
    (row) =>
      row.kind !== 'reply' ||
      row.calls.slice(0, MAX_CALLS).every((_, index) => present.has(`${row.seq}/${FIRST_CALL_N + index}`)),
  );
};

/**
 * Makes the draft true. Eventually consistent reads may miss the newest rows, and the hints may be old; both are seen
 * here and read again, strongly.
 */
export const settleWindow = async (deps: StepDeps, draft: Draft, execution: Execution): Promise<Window> => {
  const { windowFrom, seq, summarySeq } = execution;
  let rows = draft.rows.filter((row) => row.seq >= windowFrom);
  if (draft.from > windowFrom || !isComplete(rows, windowFrom, seq)) {
    rows = [...(await feedBetween(deps, execution, windowFrom, seq - 1, true))];
  }
  let summary = draft.summarySeq === summarySeq ? draft.summary : undefined;
  if (summary === undefined) summary = await summaryAt(deps, execution, summarySeq, true);
  const pinned = draft.pinned ?? (await pinnedOf(deps, execution));
  return {
    pinned,
    rows,
    summary: summary?.kind === 'summary' ? summary : undefined,
    inputs: fitting(await unreadInputs(deps, execution), pinned.contextTokens),
  };
};

const pinnedOf = async (deps: StepDeps, execution: Execution): Promise<Pinned> => {
  const key = keys.pinned(execution.orgId, execution.executionId);
  const pinned = await fixedRow(deps, key, readPinned, true);
  if (pinned === undefined) throw new Error(`The pinned configuration ${key.pk} is missing.`);
  return pinned;
};

/** The counter says whether there are any, so that the common step asks nothing. */
const unreadInputs = async (deps: StepDeps, execution: Execution): Promise<readonly InputRow[]> => {
  if (execution.inputs <= execution.consumed) return [];
  const page = await deps.table.query({
    ...keys.inputsAfter(execution.orgId, execution.executionId, execution.consumed),
    limit: MAX_INPUTS_PER_STEP,
    consistent: true,
  });
  // Rows newer than the claimed counter are left to the next step: the reply records what its prompt contained.
  return page.items.map(readInput).filter((input) => input.number <= execution.inputs);
};

/**
 * As many of the oldest as the window holds, and one in any case: what is left waits for the next step. Without this a
 * pile of long messages would make a prompt that the model refuses, and refuses again after every resume.
 */
export const fitting = (inputs: readonly InputRow[], contextTokens: number): readonly InputRow[] => {
  let tokens = 0;
  const end = inputs.findIndex((input, index) => {
    // An answer to a question reaches the model as that call's outcome, which is a row already.
    tokens += input.answers === undefined ? estimateTokens(input.text) : 0;
    return index > 0 && tokens > contextTokens;
  });
  return end === -1 ? inputs : inputs.slice(0, end);
};
