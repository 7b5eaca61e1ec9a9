/** Starts the run that a call `run_agent` asks for: its rows and the parent's record of it stand in one transaction. */
import { createHash } from 'node:crypto';
import { getAgent } from '../../agent/agent.ts';
import { checkConfig, parseConfig } from '../../agent/config.ts';
import type { ConfigEntries } from '../../agent/config-keys.ts';
import { AppError } from '../../kernel/errors.ts';
import { makeIds } from '../../kernel/ids.ts';
import { keys } from '../../kernel/keys.ts';
import { add, and, lt, missing, oneOf, or, TransactionRefused, type Write } from '../../kernel/table.ts';
import { type Lease, LeaseLost } from '../../lease/lease.ts';
import type { RunAgentArguments } from '../../tools/run-agent.ts';
import { toolSpec } from '../../tools/spec.ts';
import { USUAL_WORKFLOW } from '../../workflow/built-ins.ts';
import { A, type Execution, readExecution } from '../execution.ts';
import { getExecution } from '../get.ts';
import type { Pinned } from '../rows.ts';
import { startOnce } from '../start.ts';
import { offeredTools } from '../step/act.ts';
import { dearest, resolveAll } from '../step/choose-model.ts';
import type { StepDeps } from '../step/deps.ts';
import { holds, stillHeld } from '../step/lease.ts';
import { firstPrompt } from '../step/prompt.ts';
import { worstOf } from '../step/reserve.ts';
import { asWorkedOut, freeOf } from './books.ts';
import { childItem } from './child-row.ts';
import { budgetFor, childConfig } from './config.ts';

/** Runs below runs: the third level starts none. */
export const MAX_DEPTH = 3;
/** Runs of one parent that have not ended, and of all below one run at the top. */
export const MAX_OPEN = 8;
export const MAX_OPEN_BELOW = 32;

const MAX_TRIES = 10;

export interface ChildCall {
  readonly n: number;
  readonly args: RunAgentArguments;
  /** When the reply was stored: the same for whoever carries it out. */
  readonly saidAt: number;
  /** Calls of this reply that are still to be started, this one included. */
  readonly toStart: number;
}

export interface ParentTurn {
  readonly deps: StepDeps;
  readonly lease: Lease;
  readonly execution: Execution;
  readonly pinned: Pinned;
  /** Names of the tools that it is offered. */
  readonly offered: readonly string[];
}

/** A sentence for the model: nothing was started. */
export class NotStarted extends Error {
  override readonly name = 'NotStarted';
}

/** The same call makes the same id, so that a crash or a copy of the message cannot start it twice. */
export const childIdOf = (parentId: string, seq: number, n: number, saidAt: number): string => {
  const hash = createHash('sha256').update(`${parentId} ${seq} ${n}`).digest();
  return makeIds((bytes) => hash.subarray(0, bytes)).next('exe', saidAt);
};

const tooMany = (execution: Execution): string | undefined => {
  if (execution.depth >= MAX_DEPTH) {
    return `The run was not started: you are ${MAX_DEPTH} runs below the first one, and deeper is not allowed. Do the work yourself.`;
  }
  if (execution.openChildren >= MAX_OPEN) {
    return `The run was not started: ${MAX_OPEN} that you started have not ended, and more at a time are not allowed.`;
  }
  return undefined;
};

const FULL_BELOW = `The run was not started: ${MAX_OPEN_BELOW} runs are open in this whole undertaking, and more at a time are not allowed.`;

/** Whose configuration the child begins from, and whose workflow. */
const origin = async (
  { deps, execution, pinned }: ParentTurn,
  args: RunAgentArguments,
): Promise<{ readonly agentId: string; readonly own: ConfigEntries; readonly workflow: string | undefined }> => {
  const { orgId } = execution;
  if (args.agentId === undefined) return { agentId: execution.agentId, own: pinned.config, workflow: USUAL_WORKFLOW };
  const agent = await getAgent(deps.table, orgId, args.agentId);
  return { agentId: agent.id, own: agent.config, workflow: agent.workflow };
};

/** The parent as its row shows it now: what was read at the claim is behind the children that this very step started. */
const freshParent = async ({ deps, lease, execution }: ParentTurn): Promise<Execution> => {
  const row = await getExecution(deps.table, execution);
  if (!holds(row, lease.owner, execution.seq, deps.clock.now())) throw new LeaseLost('The lease was lost.');
  return row;
};

/**
 * @throws NotStarted with a sentence for the model; LeaseLost
 */
export const startChild = async (parent: ParentTurn, call: ChildCall): Promise<void> => {
  const { deps, execution, pinned, offered } = parent;
  try {
    const { agentId, own, workflow } = await origin(parent, call.args);
    for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
      const row = await freshParent(parent);
      const problem = tooMany(row);
      if (problem !== undefined) throw new NotStarted(problem);
      const made = childConfig(pinned, row, offered, own, call.args);
      if (!made.ok) throw new NotStarted(made.problem);
      const first = await firstCallOf(deps, execution.orgId, made.config);
      const budget = budgetFor(call.args, own, freeOf(row), call.toStart + 1, first);
      if (!budget.ok) throw new NotStarted(budget.problem);
      const config = { ...made.config, maxCostUsd: budget.micro / 1e6 };
      checkConfig(config, [...deps.tools.keys()]);
      if (await begun(parent, row, call, { agentId, config, workflow, budget: budget.micro })) return;
    }
  } catch (error) {
    // Not found, or a configuration or workflow that does not fit: the model is told, in the words that people read.
    if (error instanceof AppError && error.status < 500)
      throw new NotStarted(`The run was not started: ${error.message}`);
    throw error;
  }
  throw new Error('The parent moved each time a child was to be started.');
};

/**
 * What the first model call of such a run can cost at most, whichever of its models answers, micro-dollars; 0 where the
 * price is unknown. A workflow's own words are not counted: where they are long, the run itself finds its budget too small.
 */
const firstCallOf = async (deps: StepDeps, orgId: string, entries: ConfigEntries): Promise<number> => {
  const { config } = parseConfig(entries);
  const models = await resolveAll(deps, orgId, config);
  const tools = [...offeredTools(deps.tools, { tools: config.tools && [...config.tools] }).values()].map(toolSpec);
  const said = { messages: firstPrompt(config, deps.clock.now()), tools, maxReplyTokens: config.maxReplyTokens };
  return Math.max(dearest(config, models), ...models.map((model) => worstOf({ model, ...said })));
};

interface Plan {
  readonly agentId: string;
  readonly config: ConfigEntries;
  readonly workflow: string | undefined;
  readonly budget: number;
}

/** @returns false when the parent's row moved meanwhile */
const begun = async ({ deps, lease }: ParentTurn, row: Execution, call: ChildCall, plan: Plan): Promise<boolean> => {
  const { orgId, executionId: parentId, seq } = row;
  const { n } = call;
  const { agentId, config, workflow, budget } = plan;
  const executionId = childIdOf(parentId, seq, n, call.saidAt);
  const rootId = row.rootId ?? parentId;
  const now = deps.clock.now();
  const isRoot = rootId === parentId;
  const roomBelow = or(missing(A.openBelow), lt(A.openBelow, MAX_OPEN_BELOW));
  const onParent: Write = {
    update: keys.execution(orgId, parentId),
    changes: [
      add(A.carved, budget),
      add(A.openChildren, 1),
      add(A.children, 1),
      ...(isRoot ? [add(A.openBelow, 1)] : []),
    ],
    if: and(
      stillHeld(lease.owner, row, now),
      oneOf(A.status, ['RUNNING', 'PAUSED']),
      asWorkedOut(row),
      ...(isRoot ? [roomBelow] : []),
    ),
  };
  const record: Write = {
    put: childItem({ orgId, executionId: parentId }, { executionId, agentId, seq, n, budget, rootId, at: now }),
    if: missing('pk'),
  };
  const onRoot: readonly Write[] = isRoot
    ? []
    : [{ update: keys.execution(orgId, rootId), changes: [add(A.openBelow, 1)], if: roomBelow }];
  const alongside = [onParent, record, ...onRoot];
  try {
    const parent = { executionId: parentId, seq, n, rootId, depth: row.depth + 1, workflow };
    await startOnce(deps, { orgId, agentId, executionId, config, parent, alongside: () => alongside });
    return true;
  } catch (error) {
    if (!(error instanceof TransactionRefused)) throw error;
    const [refusedParent, , refusedRoot] = error.refused.slice(-alongside.length);
    const item = error.items.at(-alongside.length);
    if (refusedParent !== true && refusedRoot === true) throw new NotStarted(FULL_BELOW);
    if (refusedParent !== true || item === undefined) throw error;
    const there = readExecution(item);
    if (!holds(there, lease.owner, seq, now)) throw new LeaseLost('The lease was lost before a run was started.');
    if (isRoot && there.openBelow >= MAX_OPEN_BELOW) throw new NotStarted(FULL_BELOW);
    return false;
  }
};
