import { agentStands, getAgent, pinnedConfig } from '../agent/agent.ts';
import type { ConfigEntries } from '../agent/config-keys.ts';
import { notFound } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import { exists, missing, TransactionRefused, type Value, type Write } from '../kernel/table.ts';
import { estimateTokens } from '../model/tokens.ts';
import { type Execution, newExecutionItem, type ParentCall, readExecution } from './execution.ts';
import { feedItem } from './feed.ts';
import { stallMark } from './mark.ts';
import { messageFor } from './message.ts';
import { type Pinned, pinnedItem } from './rows.ts';
import { dearest, resolveAll } from './step/choose-model.ts';
import type { ExecutionDeps, StepDeps } from './step/deps.ts';
import { FIRST_MESSAGE } from './step/prompt.ts';
import { PLAIN_POSITION, pinWorkflow } from './step/workflow/pin.ts';

export interface NewRun {
  readonly orgId: string;
  readonly agentId: string;
  readonly executionId: string;
  readonly name?: string | undefined;
  /** Checked already; wins key by key over the agent's configuration and is pinned with it. */
  readonly config: ConfigEntries;
  /** The schedule whose occurrence this run is. */
  readonly scheduleId?: string | undefined;
  /** Asked once the run stands: seconds by which its first step and the news of it step aside. Without it they do not. */
  readonly aside?: (() => number) | undefined;
  /** The call of another run that starts this one: its configuration is whole, nothing of the agent's own is added. */
  readonly parent?: (ParentCall & { readonly workflow?: string | undefined }) | undefined;
  /** Written in the same transaction. */
  readonly alongside: (execution: Execution) => readonly Write[];
}

export type StartDeps = ExecutionDeps & Pick<StepDeps, 'resolveModel'>;

/**
 * Starts a run: one transaction, then the first wake-up. If we die between the two, `sweep` finds the mark.
 * @throws AppError 404 for the agent; 409 for its workflow; TransactionRefused when only what is `alongside` was refused
 */
export const startExecution = async (deps: StartDeps, run: NewRun): Promise<Execution> =>
  (await startOnce(deps, run)).execution;

export interface Started {
  readonly execution: Execution;
  /** False when the same id was started before: nothing was written then, what is `alongside` neither. */
  readonly fresh: boolean;
}

/** As `startExecution`, and says whether this very call has started it. */
export const startOnce = async (deps: StartDeps, run: NewRun): Promise<Started> => {
  const { orgId, agentId, executionId } = run;
  const agent = await getAgent(deps.table, orgId, agentId);
  const whose = run.parent === undefined ? agent : { config: {} };
  const { entries, config } = pinnedConfig(whose, run.config);
  const [models, workflow] = await Promise.all([
    resolveAll(deps, orgId, config),
    pinWorkflow(deps, orgId, run.parent?.workflow ?? agent.workflow, config.tools),
  ]);
  const pinned: Pinned = {
    goals: [...config.goals],
    instructions: [...config.instructions],
    constraints: [...config.constraints],
    tools: config.tools && [...config.tools],
    model: config.model,
    ...(config.fallbackModels.length > 0 && { fallbackModels: [...config.fallbackModels] }),
    temperature: config.temperature,
    userTimezone: config.userTimezone,
    maxReplyTokens: config.maxReplyTokens,
    contextTokens: config.contextTokens,
    repeatLimit: config.repeatLimit,
    stepDelaySeconds: config.stepDelaySeconds,
    permissionType: config.permissionType,
    permissionTools: config.permissionTools && [...config.permissionTools],
    permissionTtlSeconds: config.permissionTtlSeconds,
    permissionExpiry: config.permissionExpiry,
    ...(workflow !== undefined && { workflow: workflow.definition }),
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
      stepId: workflow?.position ?? PLAIN_POSITION,
      limits: {
        maxIterations: config.maxIterations,
        maxSteps: config.maxSteps,
        maxTokens: config.maxTokens,
        maxCost: Math.round(config.maxCostUsd * 1e6),
        maxSeconds: config.maxSeconds,
      },
      worst: dearest(pinned, models),
      priceUnknown: models.some(({ price }) => price === undefined),
      windowTokens: estimateTokens(FIRST_MESSAGE),
      scheduleId: run.scheduleId,
      parent: run.parent,
      model: models[0]?.model,
    },
    now,
    stallMark(executionId, now),
  );
  const execution = readExecution(item);
  const created = { ...execution, changes: 0 };
  const change = { execution: created, from: 'CREATED' as const, to: 'RUNNING' as const, reason: undefined, at: now };
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
    if (there !== undefined) return { execution: await wake(deps, readExecution(there)), fresh: false };
    if (error.refused[1]) throw notFound('agent');
    throw error;
  }
  const aside = run.aside?.() ?? 0;
  await deps.upper.wake({ ...change, aside });
  return { execution: await wake(deps, execution, aside), fresh: true };
};

const wake = async (deps: StartDeps, execution: Execution, delaySeconds = 0): Promise<Execution> => {
  await deps.steps.send(messageFor(execution), { delaySeconds, tenant: execution.orgId });
  return execution;
};
