/** One turn of a run with a workflow: what stands at its position is done, and the commit moves it on. */
import type { WorkflowDefinition, WorkflowStep } from '../../../workflow/definition.ts';
import { COMPLETE_EDGE, DEFAULT_EDGE, NO_EDGE, YES_EDGE } from '../../../workflow/definition.ts';
import { edgeOf, labelsOf } from '../../../workflow/edges.ts';
import { evaluateExpression } from '../../../workflow/expression.ts';
import { inPhase } from '../../../workflow/machine.ts';
import { render } from '../../../workflow/render.ts';
import { getExecution } from '../../get.ts';
import { WORKFLOW_STEP } from '../../rows.ts';
import type { Turn } from '../claimed.ts';
import { NotYet } from '../deps.ts';
import type { Window } from '../load.ts';
import { parkStep } from '../park.ts';
import { expiryOf, isDecided } from '../permission.ts';
import { spokenInputs } from '../prompt.ts';
import type { Leftovers } from '../recover.ts';
import { parkWait, readWait } from '../wait.ts';
import { choose, innerTasks, makeQueue } from './answer-turn.ts';
import { asksForMore, type Frame, frameOf, lastResult, resultSince } from './frame.ts';
import { isEmpty, type Queues, taskAt, writeDone } from './queues.ts';
import { type Decided, quietly } from './quiet.ts';
import { toolStep } from './tool-step.ts';
import { closing, innerTools } from './tools-turn.ts';
import { taskInHand, valuesFor } from './words.ts';

type Kind<K extends WorkflowStep['kind']> = Extract<WorkflowStep, { kind: K }>;

export const work = async (
  turn: Turn,
  window: Window,
  leftovers: Leftovers,
  definition: WorkflowDefinition,
): Promise<void> => {
  const frame = frameOf(turn, window, leftovers, definition);
  const { step, iteration, inner, place } = frame.standing;
  switch (step.kind) {
    case 'ITERATION':
      if (iteration === undefined || inner === undefined) throw new Error(`${frame.position} has no inner step.`);
      return inner.output === 'tools' ? innerTools(frame, iteration, inner) : innerTasks(frame, inner);
    case 'TOOL':
      return toolStep(frame, step);
    case 'WAIT':
      return quietly(frame, () => waited(frame, step));
    case 'TASK_QUEUE':
      return place.phase === 'next' ? takeTask(frame) : makeQueue(frame, step);
    case 'ASK_PERMISSION':
      return quietly(frame, () => permitted(frame, step));
    case 'CONDITION':
      return condition(frame, step);
    case 'END':
      return end(frame, step);
  }
};

const hasUnread = ({ turn, window }: Frame): boolean =>
  turn.execution.inputs > (window.inputs.at(-1)?.number ?? turn.execution.consumed) || window.inputs.some(asksForMore);

/** Parks until its time, or goes on when it is over. */
const waited = async (frame: Frame, step: Kind<'WAIT'>): Promise<Decided | undefined> => {
  const { turn } = frame;
  const state = await readWait(turn, 0);
  const over = (seconds: number, by: string): Decided => ({
    content: `Waited ${seconds} of ${step.seconds} s${by}.`,
    label: DEFAULT_EDGE,
  });
  if (state.kind === 'over') {
    return over(Math.round(state.waitedMs / 1000), state.by === 'input' ? ', until a message came' : '');
  }
  // A message that nobody has read yet has come before its time, but it has come.
  if (state.kind === 'new' && step.wakeOnInput && hasUnread(frame)) return over(0, ', for a message was there');
  const until = state.kind === 'running' ? state.row.until : turn.deps.clock.now() + step.seconds * 1000;
  const waking = turn.execution.wakingInputs;
  const parked = await parkWait(turn, { n: 0, until, wakeOnInput: step.wakeOnInput, waking, cost: 0 });
  if (parked === 'parked') return undefined;
  const now = await getExecution(turn.deps.table, turn.execution);
  if (step.wakeOnInput && now.wakingInputs > waking) return over(0, ', for a message came');
  throw new NotYet('The step was paused and resumed while it began to wait.');
};

/** Puts the question to a person, or goes on with what was decided: YES only by an approval. */
const permitted = async (frame: Frame, step: Kind<'ASK_PERMISSION'>): Promise<Decided | undefined> => {
  const { turn, window, leftovers, standing } = frame;
  const { deps, lease, execution } = turn;
  const question = render(step.question, await valuesFor(frame, step.question));
  const call = {
    id: WORKFLOW_STEP,
    name: WORKFLOW_STEP,
    arguments: JSON.stringify({ step: standing.place.step, question }),
  };
  const ask = leftovers.asks.get(0);
  if (ask !== undefined && isDecided(ask, call)) {
    const approved = ask.state === 'approved';
    const by = ask.state === 'expired' ? 'Nobody decided in time' : `A person ${approved ? 'approved' : 'rejected'}`;
    return { content: `${by}: ${question}`, label: approved ? YES_EDGE : NO_EDGE, said: ask.feedback };
  }
  const put = { kind: 'permission' as const, n: 0, call, why: question, ...expiryOf(window.pinned) };
  const parked = await parkStep(deps, lease, execution, execution.wakingInputs, put, 0);
  if (parked === 'overtaken') throw new NotYet('The step was paused and resumed while it asked.');
  return undefined;
};

/** Takes the next task of an open queue; the one before it is finished with the last result. */
const takeTask = (frame: Frame): Promise<void> => {
  const { turn, queues, standing } = frame;
  const id = standing.place.step;
  const queue = queues[id];
  const decide = async (): Promise<Decided> => {
    if (queue === undefined) return { content: 'No task is left.', label: COMPLETE_EDGE };
    const [, head, tail, since] = queue;
    if (head > 0) await writeDone(turn, id, await taskAt(turn, queue, head - 1), resultSince(frame, since));
    if (isEmpty(queue)) return { content: `All ${tail} tasks are done.`, label: COMPLETE_EDGE };
    return { content: `Task ${head + 1} of ${tail}: ${await taskAt(turn, queue, head)}`, label: DEFAULT_EDGE };
  };
  const after = (label: string): Queues => {
    const { [id]: own, ...others } = queues;
    if (label === COMPLETE_EDGE || own === undefined) return others;
    const [generation, head, tail] = own;
    return { ...others, [id]: [generation, head + 1, tail, turn.execution.seq] };
  };
  return quietly(frame, decide, { queues: after });
};

const condition = (frame: Frame, step: Kind<'CONDITION'>): Promise<void> => {
  const { expression, question } = step;
  if (expression !== undefined) return quietly(frame, () => evaluated(frame, step, expression));
  if (question === undefined || labelsOf(step).length === 0) {
    return quietly(frame, async () => ({ content: 'There is nothing to choose.', label: DEFAULT_EDGE }));
  }
  return choose(frame, { words: question, history: step.history }, 'repair');
};

/** An expression that names `input` reads the messages that are there. */
const READS_INPUT = /\binput\b/;

const evaluated = async (frame: Frame, step: Kind<'CONDITION'>, expression: string): Promise<Decided> => {
  const { window } = frame;
  const said = window.rows.flatMap((row) => (row.kind === 'user' && row.origin !== 'system' ? [row] : [])).at(-1);
  const input = spokenInputs(window.inputs).at(-1)?.text ?? said?.content ?? '';
  const value = evaluateExpression(expression, {
    last: lastResult(frame),
    task: (await taskInHand(frame)) ?? '',
    input,
  });
  const readsInputs = READS_INPUT.test(expression);
  if (value.ok) return { content: `${expression} gave ${value.label}.`, label: value.label, readsInputs };
  const label = edgeOf(step, DEFAULT_EDGE) === undefined ? undefined : DEFAULT_EDGE;
  return { content: value.problem, label, readsInputs };
};

/** Reached as a step of its own at the start, or where a message came before the end. */
const end = (frame: Frame, step: Kind<'END'>): Promise<void> => {
  const { reply } = frame.leftovers;
  const answers = reply === undefined ? hasUnread(frame) : reply.kind === 'reply';
  if (answers) return closing(frame);
  const next = { to: 'end' as const, position: inPhase(frame.position, undefined), step };
  return quietly(frame, async () => ({ content: 'The workflow has come to its end.', label: DEFAULT_EDGE }), { next });
};
