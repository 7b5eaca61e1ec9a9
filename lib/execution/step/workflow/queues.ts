/**
 * The tasks of a run. Each list of tasks is a generation of rows that never change, written before the commit; counters in
 * the execution row say which generation counts and where it stands, so that a list shows as a whole at a commit or never.
 */
import * as z from 'zod';
import { UnreadableRow } from '../../../kernel/errors.ts';
import { keys } from '../../../kernel/keys.ts';
import { ConditionFailed, type Item, missing } from '../../../kernel/table.ts';
import type { Turn } from '../claimed.ts';
import { allPages } from '../load.ts';

/** Generation, index of the next task, index after the last, and the seq after which the steps are about the present task. */
export type QueueState = readonly [generation: number, head: number, tail: number, since: number];
/** By the id of the TASK_QUEUE step; the iterations of a run share one. */
export type Queues = { readonly [id: string]: QueueState };

/** No step has this id. */
export const ITERATIONS = '*';

const VERSION = 1;
/** Of a finished task the beginning of its result is kept. */
const EXCERPT = 500;
/** Finished tasks that a prompt can show. */
const SHOWN = 50;

const taskSchema = z.object({ v: z.literal(VERSION), text: z.string() });
const doneSchema = z.object({ v: z.literal(VERSION), queue: z.string(), text: z.string(), result: z.string() });

const read = <Schema extends z.ZodType>(schema: Schema, item: Item): z.output<Schema> => {
  const parsed = schema.safeParse(item);
  if (!parsed.success) throw new UnreadableRow(item, z.prettifyError(parsed.error));
  return parsed.data;
};

export const isEmpty = (queue: QueueState | undefined): boolean => queue === undefined || queue[1] >= queue[2];

/** Tasks from index `from` to before `to` of the generation that counts. */
const tasksBetween = async (
  { deps, execution }: Turn,
  [generation]: QueueState,
  from: number,
  to: number,
): Promise<readonly string[]> => {
  if (to <= from) return [];
  const range = keys.taskRange(execution.orgId, execution.executionId, generation, from, to);
  const items = await allPages(deps.table, { ...range, consistent: true });
  if (items.length !== to - from) throw new Error(`${items.length} of ${to - from} tasks of ${generation} are there.`);
  return items.map((item) => read(taskSchema, item).text);
};

export const pendingTasks = async (turn: Turn, queue: QueueState | undefined): Promise<readonly string[]> =>
  queue === undefined ? [] : tasksBetween(turn, queue, queue[1], queue[2]);

export const taskAt = async (turn: Turn, queue: QueueState, index: number): Promise<string> => {
  const [task] = await tasksBetween(turn, queue, index, index + 1);
  return task ?? '';
};

/**
 * Writes a list of tasks as the generation of this step. What it holds follows from the stored reply and the row that was
 * claimed, so every holder of this step writes the same.
 */
export const writeGeneration = async (
  { deps, execution }: Turn,
  tasks: readonly string[],
  since: number,
): Promise<QueueState> => {
  const { orgId, executionId, seq } = execution;
  const rows = tasks.map((text, index): Item => ({ ...keys.task(orgId, executionId, seq, index), v: VERSION, text }));
  const written = await Promise.allSettled(rows.map((row) => deps.table.put(row, missing('pk'))));
  for (const each of written) {
    if (each.status === 'rejected' && !(each.reason instanceof ConditionFailed)) throw each.reason;
  }
  return [seq, 0, tasks.length, since];
};

/** Keeps what a task came to; shown to steps after this one. */
export const writeDone = async (
  { deps, execution }: Turn,
  queue: string,
  text: string,
  result: string,
): Promise<void> => {
  const key = keys.taskDone(execution.orgId, execution.executionId, execution.seq);
  try {
    await deps.table.put({ ...key, v: VERSION, queue, text, result: result.slice(0, EXCERPT) }, missing('pk'));
  } catch (error) {
    // An earlier holder's: what was finished by this step does not change.
    if (!(error instanceof ConditionFailed)) throw error;
  }
};

/**
 * The latest finished tasks with their results, in their order.
 * @param queue of one queue; missing: of all
 * @param before finished by steps below this one
 */
export const doneTasks = async (
  { deps, execution }: Turn,
  queue: string | undefined,
  before: number,
): Promise<readonly string[]> => {
  const page = await deps.table.query({
    ...keys.tasksDoneBefore(execution.orgId, execution.executionId, before),
    newestFirst: true,
    limit: SHOWN,
    consistent: true,
  });
  return page.items
    .map((item) => read(doneSchema, item))
    .filter((done) => queue === undefined || done.queue === queue)
    .map(({ text, result }) => `${text}: ${result}`)
    .reverse();
};
