/** Turns without a model call. What such a step decided is stored before its commit, like a reply, and not decided twice. */
import { ConditionFailed, missing, TransactionRefused } from '../../../kernel/table.ts';
import { edgeOf } from '../../../workflow/edges.ts';
import { afterOuter, type Next } from '../../../workflow/machine.ts';
import { feedItem, REPLY_N, readFeedRow, type StepRow, type UserRow } from '../../feed.ts';
import { quietLimitReached } from '../fuses.ts';
import { inputText, spokenInputs } from '../prompt.ts';
import { stopStep } from '../stop.ts';
import type { Frame } from './frame.ts';
import { type Done, go, stopAt } from './go.ts';
import type { Queues } from './queues.ts';

/** What a step without a model call has come to. */
export interface Decided {
  /** A sentence for the feed. */
  readonly content: string;
  /** Missing: nothing usable came out, and a person has to look. */
  readonly label?: string | undefined;
  /** Messages that it has read itself: no later step is shown them as new. */
  readonly readsInputs?: boolean | undefined;
  /** What a person said about it. */
  readonly said?: string | undefined;
}

const saidRow = (frame: Frame, content: string): UserRow => {
  const { execution, deps } = frame.turn;
  return { v: 1, kind: 'user', seq: execution.seq, n: 0, at: deps.clock.now(), content, origin: 'decision' };
};

const heardRows = ({ turn, window }: Frame): readonly UserRow[] =>
  spokenInputs(window.inputs).map((input, n) => ({
    v: 1,
    kind: 'user',
    seq: turn.execution.seq,
    n,
    at: input.at,
    content: inputText(input),
    origin: input.origin,
  }));

/** Put if absent: of two holders the first has decided. */
const store = async (frame: Frame, decided: Decided): Promise<StepRow> => {
  const { turn, window, position } = frame;
  const { deps, execution } = turn;
  const { orgId, executionId, seq } = execution;
  const reads = decided.readsInputs === true;
  const row: Omit<StepRow, 'v'> = {
    kind: 'step',
    seq,
    n: REPLY_N,
    at: deps.clock.now(),
    content: decided.content,
    place: position,
    ...(decided.label !== undefined && { label: decided.label }),
    inputs: reads ? (window.inputs.at(-1)?.number ?? execution.consumed) : execution.consumed,
    attempt: execution.claims,
    claimedAt: turn.claimedAt,
  };
  const beside = [
    ...(reads ? heardRows(frame) : []),
    ...(decided.said === undefined ? [] : [saidRow(frame, decided.said)]),
  ];
  const item = feedItem(orgId, executionId, row);
  const put = { put: item, if: missing('pk') };
  try {
    if (beside.length === 0) await deps.table.put(item, put.if);
    else await deps.table.transact([put, ...beside.map((user) => ({ put: feedItem(orgId, executionId, user) }))]);
    return { ...row, v: 1 };
  } catch (error) {
    const there =
      error instanceof ConditionFailed ? error.item : error instanceof TransactionRefused ? error.items[0] : undefined;
    if (there === undefined) throw error;
    const stored = readFeedRow(there);
    if (stored.kind !== 'step') throw new Error(`Step ${seq} holds a ${stored.kind} where a step belongs.`);
    return stored;
  }
};

/** Where a step of the outer level leads with a label; knows which queues are open. */
export const leaveBy = (frame: Frame, label: string, queues: Queues = frame.queues): Next => {
  const target = edgeOf(frame.standing.step, label);
  return afterOuter(frame.definition, frame.position, label, target !== undefined && queues[target] !== undefined);
};

/** Where a turn without a model call leads. */
export interface Leads {
  /** Where the task queues stand after it came out with a label. */
  readonly queues?: (label: string) => Queues;
  /** Missing: by the edge of the label. */
  readonly next?: Next;
}

/**
 * A whole turn without a model call.
 * @param decide made once for the step, however often it is claimed; `undefined`: the step stands still
 */
export const quietly = async (
  frame: Frame,
  decide: () => Promise<Decided | undefined>,
  { queues, next }: Leads = {},
): Promise<void> => {
  const { turn, leftovers, position } = frame;
  const { deps, lease, execution } = turn;
  const stop = quietLimitReached(execution, deps.clock.now());
  if (stop !== undefined) return stopStep(deps, lease, execution, stop, 0);
  let row: StepRow;
  if (leftovers.reply?.kind === 'step') row = leftovers.reply;
  else {
    const decided = await decide();
    if (decided === undefined) return;
    row = await store(frame, decided);
  }
  const { label } = row;
  const said = leftovers.asks.get(0)?.feedback;
  const rows = said === undefined ? [] : [saidRow(frame, said)];
  if (label === undefined) {
    const message = `${row.content} Resume to try the step again.`;
    return stopAt(frame, { by: { step: row }, rows }, position, { reason: 'no_usable_choice', message });
  }
  const done: Done = { by: { step: row }, rows, queues: queues?.(label) };
  return go(frame, done, next ?? leaveBy(frame, label, done.queues));
};
