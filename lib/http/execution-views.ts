import * as z from 'zod';
import { STATUSES } from '../execution/status.ts';

/** What users see of executions; every answer is parsed by these, so that nothing else leaves. */

const count = z.int().min(0);
const time = z.iso.datetime();

const limits = z.object({
  maxIterations: count,
  maxSteps: count.optional(),
  maxTokens: count.optional(),
  maxCostUsd: z.number().min(0),
  maxSeconds: count,
});

const now = z
  .object({
    state: z.string(),
    since: time,
    waitingOn: z.object({ kind: z.string(), id: z.string().optional() }).optional(),
    attempt: z.object({ n: count, max: count, nextAt: time.optional(), lastError: z.string().optional() }).optional(),
    sentence: z.string(),
  })
  .describe('What it does or waits for at this moment, also in one sentence.');

export const statusSchema = z.enum(STATUSES).meta({ id: 'ExecutionStatus' });

export const executionView = z
  .object({
    id: z.string(),
    agentId: z.string(),
    scheduleId: z.string().optional().describe('The schedule that started it.'),
    name: z.string(),
    parentId: z.string().optional().describe('The run whose call started it.'),
    children: z.array(z.string()).optional().describe('Runs that its calls started, oldest first; not in lists.'),
    status: statusSchema,
    reason: z.string().optional(),
    currentStepId: z.string(),
    seq: count,
    calls: count.describe('Model calls of steps; summaries and calls of tools count in tokens and cost only.'),
    tokens: z.object({ input: count, output: count, total: count }),
    costUsd: z.number().min(0),
    priceUnknown: z.boolean().optional().describe('The model has no known price: its calls count 0.'),
    limits,
    result: z.string().optional(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
    now: now.optional(),
    createdAt: time,
    updatedAt: time,
    finishedAt: time.optional(),
  })
  .meta({ id: 'Execution' });

export const feedRowView = z
  .object({
    seq: count,
    n: count,
    role: z.enum(['system', 'user', 'assistant', 'tool']),
    content: z.string(),
    toolCalls: z
      .array(z.object({ id: z.string(), name: z.string(), arguments: z.string().describe('As the model wrote them.') }))
      .optional(),
    toolCallId: z.string().optional(),
    createdAt: time,
  })
  .meta({ id: 'FeedRow' });

export const stepView = z
  .object({
    seq: count,
    phase: z.string().optional(),
    claimedAt: time.optional(),
    modelStartedAt: time.optional(),
    modelFinishedAt: time.optional(),
    toolsStartedAt: time.optional(),
    toolsFinishedAt: time.optional(),
    committedAt: time.optional(),
    attempts: count,
    model: z.string().optional(),
    tokens: z.object({ input: count, output: count, cached: count.optional() }),
    costUsd: z.number().min(0),
    finishReason: z.string().optional().describe('As the provider sent it.'),
    sent: z
      .object({
        fromSeq: count.optional(),
        toSeq: count.optional(),
        summarySeq: count.optional(),
        promptHash: z.string().optional(),
        promptTokens: count.optional(),
      })
      .optional()
      .describe('What the model was sent: the rows of the steps fromSeq to toSeq, and the summary made at summarySeq.'),
    toolCalls: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        outcome: z.string().optional(),
        startedAt: time.optional(),
        finishedAt: time.optional(),
      }),
    ),
  })
  .meta({ id: 'Step' });

export const fileView = z.object({ path: z.string(), bytes: count, updatedAt: time }).meta({ id: 'File' });

export const permissionView = z
  .object({
    id: z.string(),
    executionId: z.string(),
    agentId: z.string().optional(),
    status: z.enum(['pending', 'approved', 'rejected', 'expired', 'cancelled']),
    tool: z.string(),
    arguments: z.unknown().describe('As the model wrote them; an object where they are JSON.'),
    why: z.string(),
    argumentsHash: z.string().describe('SHA-256 of the exact call; a decision may name it.'),
    feedback: z.string().optional(),
    decidedBy: z.string().optional(),
    decidedAt: time.optional(),
    expiresAt: time.optional().describe('When it is rejected, or the run paused, if nobody has decided.'),
    createdAt: time,
  })
  .meta({ id: 'Permission' });

export const statusReport = z
  .object({
    code: z.int().min(0).max(3).describe('0 well, 1 worth a look, 2 something stands still, 3 broken.'),
    checks: z.array(z.object({ name: z.string(), code: z.int().min(0).max(3), detail: z.string() })),
  })
  .meta({ id: 'StatusReport' });

export type ExecutionView = z.output<typeof executionView>;
export type FeedRowView = z.output<typeof feedRowView>;
export type StepView = z.output<typeof stepView>;
export type FileView = z.output<typeof fileView>;
export type PermissionView = z.output<typeof permissionView>;
export type StatusReport = z.output<typeof statusReport>;
export type ExecutionStatus = z.output<typeof statusSchema>;
export type PermissionStatus = PermissionView['status'];
