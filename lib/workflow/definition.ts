/**
 * A workflow as data, on two levels: agent steps joined by labelled edges, and inside an ITERATION step a small workflow of
 * model calls. Nothing that happens at run time is kept here: position and tasks belong to the execution.
 */
import * as z from 'zod';

const name = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,59}$/, 'lower-case letters, digits, - and _, at most 60');
// Shorter than a name: a position holds a name and two ids, and stands in a row that every step writes.
const id = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, 'lower-case letters, digits, - and _, at most 40');
const label = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9 _-]{0,39}$/, 'letters, digits, blanks, - and _, at most 40');
/** A model chooses badly between more, and labels are compared each with each. */
const MOST_EDGES = 40;
/** What a list of tasks holds, and so one reply: each is a row, and a list that changes is written anew. */
export const MOST_TASKS = 500;
const prose = z.string().min(1).max(8_000);

/** Taken when no edge has the label that came out. */
export const DEFAULT_EDGE = 'default';
/** What an ITERATION or TASK_QUEUE step comes out with when its work is done. */
export const COMPLETE_EDGE = 'COMPLETE';
/** What ASK_PERMISSION and a boolean CONDITION come out with. */
export const YES_EDGE = 'YES';
export const NO_EDGE = 'NO';

/** Label → id of the next step. Labels are compared without regard to case and surrounding blanks (`edges.ts`). */
const edges = z
  .record(label, id)
  .refine((given) => Object.keys(given).length <= MOST_EDGES, `at most ${MOST_EDGES} edges`);

/** What a model call of an inner step gives: calls of tools, tasks to put before the others, tasks that stand in place of all. */
export const OUTPUT_KINDS = ['tools', 'tasks', 'replace-tasks'] as const;

const iterationStepSchema = z.strictObject({
  /** Placeholders: {goals} {instructions} {constraints} {task} {pending} {completed} {last}. */
  prompt: prose,
  output: z.enum(OUTPUT_KINDS),
  /** Whether the model is shown the steps before this one. */
  history: z.boolean().default(true),
  /** Last message of the prompt. */
  completionPrompt: prose.optional(),
  /** Most tasks that one reply may add. */
  maxTasks: z.int().min(1).max(MOST_TASKS).optional(),
  /** Next inner step; missing: leave the iteration. */
  next: id.optional(),
});

const iterationSchema = z.strictObject({
  /** Tools work on the first pending task; the iteration is COMPLETE when none is left, not when the model says so. */
  taskQueue: z.boolean().default(false),
  start: id,
  steps: z.record(id, iterationStepSchema),
});

const stepSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('ITERATION'), iteration: id, next: edges }),
  z.strictObject({
    kind: z.literal('TOOL'),
    /** The tools that this step may use: the model chooses one of them and its arguments. */
    tools: z.array(z.string().min(1).max(100)).min(1).max(20),
    instruction: prose,
    history: z.boolean().default(true),
    completionPrompt: prose.optional(),
    /** With it a second model call chooses the edge by the tool's result. */
    choose: prose.optional(),
    next: edges,
  }),
  z.strictObject({
    kind: z.literal('WAIT'),
    seconds: z.int().min(1).max(31_536_000),
    /** Whether a message to the execution ends the wait. */
    wakeOnInput: z.boolean().default(false),
    next: edges,
  }),
  z.strictObject({
    kind: z.literal('TASK_QUEUE'),
    /** How the model makes tasks of the last result, once for each run of the queue. */
    instruction: prose,
    next: edges,
  }),
  z.strictObject({ kind: z.literal('ASK_PERMISSION'), question: prose, next: edges }),
  z.strictObject({
    kind: z.literal('CONDITION'),
    /** A question that the model answers with the label of an edge. */
    question: prose.optional(),
    /** Or a CEL expression over {last, task, input, json}: a boolean (YES, NO) or the label itself (`expression.ts`). */
    expression: z.string().min(1).max(1_000).optional(),
    history: z.boolean().default(true),
    next: edges,
  }),
  z.strictObject({
    kind: z.literal('END'),
    /** The result of the run; missing: the last result. Placeholders as in prompts. */
    result: prose.optional(),
  }),
]);

export const workflowDefinitionSchema = z.strictObject({
  name,
  description: z.string().max(2_000).default(''),
  start: id,
  steps: z.record(id, stepSchema),
  iterations: z.record(id, iterationSchema).default({}),
});

export type WorkflowDefinition = z.output<typeof workflowDefinitionSchema>;
export type WorkflowStep = WorkflowDefinition['steps'][string];
export type StepKind = WorkflowStep['kind'];
export type Iteration = WorkflowDefinition['iterations'][string];
export type IterationStep = Iteration['steps'][string];
