/** The smaller rows of an execution: what people said (INPUT), what they were asked (ASK), calls that began (STARTED), the pinned configuration. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { UnreadableRow } from '../kernel/errors.ts';
import { keys, owner } from '../kernel/keys.ts';
import type { Item, Value } from '../kernel/table.ts';
import { type WorkflowDefinition, workflowDefinitionSchema } from '../workflow/definition.ts';
import { count, jsonObject, time } from './row-fields.ts';

const ROW_VERSION = 1;
const version = { v: z.literal(ROW_VERSION) };

const reader =
  <Schema extends z.ZodType>(schema: Schema) =>
  /** @throws UnreadableRow */
  (item: Item): z.output<Schema> => {
    const parsed = schema.safeParse(item);
    if (!parsed.success) throw new UnreadableRow(item, z.prettifyError(parsed.error));
    return parsed.data;
  };

/** Leaves out what is absent: the table stores no `undefined`. */
const compact = (fields: { readonly [name: string]: Value | undefined }): { [name: string]: Value } => {
  const present: { [name: string]: Value } = { v: ROW_VERSION };
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) present[name] = value;
  return present;
};

/** A typed input. `wake: false` is data that must not hold back the end of a run. */
const inputSchema = z.object({
  ...version,
  number: count,
  /** The counter of waking inputs after this one. */
  waking: count,
  kind: z.string(),
  origin: z.string(),
  trust: z.enum(['explicit', 'data']),
  wake: z.boolean(),
  dedupeKey: z.string().optional(),
  replyTo: z.string().optional(),
  text: z.string(),
  /** The question it answers: its text then reaches the model as that call's outcome. */
  answers: z.string().optional(),
  at: time,
});
export type InputRow = z.infer<typeof inputSchema>;
export const readInput = reader(inputSchema);
export const inputItem = (orgId: string, executionId: string, row: Omit<InputRow, 'v'>): Item => ({
  ...keys.input(orgId, executionId, row.number),
  ...compact(row),
});

/** Of inputs under one key the first counts; `number` is its own. */
export const dedupeItem = (
  { orgId, executionId }: { readonly orgId: string; readonly executionId: string },
  dedupeKey: string,
  number: number,
): Item => ({
  ...keys.inputDedupe(orgId, executionId, createHash('sha256').update(dedupeKey).digest('hex')),
  ...compact({ number }),
});
/** Stands in for a tool's name where a workflow itself asks a person; `why` is its question. */
export const WORKFLOW_STEP = 'workflow_step';

/** `expired`: nobody decided in time, which counts as a rejection. */
export const ASK_STATES = ['pending', 'approved', 'rejected', 'expired', 'answered', 'cancelled'] as const;
const askSchema = z.object({
  ...version,
  askId: z.string(),
  kind: z.enum(['permission', 'question']),
  orgId: z.string(),
  executionId: z.string(),
  agentId: z.string().optional(),
  seq: count,
  n: count,
  state: z.enum(ASK_STATES),
  tool: z.string(),
  /** The exact arguments, as the model wrote them. */
  arguments: z.string(),
  argumentsHash: z.string(),
  /** The question, or the model's words beside the call. */
  why: z.string(),
  feedback: z.string().optional(),
  decidedBy: z.string().optional(),
  decidedAt: time.optional(),
  /** When the clock settles it in a person's place; the row's mark in the `due` index finds it then. */
  expiresAt: time.optional(),
  onExpiry: z.enum(['reject', 'pause']).optional(),
  duePk: z.string().optional(),
  dueSk: z.string().optional(),
  at: time,
});
export type AskRow = z.infer<typeof askSchema>;
export const readAsk = reader(askSchema);
export const askItem = (row: Omit<AskRow, 'v'>): Item =>
  row.kind === 'question'
    ? { ...keys.question(row.orgId, row.executionId, row.seq, row.n), ...compact(row) }
    : {
        ...keys.ask(row.orgId, row.executionId, row.seq, row.n),
        ownerPk: owner.asks(row.orgId),
        ownerSk: row.askId,
        ...compact(row),
      };

const startedSchema = z.object({ ...version, creator: z.string(), at: time });
export const readStarted = reader(startedSchema);
export const startedItem = (
  orgId: string,
  executionId: string,
  seq: number,
  n: number,
  creator: string,
  at: number,
): Item => ({ ...keys.started(orgId, executionId, seq, n), ...compact({ creator, at }) });

/** What a run keeps from its agent: editing the agent does not alter it. */
const pinnedSchema = z.object({
  ...version,
  goals: z.array(z.string()).default([]),
  instructions: z.array(z.string()).default([]),
  constraints: z.array(z.string()).default([]),
  tools: z.array(z.string()).optional(),
  model: z.string().optional(),
  fallbackModels: z.array(z.string()).optional(),
  temperature: z.number().optional(),
  userTimezone: z.string().optional(),
  maxReplyTokens: z.number().int(),
  contextTokens: z.number().int(),
  repeatLimit: z.number().int(),
  stepDelaySeconds: z.number().int().optional(),
  permissionType: z.enum(['GOD_MODE', 'RESTRICTED']).optional(),
  permissionTools: z.array(z.string()).optional(),
  permissionTtlSeconds: z.number().int().optional(),
  permissionExpiry: z.enum(['reject', 'pause']).optional(),
  /** Of a worker: tools that are denied, or need a person's leave, once words from outside have entered the run. */
  tainted: z.record(z.string(), z.enum(['ask', 'deny'])).optional(),
  /** The definition that this run keeps, as JSON; missing in plain `goal` runs. */
  workflow: z.string().optional(),
  /** The rest of the configuration, for tools; JSON text, because DynamoDB nests no deeper than 32 levels. */
  json: z.string(),
});
export type Pinned = Omit<z.infer<typeof pinnedSchema>, 'json' | 'v' | 'workflow'> & {
  readonly workflow?: WorkflowDefinition | undefined;
  readonly config: { readonly [key: string]: unknown };
};

/** Kept once, in attributes of their own: a row holds 400 KB, and these can be most of a configuration's 300. */
const APART = ['goals', 'instructions', 'constraints'] as const;

/** @throws UnreadableRow */
export const readPinned = (item: Item): Pinned => {
  const { json, v: _, workflow, ...row } = readPinnedRow(item);
  const apart = APART.filter((key) => row[key].length > 0).map((key) => [key, row[key]] as const);
  return {
    ...row,
    ...(workflow !== undefined && { workflow: readWorkflow(item, jsonObject(item, workflow)) }),
    config: { ...Object.fromEntries(apart), ...jsonObject(item, json) },
  };
};
const readWorkflow = (item: Item, json: unknown): WorkflowDefinition => {
  const parsed = workflowDefinitionSchema.safeParse(json);
  if (!parsed.success) throw new UnreadableRow(item, z.prettifyError(parsed.error));
  return parsed.data;
};
const readPinnedRow = reader(pinnedSchema);

export const pinnedItem = (orgId: string, executionId: string, { config, workflow, ...rest }: Pinned): Item => {
  const others = Object.entries(config).filter(([key]) => !APART.some((apart) => apart === key));
  return {
    ...keys.pinned(orgId, executionId),
    ...compact({
      ...rest,
      workflow: workflow && JSON.stringify(workflow),
      json: JSON.stringify(Object.fromEntries(others)),
    }),
  };
};
