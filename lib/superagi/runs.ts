/** Runs of an agent: start, look, pause, resume. */
import type { ConfigEntries } from '../agent/config-keys.ts';
import { type Status, transition } from '../execution/status.ts';
import { AppError, conflict, notFound } from '../kernel/errors.ts';
import type { Table } from '../kernel/table.ts';
import type { Alongside } from '../tenancy/alongside.ts';
import type { Listed, PageRequest } from '../tenancy/list-rows.ts';
import { agentNamed, runsNumbered } from './find.ts';
import { numbersOf, numberWrites, reserveNumbers } from './integer-ids.ts';
import { type RunStatus, runStatusOf, statusNamed } from './names.ts';
import { liveSchedule } from './schedule.ts';

interface Run {
  readonly id: string;
  readonly agentId: string;
  readonly status: Status;
}

interface RunAt {
  readonly orgId: string;
  readonly executionId: string;
}

/** What is done with executions. Each is of one organisation: another one's id is a 404. */
export interface Runs {
  start(given: {
    readonly orgId: string;
    readonly agentId: string;
    readonly actor: string;
    readonly name?: string | undefined;
    readonly config: ConfigEntries;
    readonly alongside: Alongside<Run>;
  }): Promise<Run>;
  get(at: RunAt): Promise<Run>;
  list(orgId: string, filter: { readonly agentId: string }, page: PageRequest): Promise<Listed<Run>>;
  pause(at: RunAt, actor: string): Promise<unknown>;
  resume(at: RunAt, actor: string): Promise<unknown>;
}

export interface RunDeps {
  readonly table: Table;
  readonly executions: Runs;
}

export interface OfAgent {
  readonly orgId: string;
  /** Id of the key. */
  readonly actor: string;
  /** Its number, or its id. */
  readonly agent: string;
}

export interface StartRun extends OfAgent {
  readonly name?: string | null | undefined;
  readonly goal?: readonly string[] | null | undefined;
  readonly instruction?: readonly string[] | null | undefined;
  /** Gets the answer. */
  readonly alongside?: Alongside<{ readonly run_id: number }> | undefined;
}

/** A list without entries says nothing, and the agent's own stands. */
const overrides = ({ goal, instruction }: StartRun): ConfigEntries => ({
  ...(goal && goal.length > 0 && { goals: goal }),
  ...(instruction && instruction.length > 0 && { instructions: instruction }),
});

/**
 * Starts a run, with its number in the same transaction.
 * @returns its number
 * @throws AppError 404 for the agent; 409 while the agent's schedule starts its runs
 */
export const startNumberedRun = async (deps: RunDeps, given: StartRun): Promise<number> => {
  const { orgId, actor } = given;
  const { id: agentId } = await agentNamed(deps.table, orgId, given.agent);
  if ((await liveSchedule(deps.table, orgId, agentId))?.state === 'ACTIVE') {
    const message = 'The agent is scheduled: its runs begin by themselves until the schedule has ended.';
    throw conflict('agent_scheduled', message);
  }
  const number = await reserveNumbers(deps.table, orgId, 'exe', 1);
  await deps.executions.start({
    orgId,
    agentId,
    actor,
    name: given.name?.trim() || undefined,
    config: overrides(given),
    alongside: ({ id }) => [...numberWrites(orgId, id, number), ...(given.alongside?.({ run_id: number }) ?? [])],
  });
  return number;
};

const PAGE = 1_000;
/** Newest first; beyond that an answer would take longer than a request may. */
const MOST_RUNS = 10_000;
const AT_ONCE = 10;

const eachOf = async <T, U>(all: readonly T[], act: (one: T) => Promise<U>): Promise<U[]> => {
  const results: U[] = [];
  for (let at = 0; at < all.length; at += AT_ONCE) {
    results.push(...(await Promise.all(all.slice(at, at + AT_ONCE).map(act))));
  }
  return results;
};

const allRuns = async (deps: RunDeps, orgId: string, agentId: string): Promise<Run[]> => {
  const runs: Run[] = [];
  let start: string | undefined;
  do {
    const page = await deps.executions.list(orgId, { agentId }, { limit: PAGE, start });
    runs.push(...page.items);
    start = page.next;
  } while (start !== undefined && runs.length < MOST_RUNS);
  return runs;
};

/** Those that are named, or all of the agent. @throws AppError 404 for one that is not this agent's */
const runsOf = async (
  deps: RunDeps,
  orgId: string,
  agentId: string,
  numbers: readonly number[] | null | undefined,
): Promise<readonly Run[]> => {
  if (numbers == null) return allRuns(deps, orgId, agentId);
  const named = await runsNumbered(deps.table, orgId, numbers);
  return eachOf(named, async ({ number, executionId }) => {
    const run = await deps.executions.get({ orgId, executionId });
    if (run.agentId !== agentId) throw notFound(`run of this agent: ${number}`);
    return run;
  });
};

export interface RunFilter extends OfAgent {
  readonly runIds?: readonly number[] | null | undefined;
  /** In either case. */
  readonly status?: string | null | undefined;
}

/**
 * How runs stand, by number. Runs that have no number yet get one, whoever started them.
 * @throws AppError 404 for the agent or a run; 400 for a state that there is not
 */
export const runStatuses = async (
  deps: RunDeps,
  { orgId, agent, runIds, status }: RunFilter,
): Promise<readonly { readonly run_id: number; readonly status: RunStatus }[]> => {
  const wanted = status == null ? undefined : statusNamed(status);
  const { id: agentId } = await agentNamed(deps.table, orgId, agent);
  const runs = (await runsOf(deps, orgId, agentId, runIds)).filter(
    (run) => wanted === undefined || runStatusOf(run.status) === wanted,
  );
  // Ids sort by time: an older run gets a lower number where both have none.
  const inOrder = runs.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const ids = inOrder.map(({ id }) => id);
  const numbers = await numbersOf(deps.table, orgId, 'exe', ids);
  return inOrder
    .map(({ status: now }, at) => ({ run_id: numbers[at] ?? 0, status: runStatusOf(now) }))
    .toSorted((a, b) => a.run_id - b.run_id);
};

export interface SteerRuns extends OfAgent {
  /** Without it all of the agent that it fits. */
  readonly runIds?: readonly number[] | null | undefined;
}

const steer = async (deps: RunDeps, verb: 'pause' | 'resume', fits: (run: Run) => boolean, given: SteerRuns) => {
  const { orgId, actor, agent, runIds } = given;
  const { id: agentId } = await agentNamed(deps.table, orgId, agent);
  const runs = (await runsOf(deps, orgId, agentId, runIds)).filter(fits);
  const refusals = await eachOf(runs, async ({ id: executionId }) => {
    try {
      await deps.executions[verb]({ orgId, executionId }, actor);
      return undefined;
    } catch (error) {
      // It moved meanwhile: it has ended, or somebody else did the same.
      if (error instanceof AppError && error.code === 'illegal_transition') return undefined;
      if (error instanceof AppError && error.status === 409) return error;
      throw error;
    }
  });
  // One that cannot does not keep the others from it.
  const refused = refusals.find((error) => error !== undefined);
  if (refused !== undefined) throw refused;
};

/**
 * Pauses what can be paused: running, or waiting for something. What is paused or has ended is left alone.
 * @throws AppError 404 for the agent or a run
 */
export const pauseRuns = (deps: RunDeps, given: SteerRuns): Promise<void> =>
  steer(deps, 'pause', ({ status }) => transition(status, 'pause') !== undefined, given);

/**
 * Resumes what is paused; one that is named also where a limit or an error has stopped it. What runs or has ended is left
 * alone.
 * @throws AppError 404 for the agent or a run; 409 where the limit has not been raised
 */
export const resumeRuns = (deps: RunDeps, given: SteerRuns): Promise<void> =>
  steer(
    deps,
    'resume',
    ({ status }) => (given.runIds == null ? status === 'PAUSED' : transition(status, 'resume') !== undefined),
    given,
  );
