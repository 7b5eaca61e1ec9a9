import type { Tool } from '../../tools/tool.ts';
import { findTool } from '../../tools/toolkit.ts';
import type { ToolRow } from '../feed.ts';
import { NOTHING_USED, OTHER, type Used, withCall, withTool } from '../used.ts';
import type { Purchase } from './buy.ts';
import type { StepDone } from './commit.ts';

const withPurchase = (used: Used, { model, tokensIn, tokensOut, tokensCached, cost }: Purchase): Used =>
  withCall(used, model, { calls: 1, input: tokensIn, output: tokensOut, cached: tokensCached, cost });

/** A name that the model made up is no tool's. */
const toolName = (tools: ReadonlyMap<string, Tool>, called: string): string => {
  if (tools.has(called)) return called;
  const found = findTool(called, [...tools.values()]);
  return found.ok ? found.tool.name : OTHER;
};

/** What a person refused has not been called. */
const RAN: readonly ToolRow['outcome'][] = ['ok', 'error', 'unknown', 'answered'];
const FAILED: readonly ToolRow['outcome'][] = ['error', 'unknown'];

/**
 * The figures of a run after a step: its reply, one that was bought beside it and lost, the calls that were carried out.
 * @param ends the step completes the run: the call that ends it has no outcome
 */
export const usedAfter = (
  tools: ReadonlyMap<string, Tool>,
  before: Used | undefined,
  { spent, reply, rows = [] }: Pick<StepDone, 'spent' | 'reply' | 'rows'>,
  ends: boolean,
): Used => {
  let used = before ?? NOTHING_USED;
  if (spent.wasted !== undefined) used = withPurchase(used, spent.wasted);
  if (reply !== undefined) used = withPurchase(used, reply);
  const outcomes = rows.flatMap((row) => (row.kind === 'tool' ? [row] : []));
  for (const { name, outcome } of outcomes.filter((row) => RAN.includes(row.outcome))) {
    used = withTool(used, toolName(tools, name), { calls: 1, errors: FAILED.includes(outcome) ? 1 : 0 });
  }
  if (!ends || reply?.kind !== 'reply') return used;
  const answered = new Set(outcomes.map(({ callId }) => callId));
  const last = reply.calls.find(({ id }) => !answered.has(id));
  return last === undefined ? used : withTool(used, toolName(tools, last.name), { calls: 1, errors: 0 });
};
