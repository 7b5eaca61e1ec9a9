/** The row of an execution as it begins. */
import { keys, owner } from '../kernel/keys.ts';
import type { Item, Value } from '../kernel/table.ts';
import { A, EXECUTION_VERSION, type Limits } from './execution.ts';
import type { Status } from './status.ts';
import { startingWith, usageTextOf } from './used.ts';

/** The call that starts a run. */
export interface ParentCall {
  readonly executionId: string;
  readonly seq: number;
  readonly n: number;
  readonly rootId: string;
  /** Of the run that is started: 1 below a run that nobody's call started. */
  readonly depth: number;
}

export interface NewExecution {
  readonly executionId: string;
  readonly orgId: string;
  readonly agentId: string;
  readonly projectId?: string | undefined;
  readonly name: string;
  readonly stepId: string;
  readonly limits: Limits;
  /** Micro-dollars one step can cost at most; 0 when the price is unknown. */
  readonly worst: number;
  readonly priceUnknown: boolean;
  readonly windowTokens: number;
  /** The model it begins with; missing while none is configured. */
  readonly model?: string | undefined;
  /** Of the schedule that started it. */
  readonly scheduleId?: string | undefined;
  readonly parent?: ParentCall | undefined;
  readonly ticket?: TicketRun | undefined;
  /** Messages that are there from the start: all of them, and those that wake. */
  readonly inputs?: { readonly all: number; readonly waking: number } | undefined;
}

/** What makes a run a worker's. */
export interface TicketRun {
  readonly id: string;
  /** It stands between its turns from the start: nobody has a place for it yet. */
  readonly parked: boolean;
  readonly tainted: boolean;
  /** Its place is lent for so many steps. */
  readonly lentSteps?: number | undefined;
}

/** The row of an execution that starts now. */
export const newExecutionItem = (given: NewExecution, now: number, mark: { duePk: string; dueSk: string }): Item => {
  const parked = given.ticket?.parked === true;
  const attributes: { [attribute: string]: Value | undefined } = {
    [A.version]: EXECUTION_VERSION,
    [A.executionId]: given.executionId,
    [A.orgId]: given.orgId,
    [A.agentId]: given.agentId,
    [A.projectId]: given.projectId,
    [A.name]: given.name,
    [A.status]: parked ? ('WAITING_FOR_INPUT' satisfies Status) : ('RUNNING' satisfies Status),
    [A.seq]: 1,
    [A.phase]: 'think',
    [A.stepId]: given.stepId,
    [A.worst]: given.worst,
    [A.priceUnknown]: given.priceUnknown ? true : undefined,
    [A.maxIterations]: given.limits.maxIterations,
    [A.maxSteps]: given.limits.maxSteps,
    [A.maxTokens]: given.limits.maxTokens,
    [A.maxCost]: given.limits.maxCost,
    [A.maxSeconds]: given.limits.maxSeconds,
    // Written out, because guards compare them.
    [A.inputs]: given.inputs?.all ?? 0,
    [A.wakingInputs]: given.inputs?.waking ?? 0,
    [A.windowFrom]: 0,
    [A.windowTokens]: given.windowTokens,
    [A.runningSince]: parked ? undefined : now,
    [A.created]: now,
    [A.updated]: now,
    [A.since]: now,
    // The start is the first of them.
    [A.changes]: 1,
    [A.scheduleId]: given.scheduleId,
    [A.parentId]: given.parent?.executionId,
    [A.parentSeq]: given.parent?.seq,
    [A.parentN]: given.parent?.n,
    [A.rootId]: given.parent?.rootId,
    [A.depth]: given.parent?.depth,
    [A.ticketId]: given.ticket?.id,
    [A.parked]: parked ? 'over' : undefined,
    // The first step is number 1.
    [A.turnUntil]: given.ticket?.lentSteps,
    [A.tainted]: given.ticket?.tainted === true ? true : undefined,
    [A.usage]: given.model === undefined ? undefined : usageTextOf(startingWith(given.model)),
    ownerPk: owner.executions(given.orgId),
    ownerSk: given.executionId,
    ...(parked ? {} : mark),
  };
  const present = Object.entries(attributes).filter((entry): entry is [string, Value] => entry[1] !== undefined);
  return { ...keys.execution(given.orgId, given.executionId), ...Object.fromEntries(present) };
};
