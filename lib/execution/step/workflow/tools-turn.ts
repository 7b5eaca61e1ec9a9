/** Turns in which the model works with tools: the inner steps of an ITERATION, and the answer to a message at the END. */
import { toolSpec } from '../../../tools/spec.ts';
import type { Tool } from '../../../tools/tool.ts';
import { COMPLETE_EDGE, type Iteration, type IterationStep } from '../../../workflow/definition.ts';
import { afterInner, afterOuter, inPhase } from '../../../workflow/machine.ts';
import type { FeedRow, ToolRow } from '../../feed.ts';
import { FINISH, offeredTools, type Planned, storeOutcome } from '../act.ts';
import { type Acted, act, actorOf, storeNote } from '../finish-turn.ts';
import { countRepeats, judgeReply, type Repeats, type Verdict } from '../verdict.ts';
import { askModel, type Bought } from './ask.ts';
import { type Frame, resultOf } from './frame.ts';
import { type Done, go, goTo, type Stay, stopAt } from './go.ts';
import { ITERATIONS, isEmpty, type Queues, writeDone } from './queues.ts';
import { quietly } from './quiet.ts';
import { conversation, systemWords, taskInHand, valuesFor } from './words.ts';

const NOTHING: Acted = { rows: [], finish: undefined };
const GO_ON = 'Carry out the next step.';

export interface Worked {
  readonly bought: Bought;
  readonly verdict: Verdict;
  readonly rows: readonly FeedRow[];
  /** Calls that were carried out. */
  readonly outcomes: readonly ToolRow[];
  readonly finish: Extract<Planned, { kind: 'run' }> | undefined;
}

/** Acts on a bought reply. `undefined`: it waits for a person or for its time. */
export const actOn = async (
  frame: Frame,
  bought: Bought,
  offered: ReadonlyMap<string, Tool>,
): Promise<Worked | undefined> => {
  const { turn, window, leftovers } = frame;
  const second = { turn, window, leftovers, offered, ...bought };
  const verdict = judgeReply(bought.reply);
  const acted = verdict.kind === 'act' ? await act(second) : NOTHING;
  if (acted === 'parked') return undefined;
  const note = verdict.kind === 'note' || verdict.kind === 'error' ? [await storeNote({ turn }, verdict)] : [];
  return { bought, verdict, rows: [...acted.rows, ...note], outcomes: acted.rows, finish: acted.finish };
};

/** The outcome of `finish` where the run goes on: `text` is what the model reads. */
export const answerFinish = async (
  frame: Frame,
  { bought, finish }: Pick<Worked, 'bought' | 'finish'>,
  outcome: 'ok' | 'error',
  text: string,
): Promise<readonly ToolRow[]> => {
  if (finish === undefined) return [];
  const actor = actorOf({ ...frame, offered: new Map(), ...bought });
  return [await storeOutcome(actor, finish.call, finish.n, outcome, text, frame.turn.deps.clock.now())];
};

const finishText = ({ finish }: Pick<Worked, 'finish'>): string | undefined =>
  finish === undefined ? undefined : String((finish.args as { readonly result: unknown }).result);

const repeatStop = ({ window }: Frame, { bought }: Worked, { count }: Repeats) => {
  if (count < window.pinned.repeatLimit) return undefined;
  const what = bought.reply.calls.at(-1)?.name ?? 'an unusable reply';
  const message = `The model repeated ${what} with the same arguments ${count} times in a row (repeatLimit ${window.pinned.repeatLimit}). Say what to do differently with an input, then resume.`;
  return { reason: 'repeat_limit', message };
};

/** What is the same for all turns with tools: replies that cannot be used, and calls that repeat themselves. */
const unusable = async (frame: Frame, worked: Worked): Promise<'done' | Done> => {
  const repeats = countRepeats(frame.turn.execution, worked.bought.reply, worked.verdict);
  const done: Done = { by: { bought: worked.bought }, rows: worked.rows, repeats };
  if (worked.verdict.kind === 'error') {
    await stopAt(frame, done, frame.position, { reason: worked.verdict.code, message: worked.verdict.message });
    return 'done';
  }
  if (worked.verdict.kind !== 'note') return done;
  const stop = repeatStop(frame, worked, repeats);
  await (stop === undefined ? goTo(frame, done, frame.position, true) : stopAt(frame, done, frame.position, stop));
  return 'done';
};

/** A message came while the model was finishing: it reads it at the same step, and finishes again. */
const readItFirst =
  (frame: Frame, worked: Worked): Stay =>
  async () => ({
    rows: await answerFinish(
      frame,
      worked,
      'error',
      'Not ended: a message arrived meanwhile. Read it, then finish again.',
    ),
    position: frame.position,
  });

/** One call of the model with tools, inside an ITERATION. */
export const innerTools = async (frame: Frame, iteration: Iteration, inner: IterationStep): Promise<void> => {
  const { turn, window, definition, position } = frame;
  const { taskQueue } = iteration;
  if (taskQueue && isEmpty(frame.queues[ITERATIONS])) {
    return quietly(frame, async () => ({ content: 'No task is left.', label: COMPLETE_EDGE }));
  }
  const offered = offeredTools(turn.deps.tools, window.pinned);
  const bought = await askModel(frame, false, async () => {
    const values = await valuesFor(frame, inner.prompt);
    const system = systemWords(inner.prompt, values, window.pinned, turn.deps.clock.now());
    // With tasks the queue says when the work is done; a model that finishes all the same has finished its task.
    const tools = [...offered.values()].filter((tool) => !taskQueue || tool.name !== FINISH);
    return {
      messages: conversation(frame, system, inner.history, inner.completionPrompt ?? GO_ON),
      tools: tools.map(toolSpec),
    };
  });
  const worked = bought && (await actOn(frame, bought, offered));
  if (worked === undefined) return;
  const done = await unusable(frame, worked);
  if (done === 'done') return;
  if (taskQueue) return workedOnTask(frame, worked, done);
  // Words end the iteration where nothing comes after them.
  const words = worked.verdict.kind === 'final' && inner.next === undefined ? worked.verdict.result : undefined;
  const result = words ?? finishText(worked);
  if (result !== undefined) return completed(frame, worked, done, result);
  const stop = repeatStop(frame, worked, done.repeats ?? { hash: '', count: 0 });
  const next = afterInner(definition, position, false);
  if (stop !== undefined) return stopAt(frame, done, next.to === 'nowhere' ? position : next.position, stop);
  return go(frame, done, next);
};

/** The model said that the work is done: the iteration is COMPLETE. */
const completed = async (frame: Frame, worked: Worked, done: Done, result: string): Promise<void> => {
  const next = afterOuter(frame.definition, frame.position, COMPLETE_EDGE);
  const ended = { ...done, result };
  if (next.to === 'end') return go(frame, ended, next, readItFirst(frame, worked));
  const outcome = await answerFinish(frame, worked, 'ok', result);
  return go(frame, { ...ended, rows: [...done.rows, ...outcome] }, next);
};

/** A call that was carried out, or an answer in words, finishes the task in hand; a call that failed does not. */
const workedOnTask = async (frame: Frame, worked: Worked, done: Done): Promise<void> => {
  const { turn, definition, position, queues } = frame;
  const outcome = await answerFinish(frame, worked, 'ok', finishText(worked) ?? '');
  const rows = [...done.rows, ...outcome];
  const ran = [...worked.outcomes, ...outcome].some((row) => row.outcome === 'ok' || row.outcome === 'answered');
  const result = resultOf(worked.bought.reply, rows);
  const queue = queues[ITERATIONS];
  let after: Queues = queues;
  if (queue !== undefined && (ran || worked.verdict.kind === 'final')) {
    const text = (await taskInHand(frame)) ?? '';
    await writeDone(turn, ITERATIONS, text, result);
    after = { ...queues, [ITERATIONS]: [queue[0], queue[1] + 1, queue[2], turn.execution.seq] };
  }
  const left: Done = { ...done, rows, queues: after, result };
  const next = afterInner(definition, position, isEmpty(after[ITERATIONS]));
  const stop = repeatStop(frame, worked, done.repeats ?? { hash: '', count: 0 });
  if (stop !== undefined) return stopAt(frame, left, next.to === 'nowhere' ? position : next.position, stop);
  return go(frame, left, next);
};

const CLOSING =
  'The work on the goals is done, and a message has come since. Do what it asks for if it can be done with your tools. ' +
  'Then call `finish` with the result of the whole run, or answer in words: that becomes the result.';

/** At the END step with a message unread: the model answers it before the run ends. */
export const closing = async (frame: Frame): Promise<void> => {
  const { turn, window, standing } = frame;
  const offered = offeredTools(turn.deps.tools, window.pinned);
  const bought = await askModel(frame, false, async () => {
    const system = systemWords(CLOSING, await valuesFor(frame, CLOSING), window.pinned, turn.deps.clock.now());
    return { messages: conversation(frame, system, true, GO_ON), tools: [...offered.values()].map(toolSpec) };
  });
  const worked = bought && (await actOn(frame, bought, offered));
  if (worked === undefined || standing.step.kind !== 'END') return;
  const done = await unusable(frame, worked);
  if (done === 'done') return;
  const result = worked.verdict.kind === 'final' ? worked.verdict.result : finishText(worked);
  if (result === undefined) return goTo(frame, done, frame.position, true);
  const next = { to: 'end' as const, position: inPhase(frame.position, undefined), step: standing.step };
  return go(frame, { ...done, result }, next, readItFirst(frame, worked));
};
