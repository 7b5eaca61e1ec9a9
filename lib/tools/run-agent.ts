import * as z from 'zod';
import type { Tool } from './tool.ts';

const schema = z
  .strictObject({
    agentId: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('An agent of this organisation, agt_…, that does the work.'),
    goal: z
      .string()
      .min(1)
      .max(20_000)
      .optional()
      .describe(
        'What is to be achieved, with everything needed to do so. Without agentId a run like this one does it.',
      ),
    instructions: z.string().min(1).max(20_000).optional().describe('How it is to work, beside its own instructions.'),
    tools: z
      .array(z.string().min(1).max(200))
      .max(200)
      .optional()
      .describe('The tools it may use, at most those of this run. Without it: those that both may use.'),
    maxCostUsd: z
      .number()
      .positive()
      .max(1_000_000)
      .optional()
      .describe('What it may cost, US dollars; it comes out of what this run may cost. Without it: a share.'),
  })
  .refine(({ agentId, goal }) => agentId !== undefined || goal !== undefined, {
    error: 'agentId, or goal, or both',
  });
export type RunAgentArguments = z.infer<typeof schema>;

/** Name of the call that starts a run of another agent; the engine looks for it, starts the run and waits for its end. */
export const RUN_AGENT = 'run_agent';

export const runAgent: Tool<RunAgentArguments> = {
  name: RUN_AGENT,
  description:
    'Has another agent do a part of the work and waits for its result. Several calls in one reply run at the same time. The run sees nothing of this conversation but what you give it, may use no tool that you may not use, and is paid for by your budget.',
  schema,
  effect: () => 'idempotent',
  named: true,
  timeoutSeconds: 30,
  /** Reached only where no run can be started: the engine does it before it would execute this. */
  execute: async () => ({ ok: false, text: 'No other agent can be run here. Do the work yourself.' }),
};
