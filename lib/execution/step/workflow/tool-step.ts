/** A TOOL step: one call of its tools with the model's arguments, then, if it is to be chosen, the edge by the result. */
import { toolSpec } from '../../../tools/spec.ts';
import type { Tool } from '../../../tools/tool.ts';
import { DEFAULT_EDGE, type WorkflowStep } from '../../../workflow/definition.ts';
import { inPhase } from '../../../workflow/machine.ts';
import { offeredTools, planCalls } from '../act.ts';
import { storeNote } from '../finish-turn.ts';
import { stopStep } from '../stop.ts';
import { choose } from './answer-turn.ts';
import { askModel } from './ask.ts';
import { type Frame, resultOf } from './frame.ts';
import { type Done, go, goTo, stopAt } from './go.ts';
import { leaveBy } from './quiet.ts';
import { actOn, answerFinish } from './tools-turn.ts';
import { conversation, systemWords, valuesFor } from './words.ts';

type ToolStep = Extract<WorkflowStep, { kind: 'TOOL' }>;

/** The step's tools that this run may use: a workflow widens no permission. */
const offeredHere = ({ turn, window }: Frame, step: ToolStep): ReadonlyMap<string, Tool> => {
  const allowed = offeredTools(turn.deps.tools, window.pinned);
  return new Map([...allowed].filter(([name]) => step.tools.includes(name)));
};

const CALL_NOW = 'Call the tool that this step is about.';

export const toolStep = async (frame: Frame, step: ToolStep): Promise<void> => {
  const { phase } = frame.standing.place;
  if (step.choose !== undefined && (phase === 'choose' || phase === 'choose-repair')) {
    return choose(frame, { words: step.choose, history: step.history }, 'choose-repair');
  }
  const { turn, window, position, standing } = frame;
  const { deps, lease, execution } = turn;
  const offered = offeredHere(frame, step);
  if (offered.size === 0) {
    const message = `Step ${standing.place.step} needs ${step.tools.join(' or ')}, which this agent may not use: add it to the agent's tools and start a new run.`;
    return stopStep(deps, lease, execution, { event: 'error', reason: 'tools_not_allowed', message }, 0);
  }
  const bought = await askModel(frame, false, async () => {
    const words = `You carry out one step of a workflow.\n\n${step.instruction}`;
    const system = systemWords(words, await valuesFor(frame, words), window.pinned, deps.clock.now());
    return {
      messages: conversation(frame, system, step.history, step.completionPrompt ?? CALL_NOW),
      tools: [...offered.values()].map(toolSpec),
      toolChoice: 'required',
    };
  });
  const worked = bought && (await actOn(frame, bought, offered));
  if (worked === undefined) return;
  const { verdict } = worked;
  if (verdict.kind === 'error') {
    const done: Done = { by: { bought: worked.bought }, rows: worked.rows };
    return stopAt(frame, done, inPhase(position, undefined), { reason: verdict.code, message: verdict.message });
  }
  const finish = worked.finish === undefined ? '' : String((worked.finish.args as { result: unknown }).result);
  const rows = [...worked.rows, ...(await answerFinish(frame, worked, 'ok', finish))];
  const planned = planCalls(worked.bought.calls, offered, window.pinned);
  const nothingRan = planned.every(({ kind }) => kind === 'answer');
  // A repair is one more try and no more: what came out then is what the step has come to.
  if (nothingRan && phase === undefined) {
    const text = `No call was carried out. Call one of: ${[...offered.keys()].join(', ')}.`;
    const note = verdict.kind === 'final' ? [await storeNote({ turn }, { code: 'no_call', text })] : [];
    const done: Done = { by: { bought: worked.bought }, rows: [...rows, ...note] };
    return goTo(frame, done, inPhase(position, 'repair'), false);
  }
  const done: Done = { by: { bought: worked.bought }, rows, result: resultOf(worked.bought.reply, rows) };
  if (step.choose !== undefined) return goTo(frame, done, inPhase(position, 'choose'), false);
  return go(frame, done, leaveBy(frame, DEFAULT_EDGE));
};
