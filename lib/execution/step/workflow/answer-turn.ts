/** Turns in which the model answers the workflow itself, in a form: a list of tasks, the label of an edge. */
import type { ChatMessage } from '../../../model/model.ts';
import { DEFAULT_EDGE, type IterationStep, type WorkflowStep } from '../../../workflow/definition.ts';
import { edgeOf, labelsOf } from '../../../workflow/edges.ts';
import { afterInner, inPhase, type Phase } from '../../../workflow/machine.ts';
import { bracedNames } from '../../../workflow/render.ts';
import {
  choiceForm,
  choiceOutput,
  MOST_TASKS,
  type OutputSchema,
  type Read,
  readChoice,
  readTasks,
  TASKS_FORM,
  tasksOutput,
} from '../../../workflow/structured.ts';
import type { FeedRow, ReplyRow, ToolRow } from '../../feed.ts';
import { FIRST_CALL_N, MAX_CALLS } from '../../feed.ts';
import { storeOutcome } from '../act.ts';
import { actorOf } from '../finish-turn.ts';
import { askModel, type Bought } from './ask.ts';
import { type Frame, replyBefore } from './frame.ts';
import { type Done, go, goTo, stopAt } from './go.ts';
import { ITERATIONS, isEmpty, pendingTasks, type QueueState, writeGeneration } from './queues.ts';
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
  readonly read: Read<T>;
  readonly rows: readonly FeedRow[];
}

/** Some providers give a demanded form as the arguments of a call. */
const readReply = <T>(reply: Pick<ReplyRow, 'content' | 'calls'>, read: (text: string) => Read<T>): Read<T> => {
  const said = read(reply.content);
  if (said.ok) return said;
  return reply.calls.map((call) => read(call.arguments)).find((called) => called.ok) ?? said;
};

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

const askAgain = <T>(frame: Frame, { read }: Question<T>): readonly ChatMessage[] => {
  const before = replyBefore(frame);
  const judged = before === undefined ? undefined : readReply(before, read);
  const problem = judged === undefined || judged.ok ? 'Your last answer cannot be used.' : judged.problem;
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
      messages: repairing ? [...messages, ...askAgain(frame, question)] : messages,
      tools: [],
      responseSchema: question.output,
    };
  });
  if (bought === undefined) return undefined;
  const rows = await answerCalls(frame, bought);
  const read = readReply(bought.reply, question.read);
  if (read.ok || repairing) return { bought, read, rows };
  await goTo(frame, { by: { bought }, rows }, inPhase(position, question.repair), false);
  return undefined;
};

const tasksQuestion = (
  given: { readonly words: string; readonly history: boolean; readonly end?: string | undefined },
  most: number,
): Question<readonly string[]> => ({
  ...given,
  output: tasksOutput,
  form: TASKS_FORM,
  read: (text) => readTasks(text, most),
  repair: 'repair',
});

const BULLET = /^\s*(?:[-*•]|\d{1,3}[.)])\s+/;
const LONGEST_TASK = 2_000;

/**
 * Tasks out of words, after two answers without a form: the lines of a list. Words that are no list are one task where
 * there is nothing else to do; where there is, they add nothing.
 */
export const tasksInWords = (text: string, most: number, otherwise: readonly string[]): readonly string[] => {
  const listed = text
    .split('\n')
    .filter((line) => BULLET.test(line))
    .map((line) => line.replace(BULLET, '').trim().slice(0, LONGEST_TASK))
    .filter((line) => line !== '');
  if (listed.length > 0) return listed.slice(0, most);
  return otherwise;
};

/** Tasks that wait at once: each change of the list writes them anew. */
const MOST_PENDING = 500;

/** An inner step that makes tasks: they go before the others, or stand in their place. */
export const innerTasks = async (frame: Frame, inner: IterationStep): Promise<void> => {
  const { turn, window, definition, position, queues } = frame;
  const most = inner.maxTasks ?? MOST_TASKS;
  const words = { words: inner.prompt, history: inner.history, end: inner.completionPrompt };
  const answer = await answerOf(frame, tasksQuestion(words, most));
  if (answer === undefined) return;
  const { bought, read, rows } = answer;
  const queue = queues[ITERATIONS];
  const spoken = bought.reply.content.trim().slice(0, LONGEST_TASK);
  const first = spoken === '' ? window.pinned.goals.slice(0, most) : [spoken];
  const tasks = read.ok ? read.value : tasksInWords(bought.reply.content, most, queue === undefined ? first : []);
  const replaces = inner.output === 'replace-tasks' && (read.ok || tasks.length > 0);
  const pending = await pendingTasks(turn, queue);
  const after = await nextGeneration(frame, queue, pending, tasks, replaces);
  const next = afterInner(definition, position, isEmpty(after));
  return go(frame, { by: { bought }, rows, queues: { ...queues, [ITERATIONS]: after } }, next);
};

const nextGeneration = (
  { turn }: Frame,
  queue: QueueState | undefined,
  pending: readonly string[],
  tasks: readonly string[],
  replaces: boolean,
): Promise<QueueState> | QueueState => {
  if (queue !== undefined && !replaces && tasks.length === 0) return queue;
  const room = Math.max(0, MOST_PENDING - pending.length);
  const list = replaces ? tasks : [...tasks.slice(0, room), ...pending];
  // What was tried on a task that stays in hand goes on counting as tried.
  const stays = queue !== undefined && list[0] === pending[0];
  return writeGeneration(turn, list, stays ? queue[3] : turn.execution.seq);
};

/** A TASK_QUEUE begins a run: the model makes tasks of the last result, the next step takes the first. */
export const makeQueue = async (frame: Frame, step: Extract<WorkflowStep, { kind: 'TASK_QUEUE' }>): Promise<void> => {
  const { turn, position, queues, standing } = frame;
  const words = { words: step.instruction, history: true };
  const answer = await answerOf(frame, tasksQuestion(words, MOST_TASKS));
  if (answer === undefined) return;
  const { bought, read, rows } = answer;
  const spoken = bought.reply.content.trim().slice(0, LONGEST_TASK);
  const otherwise = spoken === '' ? [] : [spoken];
  const tasks = read.ok ? read.value : tasksInWords(bought.reply.content, MOST_TASKS, otherwise);
  const queue = await writeGeneration(turn, tasks, 0);
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
