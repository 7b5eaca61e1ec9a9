import { keys } from '../../kernel/keys.ts';
import type { Execution } from '../execution.ts';
import { type FeedRow, REPLY_N, readFeedRow, type ToolRow } from '../feed.ts';
import { type AskRow, readAsk, readStarted } from '../rows.ts';
import type { StepDeps } from './deps.ts';
import { allPages } from './load.ts';

/** What earlier holders of this very step left behind. */
export interface Leftovers {
  /** The stored reply or summary of this seq; a reply that was paid for is used. */
  readonly reply: FeedRow | undefined;
  readonly outcomes: ReadonlyMap<number, ToolRow>;
  /** Calls that were started, by call number: who created the row. */
  readonly started: ReadonlyMap<number, string>;
  /** Permissions, by call number. */
  readonly asks: ReadonlyMap<number, AskRow>;
  /** Questions of `ask_user`, by call number; such a call may need a permission too. */
  readonly questions: ReadonlyMap<number, AskRow>;
}

export const NOTHING_LEFT: Leftovers = {
  reply: undefined,
  outcomes: new Map(),
  started: new Map(),
  asks: new Map(),
  questions: new Map(),
};

const numberOf = (sk: string): number => Number(sk.slice(sk.lastIndexOf('#') + 1));

/**
 * The first claim of a seq finds nothing, so it reads nothing. Any other reads strongly and after the claim: an
 * eventually consistent read could miss the reply that was just stored, and buy it again.
 */
export const readLeftovers = async (deps: StepDeps, execution: Execution): Promise<Leftovers> => {
  if (execution.claims <= 1) return NOTHING_LEFT;
  const { orgId, executionId, seq } = execution;
  const [feed, started, asks] = await Promise.all([
    allPages(deps.table, { ...keys.feedRange(orgId, executionId, seq, seq), consistent: true }),
    allPages(deps.table, { ...keys.startedOf(orgId, executionId, seq), consistent: true }),
    allPages(deps.table, { ...keys.asksOf(orgId, executionId, seq), consistent: true }),
  ]);
  const rows = feed.map(readFeedRow);
  const asked = asks.map(readAsk);
  const ofKind = (kind: AskRow['kind']) =>
    new Map(asked.filter((ask) => ask.kind === kind).map((ask) => [ask.n, ask] as const));
  return {
    reply: rows.find((row) => row.n === REPLY_N),
    outcomes: new Map(rows.flatMap((row) => (row.kind === 'tool' ? [[row.n, row] as const] : []))),
    started: new Map(started.map((item) => [numberOf(item.sk), readStarted(item).creator] as const)),
    asks: ofKind('permission'),
    questions: ofKind('question'),
  };
};
