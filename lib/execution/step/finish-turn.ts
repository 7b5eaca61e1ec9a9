/** The second half of a step: a stored reply is acted upon and committed. Everything here may run again after a crash. */
import { blobKeys } from '../../kernel/keys.ts';
import { type Change, ConditionFailed, missing, set } from '../../kernel/table.ts';
import type { ToolCall } from '../../model/model.ts';
import { RUN_AGENT } from '../../tools/run-agent.ts';
import type { Tool } from '../../tools/tool.ts';
import { WAIT } from '../../tools/wait.ts';
import { A } from '../execution.ts';
import {
  type FeedRow,
  FIRST_CALL_N,
  feedItem,
  type NoteRow,
  type ReplyRow,
  type ToolRow,
  type UserRow,
} from '../feed.ts';
import { type Actor, ASK_USER, FINISH, offeredTools, type Planned, planCalls, runCalls, storeOutcome } from './act.ts';
import type { Call, Spent } from './buy.ts';
import { type Children, gatherChildren, NO_CHILDREN, startChildren } from './call-children.ts';
import { waitCall } from './call-wait.ts';
import type { Turn } from './claimed.ts';
import { commitEnding, commitStep, type Ending, type StepDone } from './commit.ts';
import type { Window } from './load.ts';
import { parkStep, type Question } from './park.ts';
import { expiryOf, isDecided, isRefusal } from './permission.ts';
import { inputText, spokenInputs } from './prompt.ts';
import type { Leftovers } from './recover.ts';
import { worstAfter } from './reserve.ts';
import { tokensOf } from './summarise.ts';
import { asksLeave, isTainted, taintChanges } from './taint.ts';
import type { TurnEnd } from './turn-end.ts';
import { countRepeats, judgeReply, type Verdict } from './verdict.ts';

export interface Second {
  readonly turn: Turn;
  readonly window: Window;
  readonly leftovers: Leftovers;
  readonly offered: ReadonlyMap<string, Tool>;
  readonly reply: ReplyRow;
  /** As the model wrote them; the row may hold long arguments cut. */
  readonly calls: readonly ToolCall[];
  readonly spent: Spent;
  readonly worst: number;
  /** The call that bought the reply, where this claim made it and the next prompt goes on from its. */
  readonly asked?: Call | undefined;
}

export const finishTurn = async (second: Second): Promise<void> => {
  const verdict = judgeReply(second.reply);
  const acted = verdict.kind === 'act' ? await act(second) : { rows: [], finish: undefined };
  if (acted === 'parked') return;
  const rows: FeedRow[] = [...acted.rows];
  // A conversation that ended with the model's own words would be refused by several providers.
  if (verdict.kind === 'note' || verdict.kind === 'error') rows.push(await storeNote(second, verdict));
  const ending = (await endingOf(second, verdict, acted.finish)) ?? turnEndOf(second, acted.rows);
  if (ending !== undefined) {
    const { deps, lease, execution, delivery } = second.turn;
    const ended = await commitEnding(deps, lease, execution, delivery, stepDone(second, verdict, rows), ending);
    if (ended === 'ended') return;
    if (acted.finish !== undefined && ending.status === 'COMPLETED') {
      const text = 'Not ended: a message arrived meanwhile. Read it, then finish again.';
      rows.push(
        await storeOutcome(actorOf(second), acted.finish.call, acted.finish.n, 'error', text, deps.clock.now()),
      );
    }
  }
  const { deps, lease, execution, delivery } = second.turn;
  await commitStep(deps, lease, execution, delivery, stepDone(second, verdict, rows));
};

export const actorOf = ({ turn, reply, window, leftovers }: Second): Actor => ({
  deps: turn.deps,
  lease: turn.lease,
  execution: turn.execution,
  reply,
  pinned: window.pinned,
  leftovers,
});

export type Acted = {
  readonly rows: readonly ToolRow[];
  readonly finish: Extract<Planned, { kind: 'run' }> | undefined;
};

const isRun =
  (name: string) =>
  (planned: Planned): planned is Extract<Planned, { kind: 'run' }> =>
    planned.kind === 'run' && planned.tool.name === name;

/** Runs the calls of a reply. `finish` is given back unrun: what it ends is the caller's business. */
export const act = async (second: Second): Promise<Acted | 'parked'> => {
  const { window, leftovers, calls, offered } = second;
  const tainted = isTainted(second.turn.execution, window.inputs, second.reply);
  const planned = planCalls(calls, offered, window.pinned, tainted);
  // Asked one by one; nothing runs before all are decided, so that the calls of a reply keep their order.
  for (const each of planned) {
    if (each.kind !== 'run' || !asksLeave(window.pinned, each.tool.name, each.effect, tainted)) continue;
    const ask = leftovers.asks.get(each.n);
    // What has an outcome was allowed when it ran.
    if (leftovers.outcomes.has(each.n) || isDecided(ask, each.call)) continue;
    if (ask !== undefined && ask.state !== 'pending') {
      second.turn.deps.log.error('A decision does not fit its call, which is shown again.', { askId: ask.askId });
    }
    const why = second.reply.content.slice(0, 2_000);
    await park(second, { kind: 'permission', n: each.n, call: each.call, why, ...expiryOf(window.pinned) });
    return 'parked';
  }
  const actor = actorOf(second);
  // A rejected question is not put and a rejected `finish` ends nothing: both are told like any other rejected call.
  const allowed = planned.filter(({ n }) => !isRefusal(leftovers.asks.get(n)));
  const questions = allowed.filter(isRun(ASK_USER));
  const finish = allowed.find(isRun(FINISH));
  const waits = allowed.filter(isRun(WAIT));
  const runs = allowed.filter(isRun(RUN_AGENT));
  const apart = new Set([finish, ...questions, ...waits, ...runs].map((each) => each?.n));
  const plain = planned.filter(({ n }) => !apart.has(n));
  const rows = [...(await runCalls(actor, plain))];
  // What the run may use, not what this step of a workflow offers.
  const children =
    runs.length === 0
      ? NO_CHILDREN
      : await startChildren(actor, [...offeredTools(actor.deps.tools, window.pinned).keys()], runs);
  rows.push(...children.rows);
  const heard = heardBy(second, children);
  for (const question of questions) {
    const outcome = await answer(second, question, heard);
    if (outcome === 'parked') return 'parked';
    rows.push(outcome);
  }
  const results = await gatherChildren(actor, children.running, second.spent.cost);
  if (results === 'parked') return 'parked';
  rows.push(...results);
  for (const wait of waits) {
    const outcome = await waitCall(second.turn, actor, wait, heard, second.spent.cost);
    if (outcome === 'parked') return 'parked';
    rows.push(outcome);
  }
  return { rows, finish };
};

const answer = async (
  second: Second,
  question: Extract<Planned, { kind: 'run' }>,
  heard: number,
): Promise<ToolRow | 'parked'> => {
  const { leftovers, turn } = second;
  const done = leftovers.outcomes.get(question.n);
  if (done !== undefined) return done;
  const ask = leftovers.questions.get(question.n);
  const now = turn.deps.clock.now();
  if (ask?.state === 'answered') {
    return storeOutcome(actorOf(second), question.call, question.n, 'answered', ask.feedback ?? '', now);
  }
  const { question: why } = question.args as { readonly question: string };
  const parked = await park(second, { kind: 'question', n: question.n, call: question.call, why }, heard);
  if (parked === 'parked') return 'parked';
  const text = 'Not asked: a message arrived before the question was put. It follows.';
  return storeOutcome(actorOf(second), question.call, question.n, 'ok', text, now);
};

/**
 * The counter of waking inputs that this reply knows of: those of its prompt, the answers to its own questions and the
 * ends of its own runs, which woke the step. Only what came beside them makes the next question or wait moot.
 */
const heardBy = ({ reply, leftovers }: Second, { ended }: Children): number =>
  reply.waking + [...leftovers.questions.values()].filter(({ state }) => state === 'answered').length + ended;

/** @param heard of a question: the counter of waking inputs that it may not be overtaken by */
const park = (second: Second, question: Question, heard = 0): Promise<'parked' | 'overtaken'> => {
  const { deps, lease, execution } = second.turn;
  return parkStep(deps, lease, execution, heard, question, second.spent.cost);
};

/** What the model is told of a reply that cannot be used. */
export const storeNote = async (
  second: Pick<Second, 'turn'>,
  verdict: { readonly code: string; readonly text: string },
): Promise<NoteRow> => {
  const { deps, execution } = second.turn;
  const row = {
    kind: 'note' as const,
    seq: execution.seq,
    n: FIRST_CALL_N,
    at: deps.clock.now(),
    content: verdict.text,
    code: verdict.code,
  };
  try {
    await deps.table.put(feedItem(execution.orgId, execution.executionId, row), missing('pk'));
  } catch (error) {
    // The same note of an earlier holder: it depends on the stored reply alone.
    if (!(error instanceof ConditionFailed)) throw error;
  }
  return { ...row, v: 1 };
};

/** Results above this many characters are kept in the bucket; the execution row must stay small. */
const INLINE_RESULT = 16_000;

export const resultChanges = async ({ turn }: Pick<Second, 'turn'>, result: string): Promise<readonly Change[]> => {
  if (result.length <= INLINE_RESULT) return [set(A.result, result)];
  const { orgId, executionId, seq } = turn.execution;
  const blob = blobKeys.spilled(orgId, executionId, seq, 0);
  await turn.deps.blobs.put(blob, new TextEncoder().encode(result), 'text/plain; charset=utf-8');
  return [set(A.result, result.slice(0, 2_000)), set(A.resultBlob, blob)];
};

const endingOf = async (
  second: Second,
  verdict: Verdict,
  finish: Extract<Planned, { kind: 'run' }> | undefined,
): Promise<Ending | undefined> => {
  const { reply, window, turn } = second;
  if (verdict.kind === 'error') {
    const stop = { event: 'error' as const, reason: verdict.code, message: verdict.message };
    return { status: 'ERROR_PAUSED', stop };
  }
  const result =
    verdict.kind === 'final' ? verdict.result : finish && String((finish.args as { result: string }).result);
  if (result !== undefined) {
    return { status: 'COMPLETED', changes: await resultChanges(second, result), waking: reply.waking };
  }
  const repeats = countRepeats(turn.execution, reply, verdict);
  if (repeats.count < window.pinned.repeatLimit) return undefined;
  const what = reply.calls.at(-1)?.name ?? 'an unusable reply';
  const message = `The model repeated ${what} with the same arguments ${repeats.count} times in a row (repeatLimit ${window.pinned.repeatLimit}). Say what to do differently with an input, then resume.`;
  return { status: 'ERROR_PAUSED', stop: { event: 'error', reason: 'repeat_limit', message } };
};

/**
 * A worker's turn ends where one of its calls says so, or where its lent place has been used up. What a call says counts
 * once it was carried out.
 */
const turnEndOf = (second: Second, rows: readonly ToolRow[]): Ending | undefined => {
  const { turn, window, reply, calls, offered } = second;
  const { ticketId, turnUntil, seq } = turn.execution;
  if (ticketId === undefined) return undefined;
  const ends = new Set<TurnEnd | undefined>();
  for (const planned of planCalls(calls, offered, window.pinned)) {
    if (planned.kind !== 'run' || planned.tool.endsTurn === undefined) continue;
    const done = rows.some(({ n, outcome }) => n === planned.n && outcome === 'ok');
    if (done) ends.add(planned.tool.endsTurn(planned.args, turnUntil !== undefined));
  }
  if (turnUntil !== undefined && seq >= turnUntil) ends.add('yield');
  const end = (['over', 'yield'] as const).find((each) => ends.has(each));
  return end && { status: 'WAITING_FOR_INPUT', turn: end, waking: reply.waking };
};

const stepDone = (second: Second, verdict: Verdict, rows: readonly FeedRow[]): StepDone => {
  const { turn, window, reply, spent, worst, asked } = second;
  const { execution, deps } = turn;
  const heard = spokenInputs(window.inputs)
    .filter((input) => input.number <= reply.inputs)
    .map((input, n): UserRow => ({ v: 1, kind: 'user', seq: reply.seq, n, at: input.at, content: inputText(input) }));
  const windowTokens = execution.windowTokens + tokensOf([...heard, reply, ...rows]);
  const overflows = windowTokens > window.pinned.contextTokens && execution.windowFrom < execution.seq;
  const repeats = countRepeats(execution, reply, verdict);
  return {
    calls: 1,
    tokensIn: reply.tokensIn,
    tokensOut: reply.tokensOut,
    spent,
    consumed: reply.inputs,
    nextPhase: overflows ? 'summarise' : 'think',
    worst: overflows ? worst : Math.max(worst, worstAfter(asked, [reply, ...rows])),
    delaySeconds: overflows ? 0 : (window.pinned.stepDelaySeconds ?? deps.settings.stepDelaySeconds),
    windowFrom: execution.windowFrom,
    summarySeq: execution.summarySeq,
    reply,
    rows,
    changes: [
      set(A.windowTokens, windowTokens),
      set(A.repeatHash, repeats.hash),
      set(A.repeatCount, repeats.count),
      ...taintChanges(execution, isTainted(execution, window.inputs, reply), second.offered, rows),
    ],
  };
};
