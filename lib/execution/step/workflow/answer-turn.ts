/** Turns in which the model answers the workflow itself, in a form: a list of tasks, the label of an edge. */
import type { ChatMessage, ToolCall } from '../../../model/model.ts';
import { DEFAULT_EDGE, type IterationStep, MOST_TASKS, type WorkflowStep } from '../../../workflow/definition.ts';
import { edgeOf, labelsOf } from '../../../workflow/edges.ts';
import { afterInner, inPhase, type Phase } from '../../../workflow/machine.ts';
import { bracedNames, lineCut, MOST_ENTRIES } from '../../../workflow/render.ts';
import {
  choiceForm,
  choiceOutput,
  type OutputSchema,
  type Read,
  type Room,
  readChoice,
  readTasks,
  tasksForm,
  tasksInWords,
  tasksOutput,
} from '../../../workflow/structured.ts';
import type { FeedRow, ReplyRow, ToolRow } from '../../feed.ts';
import { FIRST_CALL_N, MAX_CALLS } from '../../feed.ts';
import { storeOutcome } from '../act.ts';
import { actorOf } from '../finish-turn.ts';
import { wholeCalls, wholeContent } from '../think.ts';
import { askModel, type Bought } from './ask.ts';
import { type Frame, replyBefore } from './frame.ts';
import { type Done, go, goTo, stopAt } from './go.ts';
import { ITERATIONS, isEmpty, pendingTasks, writeGeneration } from './queues.ts';
import { leaveBy } from './quiet.ts';
import { record, systemWords, valuesFor } from './words.ts';

interface Question<T> {
  readonly words: string;
  readonly history: boolean;
  readonly end?: string | undefined;
  readonly output: OutputSchema;
  readonly form: string;
  readonly read: (text: string) => Read<T>;
  /** The phase in which an unusable answer is asked for once more. */
  readonly repair: Extract<Phase, 'repair' | 'choose-repair'>;
}

interface Answer<T> {
  readonly bought: Bought;
  /** All of it: the row holds the beginning of a long one. */
  readonly text: string;
  readonly read: Read<T>;
  readonly rows: readonly FeedRow[];
}

/** Some providers give a demanded form as the arguments of a call. */
const readReply = <T>(text: string, calls: readonly ToolCall[], read: (text: string) => Read<T>): Read<T> => {
  const said = read(text);
  if (said.ok) return said;
  const called = calls.map((call) => read(call.arguments));
  return called.find(({ ok }) => ok) ?? called.find((one) => !one.ok && one.beyond !== undefined) ?? said;
};

/** The provider ended the reply at its limit: what looks whole in it may be the beginning. */
const isCut = ({ finish }: ReplyRow): boolean => finish === 'length';

/** No tool was offered: a call that came all the same is answered, so that the feed stays whole. */
const answerCalls = async (frame: Frame, bought: Bought): Promise<readonly ToolRow[]> => {
  const actor = actorOf({ ...frame, offered: new Map(), ...bought });
  const text = 'Not carried out: only an answer was asked for.';
  const now = frame.turn.deps.clock.now();
  return Promise.all(
    bought.calls
      .slice(0, MAX_CALLS)
      .map((call, index) => storeOutcome(actor, call, FIRST_CALL_N + index, 'error', text, now)),
  );
};

const askAgain = async <T>(frame: Frame, { read }: Question<T>): Promise<readonly ChatMessage[]> => {
  const { deps } = frame.turn;
  const before = replyBefore(frame);
  const judged =
    before === undefined
      ? undefined
      : readReply(await wholeContent(deps, before), await wholeCalls(deps, before), read);
  const unusable = judged === undefined || judged.ok ? 'Your last answer cannot be used.' : judged.problem;
  const short = 'Your last answer was cut at the most tokens that a reply may have: give a shorter one.';
  const problem = before !== undefined && isCut(before) ? `${short} ${unusable}` : unusable;
  const said = before?.content.trim() ?? '';
  return [
    ...(said === '' ? [] : [{ role: 'assistant' as const, content: said.slice(0, 4_000) }]),
    { role: 'user', content: problem },
  ];
};

/**
 * Asks once, and once more when the answer cannot be read: its own step, without a pause between.
 * @returns `undefined` when the turn is over
 */
const answerOf = async <T>(frame: Frame, question: Question<T>): Promise<Answer<T> | undefined> => {
  const { turn, window, standing, position } = frame;
  const repairing = standing.place.phase === question.repair;
  const bought = await askModel(frame, true, async () => {
    const told = question.history || bracedNames(question.words).includes('last');
    const words = told ? question.words : `${question.words}\n\nLast result:\n{last}`;
    const system = systemWords(words, await valuesFor(frame, words), window.pinned, turn.deps.clock.now());
    const end = [question.end, question.form].filter((text) => text !== undefined).join('\n\n');
    const messages = record(frame, system, question.history, end);
    return {
      messages: repairing ? [...messages, ...(await askAgain(frame, question))] : messages,
      tools: [],
      responseSchema: question.output,
    };
  });
  if (bought === undefined) return undefined;
  const rows = await answerCalls(frame, bought);
  const text = await wholeContent(turn.deps, bought.reply);
  const read = readReply(text, bought.calls, question.read);
  if (read.ok || repairing) return { bought, text, read, rows };
  await goTo(frame, { by: { bought }, rows }, inPhase(position, question.repair), false);
  return undefined;
};

const tasksQuestion = (
  given: { readonly words: string; readonly history: boolean; readonly end?: string | undefined },
  room: Room,
): Question<readonly string[]> => ({
  ...given,
  output: tasksOutput(room.most),
  form: tasksForm(room.most),
  read: (text) => readTasks(text, room),
  repair: 'repair',
});

/**
 * The tasks of an answer. After two answers without a form they are taken from words, and words that are no list are one
 * task where there is nothing else to do; where there is, they add nothing.
 */
const tasksOf = (
  { read, text, bought }: Answer<readonly string[]>,
  room: Room,
  otherwise: (spoken: string) => readonly string[],
): Read<readonly string[]> => {
  if (read.ok || read.beyond !== undefined) return read;
  if (isCut(bought.reply)) {
    const beyond = `the reply was cut at ${bought.reply.tokensOut} tokens, before its list had ended (maxReplyTokens)`;
    return { ...read, beyond };
  }
  return tasksInWords(text, room, otherwise(text.trim()));
};

/** Nothing is left out in silence: a list that does not fit, twice, is a person's to settle. */
const refuseTasks = (
  frame: Frame,
  { bought, rows }: Answer<readonly string[]>,
  beyond: string | undefined,
): Promise<void> => {
  const message = `Step ${frame.standing.place.step} asked for tasks twice: ${beyond}. Say with an input what it should do, then resume: it is asked again.`;
  const again = inPhase(frame.position, undefined);
  return stopAt(frame, { by: { bought }, rows }, again, { reason: 'no_usable_tasks', message });
};

/** Tasks that no prompt has shown stay where they wait; a task that was shown cut is the whole one again. */
const inPlaceOf = (
  inner: IterationStep,
  pending: readonly string[],
): { readonly unseen: readonly string[]; readonly whole: (task: string) => string } => {
  if (!bracedNames(inner.prompt).includes('pending')) return { unseen: [], whole: (task) => task };
  const seen = new Map(pending.slice(0, MOST_ENTRIES).map((task) => [lineCut(task), task]));
  return { unseen: pending.slice(MOST_ENTRIES), whole: (task) => seen.get(task) ?? task };
};

/** An inner step that makes tasks: they go before the others, or stand in their place. */
export const innerTasks = async (frame: Frame, inner: IterationStep): Promise<void> => {
  const { turn, window, definition, position, queues } = frame;
  const queue = queues[ITERATIONS];
  const pending = await pendingTasks(turn, queue);
  const replacing = inner.output === 'replace-tasks';
  const { unseen, whole } = inPlaceOf(inner, pending);
  const waiting = (replacing ? unseen : pending).length;
  const given = inner.maxTasks ?? MOST_TASKS;
  const room: Room = given <= MOST_TASKS - waiting ? { most: given } : { most: MOST_TASKS - waiting, waiting };
  const words = { words: inner.prompt, history: inner.history, end: inner.completionPrompt };
  const answer = await answerOf(frame, tasksQuestion(words, room));
  if (answer === undefined) return;
  const first = (spoken: string) => (spoken === '' ? window.pinned.goals : [spoken]);
  const read = tasksOf(answer, room, (spoken) => (queue === undefined ? first(spoken) : []));
  if (!read.ok) return refuseTasks(frame, answer, read.beyond);
  const tasks = read.value;
  const replaces = replacing && (answer.read.ok || tasks.length > 0);
  const list = replaces ? [...tasks.map(whole), ...unseen] : [...tasks, ...pending];
  const changed = queue === undefined || replaces || tasks.length > 0;
  // What was tried on a task that stays in hand goes on counting as tried.
  const stays = queue !== undefined && list[0] === pending[0];
  const after = changed ? await writeGeneration(turn, list, stays ? queue[3] : turn.execution.seq) : queue;
  const next = afterInner(definition, position, isEmpty(after));
  const { bought, rows } = answer;
  return go(frame, { by: { bought }, rows, queues: { ...queues, [ITERATIONS]: after } }, next);
};

/** A TASK_QUEUE begins a run: the model makes tasks of the last result, the next step takes the first. */
export const makeQueue = async (frame: Frame, step: Extract<WorkflowStep, { kind: 'TASK_QUEUE' }>): Promise<void> => {
  const { turn, position, queues, standing } = frame;
  const room: Room = { most: MOST_TASKS };
  const words = { words: step.instruction, history: true };
  const answer = await answerOf(frame, tasksQuestion(words, room));
  if (answer === undefined) return;
  const read = tasksOf(answer, room, (spoken) => (spoken === '' ? [] : [spoken]));
  if (!read.ok) return refuseTasks(frame, answer, read.beyond);
  const queue = await writeGeneration(turn, read.value, 0);
  const { bought, rows } = answer;
  const done: Done = { by: { bought }, rows, queues: { ...queues, [standing.place.step]: queue } };
  return goTo(frame, done, inPhase(position, 'next'), false);
};

/** The model names the edge that is taken. */
export const choose = async (
  frame: Frame,
  given: { readonly words: string; readonly history: boolean },
  repair: Question<string>['repair'],
): Promise<void> => {
  const { standing, position } = frame;
  const labels = labelsOf(standing.step);
  const answer = await answerOf(frame, {
    ...given,
    output: choiceOutput(labels),
    form: choiceForm(labels),
    read: (text) => readChoice(text, labels),
    repair,
  });
  if (answer === undefined) return;
  const { bought, read, rows } = answer;
  const done: Done = { by: { bought }, rows };
  if (read.ok) return go(frame, done, leaveBy(frame, read.value));
  if (edgeOf(standing.step, DEFAULT_EDGE) !== undefined) return go(frame, done, leaveBy(frame, DEFAULT_EDGE));
  const said = bought.reply.content.trim().slice(0, 200);
  const message = `Step ${standing.place.step} needs one of ${labels.join(', ')}, and the model answered ${JSON.stringify(said)} twice without choosing. Say what it should choose with an input, then resume.`;
  const again = inPhase(position, repair === 'repair' ? undefined : 'choose');
  return stopAt(frame, done, again, { reason: 'no_usable_choice', message });
};
