import type { WorkflowDefinition } from '../../../workflow/definition.ts';
import { formatPosition, type Position, type Standing, standingAt } from '../../../workflow/machine.ts';
import type { FeedRow, ReplyRow } from '../../feed.ts';
import type { InputRow } from '../../rows.ts';
import type { Turn } from '../claimed.ts';
import type { Window } from '../load.ts';
import type { Leftovers } from '../recover.ts';
import type { Queues } from './queues.ts';

/** Everything that one turn of a workflow works with. */
export interface Frame {
  readonly turn: Turn;
  readonly window: Window;
  readonly leftovers: Leftovers;
  readonly definition: WorkflowDefinition;
  readonly position: Position;
  readonly standing: Standing;
  readonly queues: Queues;
}

/** @throws Error when the row stands where its own pinned definition has no step: a damaged row, not a state */
export const frameOf = (turn: Turn, window: Window, leftovers: Leftovers, definition: WorkflowDefinition): Frame => {
  const { stepId, queues = {} } = turn.execution;
  const standing = standingAt(definition, stepId);
  if (standing === undefined) throw new Error(`The workflow ${definition.name} has no position "${stepId}".`);
  const position = formatPosition(standing.place);
  return { turn, window, leftovers, definition, position, standing, queues };
};

const newestFirst = (rows: readonly FeedRow[]): readonly ReplyRow[] =>
  rows.flatMap((row) => (row.kind === 'reply' ? [row] : [])).sort((a, b) => b.seq - a.seq);

/** The reply before this step, whatever it was about. */
export const replyBefore = ({ window }: Pick<Frame, 'window'>): ReplyRow | undefined => newestFirst(window.rows)[0];

/** What a reply came to: the outcomes of its calls, or its own words. */
export const resultOf = (reply: ReplyRow, rows: readonly FeedRow[]): string => {
  const outcomes = rows
    .flatMap((row) => (row.kind === 'tool' && row.seq === reply.seq ? [row] : []))
    .sort((a, b) => a.n - b.n)
    .map(({ content }) => content);
  const told = outcomes.join('\n').trim();
  return told === '' ? reply.content.trim() : told;
};

/** A message that somebody waits to see answered. The answer to a question is read as that call's outcome. */
export const asksForMore = (input: InputRow): boolean => input.wake && input.answers === undefined;

/** What has come of the present task: of the last step since it was taken, and nothing from before. */
export const resultSince = ({ window }: Pick<Frame, 'window'>, since: number): string => {
  const rows = window.rows.filter((row) => row.seq > since);
  const decided = rows.flatMap((row) => (row.kind === 'step' ? [row.content] : [])).at(-1);
  return lastResult({ window: { ...window, rows, summary: undefined } }) || (decided ?? '');
};

/** The result of the last step that had one. What the model answered to the workflow itself is none. */
export const lastResult = ({ window }: Pick<Frame, 'window'>): string => {
  for (const reply of newestFirst(window.rows)) {
    const result = reply.aside === true ? '' : resultOf(reply, window.rows);
    if (result !== '') return result;
  }
  return window.summary?.content ?? '';
};
