import {
  type FeedRow,
  FIRST_CALL_N,
  type ReplyRow,
  type StepRow,
  type SummaryRow,
  type ToolRow,
} from '../../execution/feed.ts';
import type { StepView } from '../execution-views.ts';
import { iso, usd } from './execution-json.ts';

const toolTimes = (tools: readonly ToolRow[]): Pick<StepView, 'toolsStartedAt' | 'toolsFinishedAt'> =>
  tools.length === 0
    ? {}
    : {
        toolsStartedAt: iso(Math.min(...tools.map((tool) => tool.startedAt))),
        toolsFinishedAt: iso(Math.max(...tools.map((tool) => tool.at))),
      };

const stepJson = (row: ReplyRow | SummaryRow, rows: readonly FeedRow[]): StepView => {
  const tools = rows.flatMap((each) => (each.kind === 'tool' && each.seq === row.seq ? [each] : []));
  const outcomes = new Map(tools.map((tool) => [tool.n, tool] as const));
  const calls = row.kind === 'reply' ? row.calls : [];
  return {
    seq: row.seq,
    phase: row.kind === 'reply' ? (row.place ?? 'think') : 'summarise',
    claimedAt: iso(row.claimedAt),
    modelStartedAt: iso(row.askedAt),
    modelFinishedAt: iso(row.at),
    ...toolTimes(tools),
    attempts: row.attempt,
    model: row.model,
    tokens: { input: row.tokensIn, output: row.tokensOut, cached: row.tokensCached },
    costUsd: usd(row.cost),
    finishReason: row.finish,
    sent: {
      fromSeq: row.sentFrom,
      toSeq: row.seq - 1,
      ...(row.sentSummary !== undefined && { summarySeq: row.sentSummary }),
      promptHash: row.promptHash,
      promptTokens: row.tokensIn,
    },
    toolCalls: calls.map((call, index) => {
      const outcome = outcomes.get(FIRST_CALL_N + index);
      return {
        id: call.id,
        name: call.name,
        ...(outcome !== undefined && {
          outcome: outcome.outcome,
          startedAt: iso(outcome.startedAt),
          finishedAt: iso(outcome.at),
        }),
      };
    }),
  };
};

/** A step of a workflow that called no model. */
const quietJson = (row: StepRow): StepView => ({
  seq: row.seq,
  phase: row.place,
  claimedAt: iso(row.claimedAt),
  attempts: row.attempt,
  tokens: { input: 0, output: 0 },
  costUsd: 0,
  toolCalls: [],
});

/** The feed's own rows tell what happened: a step has a reply, a summary or a decision, and outcomes beside it. */
export const stepsJson = (rows: readonly FeedRow[]): StepView[] =>
  rows.flatMap((row) => {
    if (row.kind === 'step') return [quietJson(row)];
    return row.kind === 'reply' || row.kind === 'summary' ? [stepJson(row, rows)] : [];
  });
