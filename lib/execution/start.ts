import { agentStands, getAgent, pinnedConfig } from '../agent/agent.ts';
import type { ConfigEntries } from '../agent/config-keys.ts';
import { notFound } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import { exists, missing, TransactionRefused, type Value, type Write } from '../kernel/table.ts';
import { estimateTokens } from '../model/tokens.ts';
import { type Execution, newExecutionItem, readExecution } from './execution.ts';
import { feedItem } from './feed.ts';
import { stallMark } from './mark.ts';
import { messageFor } from './message.ts';
import { type Pinned, pinnedItem } from './rows.ts';
import { worstCase } from './step/buy.ts';
import type { ExecutionDeps, StepDeps } from './step/deps.ts';
import { FIRST_MESSAGE } from './step/prompt.ts';

export interface NewRun {
  readonly orgId: string;
  readonly agentId: string;
  readonly executionId: string;
  readonly name?: string | undefined;
  /** Checked already; wins key by key over the agent's configuration and is pinned with it. */
  readonly config: ConfigEntries;
  /** Written in the same transaction. */
  readonly alongside: (execution: Execution) => readonly Write[];
}

export type StartDeps = ExecutionDeps & Pick<StepDeps, 'resolveModel'>;

/**
 * Starts a run: one transaction, then the first wake-up. If we die between the two, `sweep` finds the mark.
 * @throws AppError 404 for the agent; TransactionRefused when only what is `alongside` was refused
 */
export const startExecution = async (deps: StartDeps, run: NewRun): Promise<Execution> => {
  const { orgId, agentId, executionId } = run;
  const agent = await getAgent(deps.table, orgId, agentId);
  const { entries, config } = pinnedConfig(agent, run.config);
  const model = await deps.resolveModel(orgId, config.model);
  const pinned: Pinned = {
    goals: [...config.goals],
    instructions: [...config.instructions],
    constraints: [...config.constraints],
    tools: config.tools && [...config.tools],
    model: config.model,
    temperature: config.temperature,
    userTimezone: config.userTimezone,
    maxReplyTokens: config.maxReplyTokens,
    contextTokens: config.contextTokens,
    repeatLimit: config.repeatLimit,
    stepDelaySeconds: config.stepDelaySeconds,
    permissionType: config.permissionType,
    permissionTools: config.permissionTools && [...config.permissionTools],
    config: entries,
  };
  const now = deps.clock.now();
  const item = newExecutionItem(
    {
      executionId,
      orgId,
      agentId,
      projectId: agent.projectId,
      name: run.name ?? agent.name,
      stepId: `${agent.workflow}/think`,
      limits: {
        maxIterations: config.maxIterations,
        maxSteps: config.maxSteps,
        maxTokens: config.maxTokens,
        maxCost: Math.round(config.maxCostUsd * 1e6),
        maxSeconds: config.maxSeconds,
      },
      worst: model === undefined ? 0 : worstCase(pinned, model),
      priceUnknown: model !== undefined && model.price === undefined,
      windowTokens: estimateTokens(FIRST_MESSAGE),
    },
    now,
    stallMark(executionId, now),
  );
  const execution = readExecution(item);
  const change = { execution, from: 'CREATED' as const, to: 'RUNNING' as const, reason: undefined, at: now };
  const own: readonly Write[] = [
    { put: item, if: missing('pk') },
    agentStands(orgId, agentId),
    { put: pinnedItem(orgId, executionId, pinned) },
    {
      put: feedItem(orgId, executionId, {
        kind: 'user',
        seq: 0,
        n: 0,
        at: now,
        content: FIRST_MESSAGE,
        origin: 'system',
      }),
    },
    { put: { ...keys.agentExecution(orgId, agentId, executionId), v: 1, at: now as Value } },
    { check: keys.organisation(orgId), if: exists('pk') },
    ...deps.upper.writes(change),
  ];
  try {
    await deps.table.transact([...own, ...run.alongside(execution)]);
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error;
    // The same id was started before: a repeat of an event or of a request whose answer was lost.
    const there = error.refused[0] ? error.items[0] : undefined;
    if (there !== undefined) return wake(deps, readExecution(there));
    if (error.refused[1]) throw notFound('agent');
    throw error;
  }
  await deps.upper.wake(change);
  return wake(deps, execution);
};

const wake = async (deps: StartDeps, execution: Execution): Promise<Execution> => {
  await deps.steps.send(messageFor(execution), { delaySeconds: 0, tenant: execution.orgId });
  return execution;
};
