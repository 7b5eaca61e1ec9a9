/** The end of every turn of a workflow: one fenced commit that moves the position, the task counters and the step number together. */
import { add, type Change, remove, set } from '../../../kernel/table.ts';
import { inPhase, type Next, type Position } from '../../../workflow/machine.ts';
import { render } from '../../../workflow/render.ts';
import { A } from '../../execution.ts';
import type { FeedRow, StepRow, UserRow } from '../../feed.ts';
import { NOTHING_SPENT } from '../buy.ts';
import { commitEnding, commitStep, type StepDone } from '../commit.ts';
import { resultChanges } from '../finish-turn.ts';
import type { Stop } from '../fuses.ts';
import { inputText, spokenInputs } from '../prompt.ts';
import { tokensOf } from '../summarise.ts';
import type { Repeats } from '../verdict.ts';
import type { Bought } from './ask.ts';
import { asksForMore, type Frame, lastResult } from './frame.ts';
import type { Queues } from './queues.ts';
import { valuesFor } from './words.ts';

/** What a turn has done, before it is known where the run goes. */
export interface Done {
  /** A turn with a model call has bought this; one without has decided `step`. */
  readonly by: { readonly bought: Bought } | { readonly step: StepRow };
  /** Rows beside the reply: outcomes, notes, what a person said. */
  readonly rows: readonly FeedRow[];
  /** Where the task queues stand from now on; missing: as they stood. */
  readonly queues?: Queues | undefined;
  readonly repeats?: Repeats | undefined;
  /** What came of it, where the run ends with it. */
  readonly result?: string | undefined;
}

const inputsReadBy = ({ by }: Done): number => ('bought' in by ? by.bought.reply.inputs : by.step.inputs);

const queueChanges = (queues: Queues | undefined): readonly Change[] => {
  if (queues === undefined) return [];
  if (Object.keys(queues).length === 0) return [remove(A.queues)];
  return [set(A.queues, Object.fromEntries(Object.entries(queues).map(([id, state]) => [id, [...state]])))];
};

const stepDone = (frame: Frame, done: Done, position: Position, pause: boolean): StepDone => {
  const { turn, window } = frame;
  const { execution, deps } = turn;
  const bought = 'bought' in done.by ? done.by.bought : undefined;
  const consumed = inputsReadBy(done);
  const heard = spokenInputs(window.inputs)
    .filter((input) => input.number <= consumed)
    .map(
      (input, n): UserRow => ({ v: 1, kind: 'user', seq: execution.seq, n, at: input.at, content: inputText(input) }),
    );
  const shown = [...heard, ...(bought === undefined ? [] : [bought.reply]), ...done.rows];
  const windowTokens = execution.windowTokens + tokensOf(shown);
  const overflows = windowTokens > window.pinned.contextTokens && execution.windowFrom < execution.seq;
  const delaySeconds = window.pinned.stepDelaySeconds ?? deps.settings.stepDelaySeconds;
  return {
    calls: bought === undefined ? 0 : 1,
    tokensIn: bought?.reply.tokensIn ?? 0,
    tokensOut: bought?.reply.tokensOut ?? 0,
    spent: bought?.spent ?? NOTHING_SPENT,
    consumed,
    nextPhase: overflows ? 'summarise' : 'think',
    worst: bought?.worst ?? execution.worst,
    delaySeconds: overflows || !pause ? 0 : delaySeconds,
    windowFrom: execution.windowFrom,
    summarySeq: execution.summarySeq,
    reply: bought?.reply,
    rows: done.rows,
    changes: [
      set(A.windowTokens, windowTokens),
      set(A.stepId, position),
      bought === undefined ? add(A.idleSteps, 1) : set(A.idleSteps, 0),
      ...queueChanges(done.queues),
      ...(done.repeats === undefined
        ? []
        : [set(A.repeatHash, done.repeats.hash), set(A.repeatCount, done.repeats.count)]),
    ],
  };
};

/** Goes on at a position. @param pause whether the configured pause between steps comes first */
export const goTo = async (frame: Frame, done: Done, position: Position, pause: boolean): Promise<void> => {
  const { deps, lease, execution, delivery } = frame.turn;
  await commitStep(deps, lease, execution, delivery, stepDone(frame, done, position, pause));
};

/** Commits and stops until a person looks; a resume goes on at `position`. */
export const stopAt = async (
  frame: Frame,
  done: Done,
  position: Position,
  stop: Omit<Stop, 'event'>,
): Promise<void> => {
  const { deps, lease, execution, delivery } = frame.turn;
  const step = stepDone(frame, done, position, true);
  const ending = { status: 'ERROR_PAUSED' as const, stop: { event: 'error' as const, ...stop } };
  // Paused meanwhile: a person looks at it anyway, and what was wrong shows again after the resume.
  if ((await commitEnding(deps, lease, execution, delivery, step, ending)) === 'ended') return;
  await commitStep(deps, lease, execution, delivery, step);
};

/** True when no message that somebody waits to see answered is left unread. */
const allRead = ({ turn, window }: Frame, done: Done): boolean => {
  const read = inputsReadBy(done);
  const loaded = window.inputs.at(-1)?.number ?? turn.execution.consumed;
  return turn.execution.inputs <= loaded && !window.inputs.some((input) => asksForMore(input) && input.number > read);
};

const endResult = async (frame: Frame, done: Done, template: string | undefined): Promise<string> => {
  const last = done.result ?? lastResult(frame);
  if (template === undefined) return last;
  // As this turn leaves it: its own task counts as completed.
  const after = { ...frame, queues: done.queues ?? frame.queues };
  return render(template, { ...(await valuesFor(after, template, frame.turn.execution.seq + 1)), last });
};

/** Somebody's message came before the end: what is still to be written, and where the run stays. */
export type Stay = () => Promise<{ readonly rows: readonly FeedRow[]; readonly position: Position }>;

/**
 * Goes where a turn leads. The end of a run is the commit of the turn that leads to it, and waits for unread messages:
 * they are answered at the END step, or where `stay` says.
 */
export const go = async (frame: Frame, done: Done, next: Next, stay?: Stay): Promise<void> => {
  const { deps, lease, execution, delivery } = frame.turn;
  const pause = 'bought' in done.by;
  switch (next.to) {
    case 'step':
      return goTo(frame, done, next.position, pause);
    case 'nowhere': {
      const message = `${next.problem} Resume to try the step again.`;
      return stopAt(frame, done, inPhase(frame.position, retryPhase(frame)), { reason: 'no_edge', message });
    }
    case 'end': {
      // What the prompt contained, and the answers to this reply's own questions, which are outcomes by now.
      const answered = [...frame.leftovers.questions.values()].filter(({ state }) => state === 'answered').length;
      const waking = 'bought' in done.by ? done.by.bought.reply.waking + answered : execution.wakingInputs;
      if ('bought' in done.by || allRead(frame, done)) {
        const result = await endResult(frame, done, next.step.result);
        const changes = result === '' ? [] : await resultChanges(frame, result);
        const ending = { status: 'COMPLETED' as const, changes, waking };
        const step = stepDone(frame, done, next.position, pause);
        if ((await commitEnding(deps, lease, execution, delivery, step, ending)) === 'ended') return;
      }
      const { rows, position } = (await stay?.()) ?? { rows: [], position: next.position };
      return goTo(frame, { ...done, rows: [...done.rows, ...rows] }, position, pause);
    }
  }
};

/** A choice is made again, the tool before it does not run again. */
const retryPhase = ({ standing }: Frame): 'choose' | undefined =>
  standing.place.phase === 'choose' || standing.place.phase === 'choose-repair' ? 'choose' : undefined;
